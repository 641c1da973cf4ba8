package diff

import (
	"bufio"
	"fmt"
	"io"
	"strings"
	"unicode"

	"github.com/dustin/go-humanize"
	"github.com/dustin/go-humanize/english"
)

// writeMarkdown writes a report as GitHub and others show it. What comes from the Web is text.
func writeMarkdown(to io.Writer, r *Report, style Style) error {
	w := bufio.NewWriter(to)
	s := &r.Summary
	fmt.Fprintf(w, "# %s\n\n%s\n", markdownText(s.sides()), markdownText(s.inWords()))
	for _, section := range sections {
		all := s.countOf(section.kind)
		if all == 0 {
			continue
		}
		fmt.Fprintf(w, "\n## %s (%s)\n\n", section.head, humanize.Comma(int64(all)))
		n := 0
		for c, err := range r.changesOf(section.kind) {
			if err != nil {
				return err
			}
			if n++; style.Limit > 0 && n > style.Limit {
				fmt.Fprintf(w, "- … %s more\n", humanize.Comma(int64(all-style.Limit)))
				break
			}
			markdownChange(w, c)
		}
	}
	for _, note := range s.notes() {
		fmt.Fprintf(w, "\n%s\n", markdownText(note))
	}
	return w.Flush()
}

func markdownChange(w *bufio.Writer, c *Change) {
	switch c.Kind {
	case Shared:
		fmt.Fprintf(w, "- %s of %s, such as %s\n", english.Plural(c.Pages, "page", ""), markdownText(c.URL), markdownURL(c.Examples[:min(1, len(c.Examples))]...))
	case Moved:
		fmt.Fprintf(w, "- %s → %s: %s\n", markdownURL(c.From), markdownURL(c.URL), markdownText(c.Reason))
	default:
		fmt.Fprintf(w, "- %s", markdownURL(c.URL))
		if said := firstOf(c.Reason, c.Title); said != "" {
			fmt.Fprintf(w, ": %s", markdownText(said))
		}
		fmt.Fprintln(w)
	}
	for i := range c.Details {
		d := &c.Details[i]
		fmt.Fprintf(w, "  - %s: ", markdownText(d.label()))
		switch {
		case d.Words != nil:
			for i, word := range d.Words {
				if i > 0 {
					w.WriteByte(' ')
				}
				text := markdownText(word.Text)
				switch word.Op {
				case Same:
					text = markdownText(around(word.Text, i > 0, i < len(d.Words)-1))
				case Removed:
					text = "~~" + text + "~~"
				case Added:
					text = "**" + text + "**"
				}
				w.WriteString(text)
			}
		case d.Old == "":
			fmt.Fprintf(w, "**%s**", markdownText(shorten(d.New)))
		case d.New == "":
			fmt.Fprintf(w, "~~%s~~", markdownText(shorten(d.Old)))
		default:
			fmt.Fprintf(w, "~~%s~~ **%s**", markdownText(shorten(d.Old)), markdownText(shorten(d.New)))
		}
		fmt.Fprintln(w)
	}
	if c.More > 0 {
		fmt.Fprintf(w, "  - … %s more\n", humanize.Comma(int64(c.More)))
	}
}

func firstOf(texts ...string) string {
	for _, text := range texts {
		if text != "" {
			return text
		}
	}
	return ""
}

// markdownText is a text in which nothing is markup: each sign of ASCII has a backslash in front
// (CommonMark, section 2.4), and what controls a terminal is gone.
func markdownText(s string) string {
	var b strings.Builder
	for _, r := range oneLine(s) {
		switch {
		case r < 0x80 && strings.ContainsRune("\\`*_{}[]<>()#+-.!|~&@:\"'$^=", r):
			b.WriteByte('\\')
			b.WriteRune(r)
		case unicode.IsPrint(r):
			b.WriteRune(r)
		default:
			b.WriteRune('\uFFFD')
		}
	}
	return b.String()
}

// markdownURL is a link to a URL of the report.
func markdownURL(urls ...string) string {
	var all []string
	for _, url := range urls {
		if href(url) == "" || strings.ContainsAny(url, "<>\\ \t\r\n") || len(url) > MaxText {
			all = append(all, markdownText(url))
			continue
		}
		all = append(all, "<"+url+">")
	}
	return strings.Join(all, ", ")
}
