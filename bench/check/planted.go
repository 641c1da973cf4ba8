//go:build linux

package main

import (
	"bytes"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/weftcrawl/weft/internal/webtest"
)

// planted writes which of the planted faults each checker reports.
func planted(b *bytes.Buffer, all []checker, runs int, most time.Duration) error {
	site, url, stop, err := servePlanted()
	if err != nil {
		return err
	}
	defer stop()
	faults := site.All()
	found := make([]map[string]bool, len(all)) // kinds, in any of the runs
	alarms := make([]map[string]bool, len(all))
	for i, c := range all {
		if !c.installed() {
			continue
		}
		found[i], alarms[i] = make(map[string]bool), make(map[string]bool)
		for range runs {
			_, reports, err := c.run(url+"/", c.beyond, most)
			if err != nil {
				return fmt.Errorf("%s: %w", c.name, err)
			}
			for _, r := range reports {
				sort(r, url, faults, found[i], alarms[i])
			}
		}
	}
	writePlanted(b, all, faults, found, alarms)
	return nil
}

// servePlanted serves the faults, and the sites that they need.
func servePlanted() (site *webtest.LinkFaults, url string, stop func(), err error) {
	silent, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, "", nil, err
	}
	site = &webtest.LinkFaults{}
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set(linkcheckerField, "yes")
		site.ServeHTTP(w, r)
	}))
	plain, tls := httptest.NewUnstartedServer(http.NotFoundHandler()), httptest.NewUnstartedServer(http.NotFoundHandler())
	for _, s := range []*httptest.Server{server, plain, tls} {
		s.Config.ErrorLog = log.New(io.Discard, "", 0) // of handshakes that fail
	}
	server.Start()
	plain.Start()
	tls.StartTLS()
	refused := httptest.NewServer(nil)
	refused.Close()
	site.Refused, site.Silent = refused.URL, "http://"+silent.Addr().String()
	site.BadTLS, site.NoTLS = tls.URL, strings.Replace(plain.URL, "http:", "https:", 1)
	return site, server.URL, func() {
		for _, s := range []*httptest.Server{server, plain, tls} {
			s.Close()
		}
		silent.Close()
	}, nil
}

// sort puts a report with the fault that it means, or with the false alarms. Whatever is said of
// the faulty link, or of another than the sound one on its page, means the fault.
func sort(r report, site string, faults []webtest.LinkFault, found, alarms map[string]bool) {
	page := strings.TrimPrefix(r.page, site)
	link := strings.TrimPrefix(r.url, site)
	sound := strings.HasPrefix(strings.TrimSpace(link), "/ok/")
	for _, f := range faults {
		if sameLink(link, f) || page == f.Page && !sound {
			found[f.Kind] = true
			return
		}
	}
	if sound || page == "/sound" && !strings.HasPrefix(link, "mailto:") {
		alarms[page+" "+link] = true
	}
}

// sameLink reports whether a link is the faulty one, which no other page has, unless it is a
// fragment of its own page.
func sameLink(link string, f webtest.LinkFault) bool {
	plain := func(s string) string {
		if u, err := url.PathUnescape(s); err == nil {
			return u
		}
		return s
	}
	return f.Link[0] != '#' && plain(link) == plain(f.Link)
}

func writePlanted(b *bytes.Buffer, all []checker, faults []webtest.LinkFault, found, alarms []map[string]bool) {
	fmt.Fprintf(b, `
## Planted faults

A site of internal/webtest has %d faults of as many kinds, each on a page of its own, beside a
sound link of the same kind. A fault counts as reported if the output of a run names its link, or
its page with a link that is not the sound one, as an error, a warning or a note. The runs check
links to other sites, with a timeout of 5 s, and linkchecker's file has AnchorCheck. The faults are
those of Weft's own tests, which it passes by definition; the other columns say what those who
change from there gain.

| group | planted |`, len(faults))
	for _, c := range all {
		fmt.Fprintf(b, " %s |", c.name)
	}
	b.WriteString("\n|---|---|" + strings.Repeat("---|", len(all)) + "\n")
	kinds := func(group string, of map[string]bool, is bool) (names []string) {
		for _, f := range faults {
			if (group == "" || f.Group == group) && of[f.Kind] == is {
				names = append(names, f.Kind)
			}
		}
		return names
	}
	for _, group := range append(slices.Clone(webtest.FaultGroups), "") {
		name := group
		if group == "" {
			name = "all"
		}
		fmt.Fprintf(b, "| %s | %d |", name, len(kinds(group, nil, false)))
		for i := range all {
			fmt.Fprintf(b, " %d |", len(kinds(group, found[i], true)))
		}
		b.WriteString("\n")
	}
	b.WriteString("| sound links reported | |")
	for i := range all {
		fmt.Fprintf(b, " %d |", len(alarms[i]))
	}
	b.WriteString(`

Sound links are the twins of the faults, and a page of links that look wrong and are not. Mail
addresses do not count there: linkchecker looks their domains up, and those of a test do not exist.
Two that linkinator reports are temporary redirects, which ` + "`--redirects error`" + ` asks for; without it,
it reports no redirect that leads to a page.

weft check reports a note where the response does not say what a reader would get: 401, 403, 451,
999, a bot wall, robots.txt, a timeout, a connection that is cut. The others report these as errors,
if at all.

Not reported:

`)
	for i, c := range all {
		missed := kinds("", found[i], false)
		if found[i] == nil || len(missed) == 0 {
			continue
		}
		writeItem(b, fmt.Sprintf("%s: %s.", c.name, strings.Join(missed, ", ")))
	}
}

// writeItem writes an item of a list in lines of at most 100 columns.
func writeItem(b *bytes.Buffer, text string) {
	line := "-"
	for word := range strings.FieldsSeq(text) {
		if len(line)+1+len(word) > 100 {
			b.WriteString(line + "\n")
			line = " "
		}
		line += " " + word
	}
	b.WriteString(line + "\n")
}
