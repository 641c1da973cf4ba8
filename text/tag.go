package text

import "bytes"

// What becomes of an element.
type role uint8

const (
	raw      role = iota + 1 // its content is text, in which no tag counts
	rawPass                  // the same, and passed over
	pass                     // passed over
	stamped                  // passed over, if every element has its end
	nav                      // furniture
	edge                     // furniture where it is in no section
	section                  // what the edges in it belong to
	box                      // furniture if its role attribute says so
	verbatim                 // all that follows is text
)

// elements are those that are not text like any other.
var elements = []struct {
	name string
	role role
}{
	{"article", section}, {"aside", edge}, {"div", box}, {"footer", edge}, {"form", box}, {"header", edge},
	{"iframe", rawPass}, {"main", section}, {"nav", nav}, {"noembed", rawPass}, {"noframes", rawPass}, {"ol", box},
	{"p", box}, {"plaintext", verbatim}, {"script", rawPass}, {"section", section}, {"span", box}, {"style", rawPass}, {"svg", pass},
	{"table", box}, {"template", pass}, {"textarea", rawPass}, {"time", stamped}, {"title", raw}, {"ul", box}, {"xmp", raw},
}

// furnitureRoles are the values of role that say furniture (WAI-ARIA's landmarks).
var furnitureRoles = []string{"banner", "contentinfo", "navigation"}

// elementIndex is places in elements, from 1, by a name's first letter and length. Most
// tags are told to be of no matter by these alone.
var elementIndex = func() (x [32][len("plaintext") + 1][2]uint8) {
	for i, e := range elements {
		slot := &x[e.name[0]&0x1f][len(e.name)]
		switch {
		case slot[0] == 0:
			slot[0] = uint8(i + 1)
		case slot[1] == 0:
			slot[1] = uint8(i + 1)
		default:
			panic("text: three names of a letter and a length")
		}
	}
	return x
}()

// roleOf returns 0 for a tag that does not matter. A name begins with a letter.
func roleOf(name []byte) role {
	if len(name) > len("plaintext") {
		return 0
	}
	for _, at := range &elementIndex[name[0]&0x1f][len(name)] {
		if at != 0 && equalFold(name, elements[at-1].name) {
			return elements[at-1].role
		}
	}
	return 0
}

// tag reads on from a '<', past the tag, and past the element if that is none of the
// text. It reports whether that was furniture.
func (r *Reader) tag() (furniture bool) {
	body, from := r.body, r.at+1
	if !opensTag(body[r.at:], r.classes) {
		r.oddWord(r.at, r.at)
		return false
	}
	switch c := body[from]; {
	case isLetter(c):
		return r.startTag(from)
	case c == '/' && isLetter(body[from+1]):
		end := nameEnd(body, from+1)
		if role := roleOf(body[from+1 : end]); role == section && r.inner > 0 {
			r.inner--
		}
		r.at = r.skip(end)
	case c == '!':
		r.declaration(from + 1)
	default:
		r.at = after(body, from, ">")
	}
	return false
}

// declaration reads what begins with "<!", which ends at from.
func (r *Reader) declaration(from int) {
	switch rest := r.body[from:]; {
	case bytes.HasPrefix(rest, []byte("--")):
		r.at = commentEnd(r.body, from+len("--"))
	case r.xml && bytes.HasPrefix(rest, []byte("[CDATA[")):
		r.at = from + len("[CDATA[")
		end := after(r.body, r.at, "]]>")
		text := bytes.TrimSuffix(r.body[r.at:end], []byte("]]>"))
		r.within(&plain, r.at+len(text), end)
	default:
		r.at = after(r.body, from, ">")
	}
}

// within reads what stands up to end by other classes, and goes on at next.
func (r *Reader) within(classes *[256]class, end, next int) {
	body, was := r.body, r.classes
	r.body, r.classes = body[:end], classes
	r.words()
	r.body, r.classes, r.at = body, was, next
}

func (r *Reader) startTag(from int) (furniture bool) {
	body := r.body
	end := nameEnd(body, from)
	name := body[from:end]
	role := roleOf(name)
	if role == 0 {
		r.at = r.skip(end)
		return false
	}
	at, closed, says := r.attributes(end, role)
	r.at = at
	if closed && (r.xml || role == pass) {
		return false
	}
	switch {
	case role == raw || role == rawPass:
		r.raw(name, role == raw)
	case role == verbatim:
		r.classes = &plain
	case role == pass || role == stamped && !r.broken:
		r.pass(name)
	case !r.whole && (says || role == nav || role == edge && r.inner == 0):
		r.pass(name)
		return true
	case role == section:
		r.inner++
	}
	return false
}

