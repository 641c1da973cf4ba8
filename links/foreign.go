package links

// foreign follows SVG and MathML in a page, where other rules apply: no text is raw, tags can
// close themselves, and CDATA sections exist. The standard decides by the tree
// (https://html.spec.whatwg.org/multipage/parsing.html#parsing-main-inforeign). Here there is
// none, only a stack of the open <svg> and <math> elements and of those in them that hold HTML
// again. So it is as exact as the page is well nested: it sees an HTML element break out of SVG,
// but may take a stray end tag for a true one.
type foreign struct {
	open []level // the innermost last
}

// A level is an element that changes the rules.
type level struct {
	name string
	in   region
}

// A region is the kind of content in a level.
type region uint8

const (
	inSVG region = iota
	inMathML
	atPoint // an integration point that may hold HTML, but holds none yet
	inHTML  // an integration point with HTML in it
)

// maxForeign bounds the stack. Deeper levels replace the last one.
const maxForeign = 64

// points are the elements of SVG and MathML that hold HTML.
var points = map[string]region{
	"foreignobject": inSVG, "desc": inSVG, "title": inSVG,
	"mi": inMathML, "mo": inMathML, "mn": inMathML, "ms": inMathML, "mtext": inMathML,
}

// breakouts are the HTML tags that end SVG and MathML.
var breakouts = map[string]bool{
	"b": true, "big": true, "blockquote": true, "body": true, "br": true, "center": true, "code": true, "dd": true, "div": true,
	"dl": true, "dt": true, "em": true, "embed": true, "h1": true, "h2": true, "h3": true, "h4": true, "h5": true, "h6": true,
	"head": true, "hr": true, "i": true, "img": true, "li": true, "listing": true, "menu": true, "meta": true, "nobr": true,
	"ol": true, "p": true, "pre": true, "ruby": true, "s": true, "small": true, "span": true, "strong": true, "strike": true,
	"sub": true, "sup": true, "table": true, "tt": true, "u": true, "ul": true, "var": true,
}

// strict reports whether a tag here belongs to SVG or MathML.
func (f *foreign) strict() bool {
	return len(f.open) > 0 && f.open[len(f.open)-1].in <= inMathML
}

// sections reports whether CDATA sections exist here.
func (f *foreign) sections() bool {
	return len(f.open) > 0 && f.open[len(f.open)-1].in != inHTML
}

// svg reports whether a tag here belongs to SVG.
func (f *foreign) svg() bool {
	return len(f.open) > 0 && f.open[len(f.open)-1].in == inSVG
}

// lowered returns a tag name in lower case, in buf; nil if it is too long to matter here.
func lowered(buf *[16]byte, name []byte) []byte {
	if len(name) > len(buf) {
		return nil
	}
	for i, c := range name {
		if 'A' <= c && c <= 'Z' {
			c |= 0x20
		}
		buf[i] = c
	}
	return buf[:len(name)]
}

// start follows a start tag, and reports whether it belongs to SVG or MathML.
func (f *foreign) start(tag []byte, selfClosing bool) bool {
	var buf [16]byte
	name := lowered(&buf, tag)
	if f.strict() && breakouts[string(name)] {
		f.leave()
	}
	strict := f.strict()
	switch {
	case string(name) == "svg" || string(name) == "math":
		if !selfClosing {
			in := inSVG
			if string(name) == "math" {
				in = inMathML
			}
			f.push(level{string(name), in})
		}
	case strict:
		if of, ok := points[string(name)]; ok && of == f.open[len(f.open)-1].in && !selfClosing {
			f.push(level{string(name), atPoint})
		}
	case len(f.open) > 0:
		f.open[len(f.open)-1].in = inHTML
	}
	return strict
}

// end follows an end tag.
func (f *foreign) end(tag []byte) {
	if len(f.open) == 0 {
		return
	}
	var buf [16]byte
	name := lowered(&buf, tag)
	if f.strict() && breakouts[string(name)] {
		f.leave()
		return
	}
	for i := len(f.open) - 1; i >= 0; i-- {
		if f.open[i].name == string(name) {
			f.open = f.open[:i]
			return
		}
	}
}

// leave ends SVG and MathML up to the innermost integration point.
func (f *foreign) leave() {
	for f.strict() {
		f.open = f.open[:len(f.open)-1]
	}
}

func (f *foreign) push(l level) {
	if len(f.open) == maxForeign {
		f.open = f.open[:maxForeign-1]
	}
	f.open = append(f.open, l)
}
