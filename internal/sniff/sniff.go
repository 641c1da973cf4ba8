package sniff

import (
	"bytes"
	"encoding/json"
	"strings"

	"github.com/weftcrawl/weft/internal/markup"
)

// headerLength is the part of a body that is read: the standard's "resource header".
const headerLength = 1445

// Types that decide how a body is read.
const (
	typeHTML   = "text/html"
	typeXML    = "text/xml"
	typeText   = "text/plain"
	typeBinary = "application/octet-stream"
	typeRSS    = "application/rss+xml"
	typeAtom   = "application/atom+xml"
	typeJSON   = "application/json"
	typeFeed   = "application/feed+json"
)

// Type returns the media type that a body has, if it is not that of its Content-Type; else "". With
// nosniff as its X-Content-Type-Options, a type is believed, and a body without one is neither HTML
// nor XML nor PDF: types that may run scripts. An empty body has no type. See section 7 of the
// standard.
func Type(contentType, typeOptions string, body []byte) string {
	if len(body) == 0 {
		return ""
	}
	noSniff := markup.EqualFold(typeOptions, "nosniff")
	given, _, _ := strings.Cut(contentType, ";")
	given = strings.TrimSpace(given)
	head := body[:min(len(body), headerLength)]
	switch {
	case saysNothing(given):
		return unknown(head, !noSniff)
	case strings.EqualFold(given, typeJSON): // which a JSON Feed is, too, whatever nosniff says
		return jsonFeedIn(head)
	case noSniff:
		return ""
	case isApacheDefault(contentType):
		if found := textOrBinary(head); found != typeText {
			return found
		}
	case strings.EqualFold(given, typeHTML):
		return feedIn(head)
	}
	return ""
}

// jsonFeedIn returns the type of JSON Feed if the object that begins so is one by its version: see
// https://www.jsonfeed.org/version/1.1/. The standard has no such rule; version 1 had no type of
// its own.
func jsonFeedIn(head []byte) string {
	dec := json.NewDecoder(bytes.NewReader(bytes.TrimPrefix(head, []byte("\xef\xbb\xbf"))))
	depth, name := 0, "" // of the object at depth 1, while its value is next
	for {
		token, err := dec.Token()
		if err != nil {
			return ""
		}
		text, isText := token.(string)
		switch token {
		case json.Delim('{'), json.Delim('['):
			if depth == 0 && token == json.Delim('[') {
				return ""
			}
			depth++
			continue
		case json.Delim('}'), json.Delim(']'):
			depth--
			name = ""
			continue
		}
		switch {
		case depth != 1:
		case name == "version":
			if strings.HasPrefix(text, "https://jsonfeed.org/version/1") {
				return typeFeed
			}
			return ""
		case name == "" && isText:
			name = text
		default:
			name = ""
		}
	}
}

// saysNothing reports whether a media type leaves everything open: it is unknown, or no type at
// all.
func saysNothing(given string) bool {
	for _, s := range [...]string{"", "*/*", "unknown/unknown", "application/unknown"} {
		if strings.EqualFold(given, s) {
			return true
		}
	}
	typ, subtype, _ := strings.Cut(given, "/")
	return !isToken(typ) || !isToken(subtype)
}

// isToken reports whether s is a token of HTTP (RFC 9110, section 5.6.2).
func isToken(s string) bool {
	for i := range len(s) {
		if c := s[i]; !markup.IsAlphanumeric(c) && strings.IndexByte("!#$%&'*+-.^_`|~", c) < 0 {
			return false
		}
	}
	return s != ""
}

// isApacheDefault reports whether a Content-Type is one that old versions of Apache sent with
// files of any kind: the standard's "check-for-apache-bug flag", byte for byte.
func isApacheDefault(contentType string) bool {
	switch contentType {
	case "text/plain", "text/plain; charset=ISO-8859-1", "text/plain; charset=iso-8859-1", "text/plain; charset=UTF-8":
		return true
	}
	return false
}

// textOrBinary tells text from binary data: section 7.2 of the standard.
func textOrBinary(head []byte) string {
	for _, mark := range [...]string{"\xfe\xff", "\xff\xfe", "\xef\xbb\xbf"} {
		if bytes.HasPrefix(head, []byte(mark)) {
			return typeText
		}
	}
	if bytes.ContainsFunc(head, isBinary) {
		return typeBinary
	}
	return typeText
}

// isBinary reports whether text has no such byte: the standard's "binary data byte".
func isBinary(c rune) bool {
	return c <= 0x08 || c == 0x0b || 0x0e <= c && c <= 0x1a || 0x1c <= c && c <= 0x1f
}

// unknown identifies a body by its beginning: section 7.1 of the standard.
func unknown(head []byte, scriptable bool) string {
	if scriptable {
		text := head[markup.SkipSpace(head, 0):]
		for _, tag := range pageBegins {
			if len(text) > len(tag) && bytes.EqualFold(text[:len(tag)], []byte(tag)) && (text[len(tag)] == ' ' || text[len(tag)] == '>') {
				return typeHTML
			}
		}
		switch {
		case bytes.HasPrefix(text, []byte("<?xml")):
			return typeXML
		case bytes.HasPrefix(head, []byte("%PDF-")):
			return "application/pdf"
		}
	}
	for _, p := range patterns {
		if p.matches(head) {
			return p.is
		}
	}
	switch {
	case isMP4(head):
		return "video/mp4"
	case isWebM(head):
		return "video/webm"
	}
	return textOrBinary(head)
}

// feedIn returns the type of the feed that a body labelled as HTML is, "" if it is none: section
// 7.3 of the standard.
func feedIn(head []byte) string {
	head = bytes.TrimPrefix(head, []byte("\xef\xbb\xbf"))
	for {
		head = head[markup.SkipSpace(head, 0):]
		var end string
		switch {
		case bytes.HasPrefix(head, []byte("<!--")):
			head, end = head[len("<!--"):], "-->"
		case bytes.HasPrefix(head, []byte("<!")):
			end = ">"
		case bytes.HasPrefix(head, []byte("<?")):
			end = "?>"
		case bytes.HasPrefix(head, []byte("<rss")):
			return typeRSS
		case bytes.HasPrefix(head, []byte("<feed")):
			return typeAtom
		case bytes.HasPrefix(head, []byte("<rdf:RDF")) && bytes.Contains(head, []byte("http://purl.org/rss/1.0/")) &&
			bytes.Contains(head, []byte("http://www.w3.org/1999/02/22-rdf-syntax-ns#")):
			return typeRSS
		default:
			return ""
		}
		head = head[markup.After(head, 0, end):]
	}
}
