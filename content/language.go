package content

import (
	"strings"

	"golang.org/x/net/html"
)

// language is the language of a page: what it declares, or what its header does.
func language(p Page, declared string, _ *html.Node) string {
	for _, l := range [...]string{declared, p.Language} {
		l, _, _ = strings.Cut(l, ",")
		if l = strings.TrimSpace(strings.ReplaceAll(l, "_", "-")); l != "" {
			return l
		}
	}
	return ""
}
