package rewrite

import (
	"bytes"

	"github.com/weftcrawl/weft/internal/markup"
)

// Bounds of entities: a document may have long ones, and refer to one often.
const (
	mostEntities = 256
	mostExpanded = 64 << 10 // bytes of an attribute
)

// prolog reads what comes before the root of an XML document as an XML parser does, and moves to
// the root. It returns the output and what of the body is in it.
func (w *Rewriter) prolog(s *markup.Scanner, out []byte) ([]byte, int) {
	body, done := s.Body, 0
	if bytes.HasPrefix(body, []byte("\ufeff")) {
		s.Pos = len("\ufeff")
	}
	for {
		s.Pos = markup.SkipSpace(body, s.Pos)
		switch rest := body[s.Pos:]; {
		case bytes.HasPrefix(rest, []byte("<?")):
			s.From, s.Text = s.Pos, nil
			out, done = w.instruction(s, out, done)
		case bytes.HasPrefix(rest, []byte("<!--")):
			s.Pos = markup.After(body, s.Pos+len("<!--"), "-->")
		case bytes.HasPrefix(rest, []byte("<!DOCTYPE")):
			s.Pos = w.doctype(body, s.Pos+len("<!DOCTYPE"))
		default:
			w.root = span{s.Pos, s.Pos + tagLength(rest)}
			return out, done
		}
	}
}

// tagLength returns how long the tag is that a text begins with: 0 if there is none.
func tagLength(text []byte) int {
	if len(text) < 2 || text[0] != '<' || bytes.IndexByte([]byte("!/>= \"'"), text[1]) >= 0 {
		return 0
	}
	for at := 1; at < len(text); at++ {
		switch c := text[at]; c {
		case '>':
			return at + 1
		case '"', '\'':
			n := bytes.IndexByte(text[at+1:], c)
			if n < 0 {
				return 0
			}
			at += n + 1
		}
	}
	return 0
}

// intoRoot inserts what is to be inserted behind the first tag. Without one, or with one that is
// not well formed, nothing of the document is shown.
func (w *Rewriter) intoRoot(body, out []byte, done int) ([]byte, int) {
	tag := body[w.root.from:w.root.to]
	open, empty := bytes.CutSuffix(tag, []byte("/>"))
	end := w.root.from + len(open)
	if len(tag) == 0 || w.insert == "" || done > end {
		return out, done
	}
	if !empty {
		return append(append(out, body[done:end]...), w.head()...), end
	}
	name := open[1:]
	for i, c := range name {
		if markup.IsSpace(c) {
			name = name[:i]
			break
		}
	}
	out = append(append(out, body[done:end]...), '>')
	out = append(append(append(out, w.head()...), "</"...), name...)
	return append(out, '>'), w.root.to
}

// doctype returns where a document type declaration ends, whose name begins at from, and notes its
// entities.
func (w *Rewriter) doctype(body []byte, from int) int {
	inside := false // between brackets, where there are declarations
	for at := from; at < len(body); at++ {
		switch rest := body[at:]; {
		case bytes.HasPrefix(rest, []byte("<!--")):
			at = markup.After(body, at+len("<!--"), "-->") - 1
		case bytes.HasPrefix(rest, []byte("<?")):
			at = markup.After(body, at, "?>") - 1
		case bytes.HasPrefix(rest, []byte("<!ENTITY")):
			at += len("<!ENTITY") - 1
			w.declare(body[at+1:])
		case rest[0] == '"', rest[0] == '\'':
			at = markup.After(body, at+1, string(rest[:1])) - 1
		case rest[0] == '[', rest[0] == ']':
			inside = rest[0] == '['
		case rest[0] == '>' && !inside:
			return at + 1
		}
	}
	return len(body)
}

// declare notes an entity, unless it stands in another file. The first declaration of a name
// counts.
func (w *Rewriter) declare(text []byte) {
	text = text[markup.SkipSpace(text, 0):]
	end := bytes.IndexAny(text, " \t\r\n\"'>")
	if end <= 0 {
		return
	}
	name, value := string(text[:end]), text[markup.SkipSpace(text, end):]
	if len(value) == 0 || value[0] != '"' && value[0] != '\'' || w.entity[name] != nil || len(w.entity) == mostEntities {
		return
	}
	if end = bytes.IndexByte(value[1:], value[0]); end < 0 {
		return
	}
	if w.entity == nil {
		w.entity = make(map[string][]byte)
	}
	w.entity[name] = value[1 : 1+end]
}

// expand puts entities of the document in place of references to them, in an attribute.
func (w *Rewriter) expand(raw []byte) []byte {
	if len(w.entity) == 0 || bytes.IndexByte(raw, '&') < 0 {
		return raw
	}
	var out []byte
	for {
		start := bytes.IndexByte(raw, '&')
		end := bytes.IndexByte(raw[max(start, 0):], ';')
		if start < 0 || end < 0 || len(out) > mostExpanded {
			return append(out, raw...)
		}
		end += start
		if value, known := w.entity[string(raw[start+1:end])]; known {
			out = append(append(out, raw[:start]...), value...)
		} else {
			out = append(out, raw[:end+1]...)
		}
		raw = raw[end+1:]
	}
}

// appendSheet appends the rewritten text of a style element. In XML, SVG and MathML it is text like
// any other, with references, comments and sections: it keeps them if there is nothing to rewrite.
func (w *Rewriter) appendSheet(out, text []byte) []byte {
	if !w.xml && w.foreign == 0 || bytes.IndexByte(text, '&') < 0 && bytes.IndexByte(text, '<') < 0 {
		return w.AppendCSS(out, text)
	}
	plain := w.characters(text)
	if sheet := w.css(nil, plain, utf8Text); !bytes.Equal(sheet, plain) {
		return w.appendEscaped(out, sheet)
	}
	return append(out, text...)
}

// characters returns the characters of text between tags, in UTF-8.
func (w *Rewriter) characters(text []byte) (plain []byte) {
	for len(text) > 0 {
		if text[0] != '<' {
			end := bytes.IndexByte(text, '<')
			if end < 0 {
				end = len(text)
			}
			plain = markup.AppendText(plain, w.encoding.Decode(w.expand(text[:end])), markup.InText)
			text = text[end:]
			continue
		}
		stop := ">"
		switch {
		case bytes.HasPrefix(text, []byte("<![CDATA[")):
			text, stop = text[len("<![CDATA["):], "]]>"
			plain = append(plain, w.encoding.Decode(bytes.TrimSuffix(text[:markup.After(text, 0, stop)], []byte(stop)))...)
		case bytes.HasPrefix(text, []byte("<!--")):
			text, stop = text[len("<!--"):], "-->"
		case bytes.HasPrefix(text, []byte("<?")):
			stop = "?>"
		}
		text = text[markup.After(text, 0, stop):]
	}
	return plain
}
