package webtest

import "strings"

// spelling is one way to write a link.
type spelling uint8

const (
	plain spelling = iota
	schemeless
	unquoted
	framed
	padded
	relative
	references
	shouted
	fragment
	dotted
	twoLines
	unescaped
	followed // the number of spellings above, in elements that every crawler follows

	image
	candidates
	styleSheet
	script
	refresh
	header
)

// spellings are, for each spelling, the element of the link and a function that writes it. The
// element of a Link header is "header".
var spellings = [...]struct {
	element string
	print   func(s *speller, b []byte, to resource) []byte
}{
	plain: {"a", func(s *speller, b []byte, to resource) []byte {
		return wrap(b, `<a href="`, s.origin(to)+s.web.target(to), `">plain</a>`)
	}},
	schemeless: {"a", func(s *speller, b []byte, to resource) []byte {
		return wrap(b, `<A CLASS=x HREF='//`, s.web.Authority(int(to.host))+s.web.target(to), `'>without scheme</A>`)
	}},
	unquoted: {"area", func(s *speller, b []byte, to resource) []byte {
		return wrap(b, `<area shape=rect href=`, s.web.url(to), `>`)
	}},
	framed: {"iframe", func(s *speller, b []byte, to resource) []byte {
		return wrap(b, `<iframe src = "`, s.origin(to)+s.web.target(to), `"></iframe>`)
	}},
	padded: {"link", func(s *speller, b []byte, to resource) []byte {
		return wrap(b, "<link rel=next href=\" \n\t", s.origin(to)+s.web.target(to), " \">")
	}},
	relative: {"a", func(s *speller, b []byte, to resource) []byte {
		up := strings.Repeat("../", s.depth)
		switch {
		case to.host != s.host:
			up = s.origin(to) + "/"
		case up == "":
			up = "./"
		}
		return wrap(b, `<a href="`+up, s.web.target(to)[1:], `">relative</a>`)
	}},
	references: {"a", func(s *speller, b []byte, to resource) []byte {
		return wrap(b, `<a title="a > b" href="`, escaped.Replace(s.origin(to)+s.web.target(to)), `">character references</a>`)
	}},
	shouted: {"a", func(s *speller, b []byte, to resource) []byte {
		authority := strings.ToUpper(s.web.Authority(int(to.host)))
		if !strings.Contains(authority, ":") {
			authority += ":80"
		}
		return wrap(b, `<a href="HTTP://`+authority, s.web.target(to), `">in capitals</a>`)
	}},
	fragment: {"a", func(s *speller, b []byte, to resource) []byte {
		return wrap(b, `<a href="`, s.origin(to)+s.web.target(to), `#part">fragment</a>`)
	}},
	dotted: {"a", func(s *speller, b []byte, to resource) []byte {
		return wrap(b, `<a href="`+s.origin(to), "/x/./y/../.."+s.web.target(to), `">dots</a>`)
	}},
	twoLines: {"a", func(s *speller, b []byte, to resource) []byte {
		return wrap(b, "<a\nhref\n=\n\""+s.origin(to)+"/\n", s.web.target(to)[1:], "\">over two lines</a>")
	}},
	unescaped: {"a", func(s *speller, b []byte, to resource) []byte {
		t := s.origin(to) + s.web.target(to)
		if s.charset.name == "utf-8" {
			t = strings.ReplaceAll(t, "%C3%A9", "é")
		}
		return wrap(b, `<a href="`, t, `">not escaped</a>`)
	}},
	image: {"img", func(s *speller, b []byte, to resource) []byte {
		return wrap(b, `<img alt="" src="`, s.web.target(to), `">`)
	}},
	candidates: {"img", func(s *speller, b []byte, to resource) []byte {
		return wrap(b, `<img alt="" srcset="`, s.web.target(to), ` 2x">`)
	}},
	styleSheet: {"link", func(s *speller, b []byte, to resource) []byte {
		return wrap(b, `<link rel="stylesheet" href="`, s.web.target(to), `">`)
	}},
	script: {"script", func(s *speller, b []byte, to resource) []byte {
		return wrap(b, `<script src="`, s.web.target(to), `">"<a href='/decoy/script'>"</script>`)
	}},
	refresh: {"meta", func(s *speller, b []byte, to resource) []byte {
		return wrap(b, `<meta http-equiv="Refresh" content="60; URL='`, s.web.url(to), `'">`)
	}},
	header: {"header", func(_ *speller, b []byte, _ resource) []byte { return b }}, // see Web.describe
}

// speller is the context of a link's spelling.
type speller struct {
	web     *Web
	host    int32 // of the page
	depth   int   // folders of the base URL
	charset charset
}

// origin returns the start of a link: empty if it stays on the host.
func (s *speller) origin(to resource) string {
	if to.host == s.host {
		return ""
	}
	return "http://" + s.web.Authority(int(to.host))
}

// escaped writes characters as references, some of them needlessly.
var escaped = strings.NewReplacer("&", "&amp;", "/", "&#x2f;", "=", "&#61;")

func wrap(b []byte, before, what, after string) []byte {
	return append(append(append(b, before...), what...), after...)
}

// assetTypes are resources other than pages, by n modulo their number, with the spellings of links
// to them.
var assetTypes = [...]struct {
	extension, contentType, begin string
	spells                        []spelling
}{
	{".png", "image/png", "\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR<a href=\"/decoy/png\">", []spelling{image, candidates}},
	{".css", "text/css", "/* <a href=\"/decoy/css\"> */ body { margin: 0 }\n", []spelling{styleSheet}},
	{".pdf", "application/pdf", "%PDF-1.4\n% <a href=\"/decoy/pdf\">\n", []spelling{plain, relative}},
	{".js", "text/javascript", "document.write('<a href=\"/decoy/js\">x</a>')\n", []spelling{script}},
}
