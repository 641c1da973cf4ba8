package sniff_test

import (
	"strings"
	"testing"

	"github.com/weftcrawl/weft/internal/sniff"
)

func TestType(t *testing.T) {
	for _, c := range []struct{ contentType, body, want string }{
		// Types that say nothing.
		{"", "<!DOCTYPE HTML><title>", "text/html"},
		{"*/*", " \t\r\n<p >", "text/html"},
		{"unknown/unknown; charset=utf-8", "<!-->", "text/html"},
		{"Application/Unknown", "<a >", "text/html"},
		{"html", "<H1>", "text/html"},
		{"text/", "<b>", "text/html"},
		{"text/html charset=utf-8", "<b>", "text/html"},
		{"; charset=utf-8", "<b>", "text/html"},
		{"", "<?xml version='1.0'?><rss>", "text/xml"},
		{"", "%PDF-1.7", "application/pdf"},
		{"", " %PDF-1.7", "text/plain"},
		{"", "<ab>", "text/plain"},
		{"", "<a", "text/plain"},
		{"", "<a\nhref=/>", "text/plain"},
		{"", "", ""},
		{"", "Hello <a href=/>", "text/plain"},
		{"", "\xef\xbb\xbf<html>", "text/plain"},
		{"", "\xfe\xff\x00<", "text/plain"},
		{"", "a\x00", "application/octet-stream"},
		{"", "%!PS-Adobe-3.0", "application/postscript"},
		{"", "\x89PNG\r\n\x1a\n", "image/png"},
		{"", "RIFF\x01\x02\x03\x04WEBPVP8 ", "image/webp"},
		{"", "\x00\x00\x00\x18ftypisom\x00\x00\x00\x00isommp42", "video/mp4"},
		{"", "\x00\x00\x00\x0cftypisom", "application/octet-stream"},
		{"", "\x00\x00\x00\x04ftypisom", "application/octet-stream"},
		{"", "\x1a\x45\xdf\xa3\x01\x42\x82\x84webm", "video/webm"},
		{"", "\x1a\x45\xdf\xa3\x01\x42\x82", "application/octet-stream"},
		{"", "\x1f\x8b\x08\x00", "application/x-gzip"},
		{"", strings.Repeat(" ", 2000) + "<html>", "text/plain"},

		// Text that old servers label by default.
		{"text/plain", "words\n", ""},
		{"text/plain", "\x1b[1mwords", ""},
		{"text/plain", "\xff\xfea\x00", ""},
		{"text/plain", "", ""},
		{"text/plain; charset=UTF-8", "a\x01", "application/octet-stream"},
		{"text/plain; charset=utf-8", "a\x01", ""},
		{"text/plain", "<html>", ""},

		// Feeds that are labelled as pages.
		{"text/html", "<html><rss>", ""},
		{"text/html; charset=koi8-r", "\xef\xbb\xbf<?xml?>\n<!-- > --><!DOCTYPE rss><rss version=2>", "application/rss+xml"},
		{"TEXT/HTML", "<feed xmlns=''>", "application/atom+xml"},
		{"text/html", "<rdf:RDF xmlns='http://purl.org/rss/1.0/' xmlns:rdf='http://www.w3.org/1999/02/22-rdf-syntax-ns#'>", "application/rss+xml"},
		{"text/html", "<rdf:RDF>", ""},
		{"text/html", "a<rss>", ""},
		{"text/html", "<!--", ""},
		{"text/html", "", ""},

		// Types that are believed.
		{"application/json", "<html>", ""},
		{"application/json", `{"version": 1}`, ""},
		{"application/json", `{"x": {"version": "https://jsonfeed.org/version/1"}}`, ""},
		{"application/json", `{"x": "version", "y": "https://jsonfeed.org/version/1"}`, ""},
		{"application/json", `["version", "https://jsonfeed.org/version/1"]`, ""},
		{"application/json", `"version"`, ""},
		{"text/plain", `{"version": "https://jsonfeed.org/version/1.1"}`, ""},

		{"application/json; charset=utf-8", `{"version": "https://jsonfeed.org/version/1.1", "items": [`, "application/feed+json"},
		{"application/json", "\xef\xbb\xbf" + ` {"title": "a", "author": {"name": "b", "of": []}, "n": 1, "version": "https:\/\/jsonfeed.org\/version\/1"}`, "application/feed+json"},
		{"image/png", "<html>", ""},
		{"application/octet-stream", "<html>", ""},
	} {
		if got := sniff.Type(c.contentType, "", []byte(c.body)); got != c.want {
			t.Errorf("%q, %.40q: %q, expected %q", c.contentType, c.body, got, c.want)
		}
	}
}

// TestNoSniff: with X-Content-Type-Options: nosniff nothing becomes a type with scripts.
func TestNoSniff(t *testing.T) {
	for _, c := range []struct{ contentType, body, want string }{
		{"", "<html>", "text/plain"},
		{"", "%PDF-1.7", "text/plain"},
		{"*/*", "GIF89a", "image/gif"},
		{"text/html", "<rss>", ""},
		{"text/plain", "\x00", ""},
	} {
		if got := sniff.Type(c.contentType, "NoSniff", []byte(c.body)); got != c.want {
			t.Errorf("%q, %q: %q, expected %q", c.contentType, c.body, got, c.want)
		}
	}
}

// FuzzType: any bytes have a type, which depends on the first 1,445 alone.
func FuzzType(f *testing.F) {
	f.Add("", []byte("<html>"), "")
	f.Add("text/html", []byte("<!-- --><?x?><rss>"), "nosniff")
	f.Add("*/*", []byte("\x00\x00\x00\x18ftypmp42"), "")
	f.Fuzz(func(t *testing.T, contentType string, body []byte, options string) {
		got := sniff.Type(contentType, options, body)
		if again := sniff.Type(contentType, options, body[:min(len(body), 1445)]); again != got {
			t.Errorf("%q, of its beginning alone %q", got, again)
		}
	})
}
