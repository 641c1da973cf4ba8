package login

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/weftcrawl/weft/internal/css"
	"github.com/weftcrawl/weft/weburl"
	"golang.org/x/net/html"
)

// sign is a mark of a page, or its URL. The zero value is no sign.
type sign struct {
	text     string // in words, as it was given
	selector *css.Selector
	contains string // text of the page
	url      string // pattern of its URL
}

// textMark begins a sign that is a text.
const textMark = "text="

// CheckSign returns why a text is no sign: a CSS selector; text= with words that the page has; or a
// URL, or the path of one, in which * stands for anything.
func CheckSign(text string) error {
	_, err := parseSign(text)
	return err
}

func parseSign(text string) (s sign, err error) {
	s.text = text
	switch {
	case text == "":
	case strings.ContainsAny(text, "\t\r\n"):
		return s, errors.New("a tab or a line break")
	case text == textMark:
		return s, errors.New("text= without a text")
	case strings.HasPrefix(text, textMark):
		s.contains = strings.TrimPrefix(text, textMark)
	case text[0] == '/' || strings.HasPrefix(text, "http://") || strings.HasPrefix(text, "https://"):
		s.url = text
	default:
		if s.selector, err = css.Parse(text); err != nil {
			return s, fmt.Errorf("%w, expected a CSS selector, text=…, or a URL or path such as /login*", err)
		}
	}
	return s, nil
}

// SignParts tells what kind of sign a text is: one of the three is not empty.
func SignParts(text string) (selector, contains, url string) {
	switch s, _ := parseSign(text); {
	case s.contains != "" || s.url != "":
		return "", s.contains, s.url
	default:
		return text, "", ""
	}
}

// MatchURL reports whether a URL fits a pattern: a URL, or the path of one with or without a query,
// in which * stands for anything.
func MatchURL(pattern string, u weburl.URL) bool {
	of := u.String()
	if pattern[0] == '/' {
		of = of[len(u.Origin()):]
		if !strings.Contains(pattern, "?") {
			of, _, _ = strings.Cut(of, "?")
		}
		if !strings.Contains(pattern, "#") {
			of, _, _ = strings.Cut(of, "#")
		}
	}
	return fits(pattern, of)
}

// fits matches a text with a pattern.
func fits(pattern, text string) bool {
	parts := strings.Split(pattern, "*")
	if len(parts) == 1 {
		return pattern == text
	}
	first, last := parts[0], parts[len(parts)-1]
	if !strings.HasPrefix(text, first) {
		return false
	}
	text = text[len(first):]
	for _, part := range parts[1 : len(parts)-1] {
		i := strings.Index(text, part)
		if i < 0 {
			return false
		}
		text = text[i+len(part):]
	}
	return strings.HasSuffix(text, last)
}

// IsLogin reports whether a URL is that of the login page. Its query often names the page to come
// back to; its fragment tells pages of an application apart.
func (s *Session) IsLogin(u weburl.URL) bool {
	s.mu.Lock()
	login := s.mu.login
	s.mu.Unlock()
	return !login.IsZero() && u.Origin() == login.Origin() && u.Path() == login.Path() && routeOf(u) == routeOf(login)
}

// routeOf is the fragment of a URL as far as it names a page: behind it, too, there may be a query.
func routeOf(u weburl.URL) string {
	f := strings.TrimPrefix(u.Fragment(), "!")
	if !strings.HasPrefix(f, "/") {
		return ""
	}
	f, _, _ = strings.Cut(f, "?")
	return f
}

// longest is the most of a page, in bytes, that is looked at for signs: a page of a login is short.
const longest = 512 << 10

// steps is the most work of a selector on a page.
const steps = 1_000_000

// LoggedOut returns the sign by which a page says that nobody is logged in, in words; "" if it does
// not. Text is its HTML in UTF-8. The login page itself says nothing: a person who is logged in may
// open it.
func (s *Session) LoggedOut(at weburl.URL, text []byte) string {
	s.mu.Lock()
	out, form := s.mu.out, s.mu.form
	s.mu.Unlock()
	if s.IsLogin(at) || !s.isFor(weburl.Site(at.Hostname())) {
		return ""
	}
	if out.url != "" && MatchURL(out.url, at) {
		return fmt.Sprintf("its URL is as %.128q", out.url)
	}
	mayHaveForm := len(form) > 0 && bytes.Contains(text, []byte("password"))
	if !mayHaveForm && out.selector == nil && out.contains == "" || len(text) > longest {
		return ""
	}
	root, err := html.Parse(bytes.NewReader(text))
	switch {
	case err != nil:
		return ""
	case out.selector != nil && has(root, out.selector):
		return fmt.Sprintf("it has %.128q", out.text)
	case out.contains != "" && strings.Contains(textOf(root), words(out.contains)):
		return fmt.Sprintf("it says %.128q", out.contains)
	case mayHaveForm && hasAll(root, form):
		return "it is the login page"
	}
	return ""
}

// RedirectsOut reports whether a redirect leads from a page to the login page.
func (s *Session) RedirectsOut(from, to weburl.URL) bool {
	return s.IsLogin(to) && !s.IsLogin(from) && s.isFor(weburl.Site(from.Hostname()))
}

// isFor reports whether a site is one of the session: that of the login page, of a cookie in its
// file, or of a store. Others may lead to the login page, and mean nothing by it.
func (s *Session) isFor(site string) bool {
	s.mu.Lock()
	sites, login, stores := s.mu.sites, s.mu.login, s.mu.about.Stores
	s.mu.Unlock()
	if sites[site] || !login.IsZero() && weburl.Site(login.Hostname()) == site {
		return true
	}
	return slices.ContainsFunc(stores, func(store Store) bool { return siteOf(store) == site })
}

// siteOf returns the site of a store; "": its origin is none.
func siteOf(store Store) string {
	origin, err := weburl.Parse(store.Origin)
	if err != nil {
		return ""
	}
	return weburl.Site(origin.Hostname())
}

func has(root *html.Node, selector *css.Selector) bool {
	w := &css.Work{Steps: steps, Scope: root}
	for n := root; n != nil; n = css.Following(n, root, true) {
		if n.Type == html.ElementNode {
			if _, ok := selector.Match(n, w); ok {
				return true
			}
		}
	}
	return false
}

// hasAll reports whether a page has all fields of a form.
func hasAll(root *html.Node, form []sign) bool {
	for _, field := range form {
		if field.selector == nil || !has(root, field.selector) {
			return false
		}
	}
	return true
}

// textOf returns the words of a page, one space apart.
func textOf(root *html.Node) string {
	var text strings.Builder
	for n, inside := root, true; n != nil; n = css.Following(n, root, inside) {
		inside = n.Type != html.ElementNode || n.Data != "script" && n.Data != "style"
		if n.Type == html.TextNode {
			text.WriteString(n.Data)
			text.WriteByte(' ')
		}
	}
	return words(text.String())
}

func words(s string) string { return strings.Join(strings.Fields(s), " ") }
