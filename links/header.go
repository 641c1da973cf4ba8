package links

import (
	"iter"
	"strings"

	"github.com/weftcrawl/weft/weburl"
)

// ows is optional white space in a header field: RFC 9110, section 5.6.3.
const ows = " \t"

// Header yields the links in the Link fields (RFC 8288) of a response at the URL base, given
// the values of the fields, until yield returns false. Tag is "header", Attr is "link". A link
// whose anchor parameter says that it leads from somewhere else does not count.
func Header(base weburl.URL, values []string, yield func(Link) bool) {
	for _, value := range values {
		for l := range fieldLinks(weburl.EscapeInvalid(value)) {
			if link, ok := l.from(base); ok && !yield(link) {
				return
			}
		}
	}
}

// A fieldLink is one element of a Link field. If a parameter occurs twice, the first counts.
type fieldLink struct {
	target, rel, anchor, typ   string
	hasRel, hasAnchor, hasType bool
}

// from returns the link if it leads from the page at base to http or https.
func (l fieldLink) from(base weburl.URL) (Link, bool) {
	if l.target == "" || len(l.target) > maxValue {
		return Link{}, false
	}
	if l.hasAnchor { // a fragment of the page is the page
		context, err := base.Resolve(l.anchor)
		if err != nil || context.Canonical() != base.Canonical() {
			return Link{}, false
		}
	}
	u, err := base.Resolve(l.target)
	if err != nil || !u.IsHTTP() {
		return Link{}, false
	}
	rel := []byte(l.rel)
	return Link{
		Raw: l.target, URL: u, Tag: "header", Attr: "link", Rel: l.rel, Kind: kindOfRel(rel, []byte(l.typ)), NoFollow: hasWord(rel, "nofollow"),
	}, true
}

// RefreshHeader yields the links in the Refresh fields of a response at the URL base: the field
// means what <meta http-equiv=refresh> does. Tag is "header", Attr is "refresh".
func RefreshHeader(base weburl.URL, values []string, yield func(Link) bool) {
	for _, value := range values {
		target, ok := refresh([]byte(weburl.EscapeInvalid(value)))
		if !ok || len(target) == 0 || len(target) > maxValue {
			continue
		}
		raw := string(target)
		if u, err := base.Resolve(raw); err == nil && u.IsHTTP() {
			if !yield(Link{Raw: raw, URL: u, Tag: "header", Attr: "refresh", Kind: KindRedirect}) {
				return
			}
		}
	}
}

// fieldLinks yields the elements of a field as appendix B of RFC 8288 reads them, except that an
// element without '<' is skipped and does not end the field.
func fieldLinks(s string) iter.Seq[fieldLink] {
	return func(yield func(fieldLink) bool) {
		for s != "" {
			var l fieldLink
			if rest, ok := strings.CutPrefix(strings.TrimLeft(s, ows), "<"); ok {
				target, params, closed := strings.Cut(rest, ">")
				if !closed {
					return
				}
				l.target = strings.Trim(target, " \t\n\f\r")
				s = l.readParams(params)
			}
			s = afterComma(s)
			if !yield(l) {
				return
			}
		}
	}
}

// readParams reads the parameters that s begins with and returns the rest.
func (l *fieldLink) readParams(s string) string {
	for {
		s = strings.TrimLeft(s, ows)
		if !strings.HasPrefix(s, ";") {
			return s
		}
		s = strings.TrimLeft(s, ";"+ows)
		name := upTo(s, "=;,"+ows)
		s = strings.TrimLeft(s[len(name):], ows)
		value := ""
		if rest, ok := strings.CutPrefix(s, "="); ok {
			value, s = paramValue(strings.TrimLeft(rest, ows))
		}
		switch strings.ToLower(name) {
		case "rel":
			if !l.hasRel {
				l.rel, l.hasRel = strings.Trim(value, " \t\n\f\r"), true
			}
		case "type":
			if !l.hasType {
				l.typ, l.hasType = value, true
			}
		case "anchor":
			if !l.hasAnchor {
				l.anchor, l.hasAnchor = value, true
			}
		}
	}
}

// paramValue reads a quoted string or a token and returns it with the rest.
func paramValue(s string) (value, rest string) {
	if !strings.HasPrefix(s, `"`) {
		value = upTo(s, ";,")
		return strings.TrimRight(value, ows), s[len(value):]
	}
	end := quotedEnd(s)
	var b strings.Builder
	for i := 1; i < end && s[i] != '"'; i++ {
		if s[i] == '\\' && i+1 < end {
			i++
		}
		b.WriteByte(s[i])
	}
	return b.String(), s[end:]
}

// quotedEnd returns the length of the quoted string that s begins with, quotes included. An
// unclosed one extends to the end.
func quotedEnd(s string) int {
	for i := 1; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return len(s)
}

// afterComma returns the text after the first comma outside quoted strings.
func afterComma(s string) string {
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case ',':
			return s[i+1:]
		case '"':
			i += quotedEnd(s[i:]) - 1
		}
	}
	return ""
}

// upTo returns the part of s before the first byte of stops.
func upTo(s, stops string) string {
	if end := strings.IndexAny(s, stops); end >= 0 {
		return s[:end]
	}
	return s
}
