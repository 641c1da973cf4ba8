package check_test

import (
	"fmt"
	"io"
	"log"
	"net"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/weftcrawl/weft"
	"github.com/weftcrawl/weft/check"
	"github.com/weftcrawl/weft/internal/webtest"
)

// TestFaults: of a site with every kind of fault, each is reported once, at its line and column,
// and nothing else is.
func TestFaults(t *testing.T) {
	t.Parallel() // it waits for a timeout
	plain, tls := httptest.NewUnstartedServer(nil), httptest.NewUnstartedServer(nil)
	for _, s := range []*httptest.Server{plain, tls} {
		s.Config.ErrorLog = log.New(io.Discard, "", 0)
		defer s.Close()
	}
	plain.Start()
	tls.StartTLS()
	silent, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	refused := httptest.NewServer(nil)
	refused.Close()
	site := &webtest.LinkFaults{
		Refused: refused.URL, Silent: "http://" + silent.Addr().String(),
		BadTLS: tls.URL, NoTLS: strings.Replace(plain.URL, "http:", "https:", 1),
	}
	var want []string
	for _, f := range site.All() {
		want = append(want, fmt.Sprintf("%s %s:%d:%d", f.Rule, f.Page, f.Line, f.Column))
	}
	if len(want) < 60 {
		t.Fatalf("%d faults, expected 60", len(want))
	}
	s := httptest.NewServer(site)
	defer s.Close()
	r, err := check.Site(t.Context(), check.SiteOptions{
		Crawl: weft.Options{Seeds: []string{s.URL}, Pace: weft.Pace{Retries: -1, PerHost: 16}, HTTP: weft.HTTP{FirstByteTimeout: 2 * time.Second}},
	})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	var got []string
	for f, err := range r.Findings() {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, fmt.Sprintf("%s %s:%d:%d", f.Rule, strings.TrimPrefix(f.Page, s.URL), f.Line, f.Column))
	}
	slices.Sort(want)
	slices.Sort(got)
	for _, w := range want {
		if !slices.Contains(got, w) {
			t.Errorf("not found: %s", w)
		}
	}
	for i, g := range got {
		if !slices.Contains(want, g) {
			t.Errorf("no fault: %s", g)
		}
		if i > 0 && got[i-1] == g {
			t.Errorf("twice: %s", g)
		}
	}
	t.Logf("%d faults, %+v", len(want), r.Totals)
}
