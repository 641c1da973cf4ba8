package read

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"time"
	"unicode"
)

// file is the content of the file of a page: Markdown has what is known of the page in front.
func (p *Page) file() []byte {
	if p.Text != "" || p.Markdown == "" {
		return []byte(p.Text)
	}
	return []byte(p.front() + p.Markdown)
}

// front is the metadata of the page, as YAML that begins a file of Markdown.
func (p *Page) front() string {
	var b strings.Builder
	b.WriteString("---\n")
	for _, field := range []struct{ name, value string }{
		{"title", p.Title}, {"url", p.URL}, {"author", p.Author}, {"site", p.Site}, {"description", p.Description}, {"language", p.Language},
	} {
		if field.value != "" {
			fmt.Fprintf(&b, "%s: %s\n", field.name, quoted(field.value))
		}
	}
	for _, field := range []struct {
		name  string
		value *time.Time
	}{{"date", p.Date}, {"modified", p.Modified}} {
		if field.value != nil {
			fmt.Fprintf(&b, "%s: %s\n", field.name, field.value.Format(time.RFC3339))
		}
	}
	b.WriteString("---\n\n")
	return b.String()
}

// quoted writes a text as JSON does, which YAML 1.2 reads as it is. All that is not printable is
// escaped.
func quoted(s string) string {
	var plain bytes.Buffer
	enc := json.NewEncoder(&plain)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(s) // a string can be written
	var b strings.Builder
	for _, r := range strings.TrimSuffix(plain.String(), "\n") {
		switch {
		case unicode.IsPrint(r):
			b.WriteRune(r)
		case r > 0xFFFF:
			fmt.Fprintf(&b, `\U%08x`, r)
		default:
			fmt.Fprintf(&b, `\u%04x`, r)
		}
	}
	return b.String()
}
