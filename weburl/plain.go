package weburl

import "strings"

// component is one bit of plain.
type component uint8

const (
	plainHost component = 1 << iota
	plainPath
	plainQuery
	plainFragment
)

// plain holds the components in which a byte stands for itself, whatever surrounds it.
var plain = func() (t [256]component) {
	for c := range t {
		if c := byte(c); 'a' <= c && c <= 'z' || isDigit(c) || c == '-' || c == '.' || c == '_' {
			t[c] |= plainHost
		}
		// appendTail handles all but the first.
		if byteSets[c]&pathSet == 0 && strings.IndexByte(`\/.:%`, byte(c)) < 0 {
			t[c] |= plainPath
		}
		if byteSets[c]&specialQuerySet == 0 {
			t[c] |= plainQuery
		}
		if byteSets[c]&fragmentSet == 0 {
			t[c] |= plainFragment
		}
	}
	return t
}()

// basePage is a page with what parsing each of its links needs.
type basePage struct {
	URL
	onWeb     bool   // http or https
	directory string // if so, its href up to the last slash of the path
}

func basePageOf(page URL) basePage {
	p := basePage{URL: page, onWeb: page.IsHTTP()}
	if p.onWeb {
		p.directory = page.href[:strings.LastIndexByte(page.href[:page.queryAt], '/')+1]
	}
	return p
}

// appendPlain parses what nearly all links are: http or https, and written in their serialised
// form except for leading dots. It appends the href of ref on the page base, which may be zero, to
// dst, which is empty, and sets the offsets of u. If ok is false, parser must decide what ref is.
//
// FuzzResolve compares the two.
func appendPlain[T string | []byte](dst []byte, u *URL, base *basePage, ref T) (href []byte, ok bool) {
	if len(ref)+len(base.href) >= MaxLength {
		return dst, false
	}
	if len(ref) > len("http://") && ref[0] == 'h' { // longer than either scheme
		switch {
		case string(ref[:len("http://")]) == "http://":
			return appendSite(dst, u, &base.URL, ref, uint32(len("http")))
		case string(ref[:len("https://")]) == "https://":
			return appendSite(dst, u, &base.URL, ref, uint32(len("https")))
		}
	}
	if !base.onWeb {
		return dst, false
	}
	*u = base.URL
	switch {
	case len(ref) == 0 || ref[0] == '#':
		return appendFragment(append(dst, base.href[:base.fragmentAt]...), ref)
	case ref[0] == '?':
		return appendTail(append(dst, base.href[:base.queryAt]...), u, ref, false)
	case ref[0] != '/':
		directory, rest := climb(base, ref)
		return appendTail(append(dst, directory...), u, rest, len(rest) == len(ref))
	case len(ref) > 1 && ref[1] == '/':
		return appendPlainHost(append(dst, base.href[:base.schemeEnd+1]...), u, ref)
	}
	return appendTail(append(dst, base.href[:base.pathAt]...), u, ref, false)
}

// appendSite parses a reference with a scheme.
func appendSite[T string | []byte](dst []byte, u, base *URL, ref T, schemeEnd uint32) ([]byte, bool) {
	if n := int(base.pathAt); len(ref) > n && ref[n] == '/' && string(ref[:n]) == base.href[:n] {
		*u = *base // scheme and host are the base's
		return appendTail(append(dst, ref[:n]...), u, ref[n:], false)
	}
	u.schemeEnd = schemeEnd
	return appendPlainHost(append(dst, ref[:schemeEnd+1]...), u, ref[schemeEnd+1:])
}

// appendPlainHost parses two slashes and a host. A host with a port, or one that might be an
// address, is not plain.
func appendPlainHost[T string | []byte](dst []byte, u *URL, ref T) ([]byte, bool) {
	i := len("//")
	label := i // the last one
	for ; i < len(ref) && plain[ref[i]]&plainHost != 0; i++ {
		if ref[i] == '.' {
			label = i + 1
		}
	}
	if label == i || !isAlpha(ref[label]) {
		return dst, false
	}
	u.userEnd = uint32(len(dst) + len("//"))
	u.hostAt = u.userEnd
	dst = append(dst, ref[:i]...)
	u.hostEnd = uint32(len(dst))
	u.pathAt = u.hostEnd
	if i < len(ref) && ref[i] == '/' {
		return appendTail(dst, u, ref[i:], false)
	}
	if i < len(ref) && ref[i] != '?' && ref[i] != '#' {
		return dst, false
	}
	return appendTail(append(dst, '/'), u, ref[i:], false)
}

// climb removes leading dot segments from ref: the rest is within directory, which is base up to a
// slash.
func climb[T string | []byte](base *basePage, ref T) (directory string, rest T) {
	directory = base.directory
	for len(ref) > 0 && ref[0] == '.' {
		dots := 1
		if len(ref) > 1 && ref[1] == '.' {
			dots = 2
		}
		if len(ref) > dots && ref[dots] != '/' && ref[dots] != '?' && ref[dots] != '#' {
			break
		}
		if dots == 2 && len(directory) > int(base.pathAt)+len("/") {
			directory = directory[:strings.LastIndexByte(directory[:len(directory)-1], '/')+1]
		}
		ref = ref[dots:]
		if len(ref) > 0 && ref[0] == '/' {
			ref = ref[1:]
			continue
		}
		break
	}
	return directory, ref
}

// appendTail parses path, query and fragment. The path continues dst. In a bare reference, a colon
// in the first segment would look like that of a scheme.
func appendTail[T string | []byte](dst []byte, u *URL, tail T, bare bool) ([]byte, bool) {
	i := 0
path:
	for ; i < len(tail); i++ {
		c := tail[i]
		if plain[c]&plainPath != 0 {
			continue
		}
		switch c {
		case '/':
			bare = false
		case '.': // it may belong to a dot segment
			if i == 0 || tail[i-1] == '/' {
				return dst, false
			}
		case '%': // so may this
			if i+2 < len(tail) && tail[i+1] == '2' && tail[i+2]|0x20 == 'e' {
				return dst, false
			}
		case ':':
			if bare {
				return dst, false
			}
		case '?', '#':
			break path
		default:
			return dst, false
		}
	}
	u.queryAt = uint32(len(dst) + i)
	query := i
	for ; i < len(tail) && tail[i] != '#'; i++ {
		if plain[tail[i]]&plainQuery == 0 {
			return dst, false
		}
	}
	u.fragmentAt = u.queryAt + uint32(i-query)
	return appendFragment(append(dst, tail[:i]...), tail[i:])
}

// appendFragment parses a fragment, with its '#', if there is one.
func appendFragment[T string | []byte](dst []byte, fragment T) ([]byte, bool) {
	for i := range len(fragment) {
		if plain[fragment[i]]&plainFragment == 0 {
			return dst, false
		}
	}
	return append(dst, fragment...), true
}
