package served

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"image/png"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/weftcrawl/weft"
)

// TestFetchesRendered: with --render a page that scripts make is read as people see it, when it
// looks empty without them or on request, and has its picture taken.
func TestFetchesRendered(t *testing.T) {
	t.Parallel()
	if _, err := weft.FindBrowser(""); err != nil {
		t.Skip(err)
	}
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		switch r.URL.Path {
		case "/data":
			fmt.Fprint(w, "Made by a script")
		case "/app":
			fmt.Fprint(w, `<div id=root></div><script>fetch("/data").then(r => r.text()).then(t => { root.innerHTML = "<main><h1>" + t + "</h1><a href=/next>next</a></main>" })</script>`)
		default:
			http.NotFound(w, r)
		}
	}))
	defer web.Close()
	s := serve(t, t.TempDir(), "--allow-private", "--render")
	for ask, want := range map[string]string{
		`{"url":"WEB/app"}`: "# Made by a script", `{"url":"WEB/app","render":"no"}`: `"problems"`,
		`{"url":"WEB/app","formats":["links"]}`: "WEB/next",
	} {
		if _, text := s.send("/v1/scrape", strings.ReplaceAll(ask, "WEB", web.URL)); !strings.Contains(text, strings.ReplaceAll(want, "WEB", web.URL)) {
			t.Errorf("%s: %.800s", ask, text)
		}
	}
	var shot struct {
		Screenshot string
		Markdown   string
	}
	if status, text := s.ask("POST", "/v1/scrape", json.RawMessage(`{"url":"`+web.URL+`/app","formats":["screenshot","markdown"]}`), &shot); status != http.StatusOK || !strings.Contains(shot.Markdown, "Made by") {
		t.Fatalf("%d: %.300s", status, text)
	}
	var same struct {
		Data struct{ Screenshot, Markdown string }
	}
	if status, text := s.ask("POST", "/v2/scrape", json.RawMessage(`{"url":"`+web.URL+`/app","formats":["screenshot","markdown"]}`), &same); status != http.StatusOK || !strings.Contains(same.Data.Markdown, "Made by") {
		t.Fatalf("%d: %.300s", status, text)
	}
	ofFirecrawl, is := strings.CutPrefix(same.Data.Screenshot, "data:image/png;base64,")
	if !is {
		t.Errorf("%.100s, expected a data: URL", same.Data.Screenshot)
	}
	for _, text := range []string{shot.Screenshot, ofFirecrawl} {
		picture, err := base64.StdEncoding.DecodeString(text)
		if err != nil {
			t.Fatal(err)
		}
		if c, err := png.DecodeConfig(bytes.NewReader(picture)); err != nil || c.Width < 1000 {
			t.Errorf("%+v, %v", c, err)
		}
	}
}