// raw reads the content of a raw text element, of which references count if it is text.
func (r *Reader) raw(name []byte, text bool) {
	var end int
	if equalFold(name, "script") {
		end = scriptEnd(r.body, r.at)
	} else {
		end = endTag(r.body, r.at, name)
	}
	if text {
		r.within(&rawText, end, end)
	}
	r.at = end
}

// pass moves behind the end tag that balances the start tag just read.
func (r *Reader) pass(name []byte) {
	body := r.body
	for depth := 1; ; {
		i := bytes.IndexByte(body[r.at:], '<')
		if i < 0 || r.at+i+1 == len(body) {
			break
		}
		r.at += i
		from := r.at + 1
		isEnd := body[from] == '/' && from+1 < len(body)
		if isEnd {
			from++
		}
		if !isLetter(body[from]) {
			if r.at++; body[from] == '!' {
				r.at = from + 1
				if bytes.HasPrefix(body[r.at:], []byte("--")) {
					r.at = commentEnd(body, r.at+len("--"))
				}
			}
			continue
		}
		end := nameEnd(body, from)
		other := body[from:end]
		at, closed, _ := r.attributes(end, 0)
		r.at = at
		switch role := roleOf(other); {
		case closed && (r.xml || equalFold(name, "svg")):
		case bytes.EqualFold(other, name) && isEnd:
			if depth--; depth == 0 {
				return
			}
		case bytes.EqualFold(other, name):
			depth++
		case !isEnd && (role == raw || role == rawPass):
			r.raw(other, false)
		}
	}
	r.at = len(body)
	r.unclosed = true
}

// skip returns where the tag ends whose attributes begin at at. Nearly all tags are plain: each
// attribute is a space, a name and a value in double quotes. The others are for attributes.
func (r *Reader) skip(at int) (end int) {
	body, from := r.body, at
	for at < len(body) {
		switch body[at] {
		case '>':
			return at + 1
		case ' ', '\n':
			at++
			continue
		}
		name := at
		for at < len(body) && classesOfTag[body[at]]&endsAttrName == 0 {
			at++
		}
		if at == name || at+1 >= len(body) || body[at] != '=' || body[at+1] != '"' {
			break
		}
		at += len(`="`)
		quote := bytes.IndexByte(body[at:], '"')
		if quote < 0 {
			break
		}
		at += quote + 1
	}
	end, _, _ = r.attributes(from, 0)
	return end
}

// attributes reads those of a tag, which begin at at, and returns where the tag ends and
// whether it closes itself. Of a tag of the role box or another that matters, says is
// whether its role attribute makes it furniture.
func (r *Reader) attributes(at int, of role) (end int, closed, says bool) {
	body := r.body
	for at < len(body) {
		switch c := body[at]; {
		case c == '>':
			return at + 1, body[at-1] == '/', says
		case classesOfTag[c]&betweenAttrs != 0:
			at++
			continue
		}
		from := at
		for at++; at < len(body) && classesOfTag[body[at]]&endsAttrName == 0; at++ {
		}
		name := body[from:at]
		at = skipSpace(body, at)
		if at == len(body) || body[at] != '=' {
			continue
		}
		at = skipSpace(body, at+1)
		if at == len(body) {
			break
		}
		var value []byte
		switch quote := body[at]; quote {
		case '"', '\'':
			n := bytes.IndexByte(body[at+1:], quote)
			if n < 0 {
				return len(body), false, says
			}
			value, at = body[at+1:at+1+n], at+n+2
		default:
			from := at
			for at < len(body) && classesOfTag[body[at]]&endsUnquoted == 0 {
				at++
			}
			value = body[from:at]
		}
		if of >= pass && len(name) == len("role") && equalFold(name, "role") {
			says = saysFurniture(value)
		}
	}
	return len(body), false, says
}

// saysFurniture reports whether the first of the roles in a value is one of furniture.
func saysFurniture(value []byte) bool {
	for first := range bytes.FieldsSeq(value) {
		for _, name := range furnitureRoles {
			if equalFold(first, name) {
				return true
			}
		}
		return false
	}
	return false
}
