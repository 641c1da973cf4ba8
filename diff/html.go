package diff

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"fmt"
	"html/template"
	"io"
	"iter"
	"strings"
)

//go:embed report.html report.css
var reportFiles embed.FS

// mostInHTML bounds the changes of each kind on a page: a browser has to show them all.
const mostInHTML = 5000

// templates makes HTML, in which everything from the Web is text. Nothing is run.
func templates() (*template.Template, error) {
	return template.New("").Funcs(template.FuncMap{
		"href":  href,
		"label": func(d Detail) string { return d.label() },
	}).ParseFS(reportFiles, "report.html")
}

// href returns a URL if a link may lead there, else "".
func href(url string) template.URL {
	for _, scheme := range []string{"http://", "https://"} {
		if len(url) > len(scheme) && strings.EqualFold(url[:len(scheme)], scheme) {
			return template.URL(url) // an attribute still escapes it
		}
	}
	return ""
}

// htmlReport is the data of a page.
type htmlReport struct {
	*Report
	Policy, Sides, Words string
	CSS                  template.CSS
	Notes                []string

	limit int
	err   error // of reading the changes
}

// htmlSection is the changes of a kind.
type htmlSection struct {
	Head        string
	Count, Left int
	Changes     iter.Seq[*Change]
}

// Sections yields the kinds that have changes.
func (v *htmlReport) Sections() (all []*htmlSection) {
	for _, section := range sections {
		n := v.Summary.countOf(section.kind)
		if n == 0 {
			continue
		}
		all = append(all, &htmlSection{section.head, n, max(0, n-v.limit), func(yield func(*Change) bool) {
			shown := 0
			for c, err := range v.changesOf(section.kind) {
				if err != nil {
					v.err = err
					return
				}
				if shown++; shown > v.limit || !yield(c) {
					return
				}
			}
		}})
	}
	return all
}

// writeHTML writes a page that needs nothing else and runs nothing: its Content-Security-Policy
// allows its own style, by its hash, and no request.
func writeHTML(to io.Writer, r *Report, style Style) error {
	t, err := templates()
	if err != nil {
		return err
	}
	css, _ := reportFiles.ReadFile("report.css") // embedded
	sum := sha256.Sum256(css)
	v := &htmlReport{Report: r, Sides: r.Summary.sides(), Words: r.Summary.inWords(), CSS: template.CSS(css), Notes: r.Summary.notes(), limit: mostInHTML}
	if style.Limit > 0 {
		v.limit = style.Limit
	}
	v.Policy = fmt.Sprintf("default-src 'none'; style-src 'sha256-%s'; base-uri 'none'; form-action 'none'", base64.StdEncoding.EncodeToString(sum[:]))
	out := bufio.NewWriter(to)
	if err := t.ExecuteTemplate(out, "report", v); err != nil {
		return err
	}
	if v.err != nil {
		return v.err
	}
	return out.Flush()
}

// htmlOf returns a change as a part of a page.
func htmlOf(t *template.Template, c *Change) (string, error) {
	var b bytes.Buffer
	err := t.ExecuteTemplate(&b, "change", c)
	return b.String(), err
}
