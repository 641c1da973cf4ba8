package weburl

import "strings"

// A component is one bit of plain.
type component uint8

const (
	plainHost component = 1 << iota
	plainPath
	plainQuery
	plainFragment
)

// plain tells in which components a byte stands for itself, whatever is around it.
var plain = func() (t [256]component) {
	for c := range t {
		if c := byte(c); 'a' <= c && c <= 'z' || isDigit(c) || c == '-' || c == '.' || c == '_' {
			t[c] |= plainHost
		}
		if byteSets[c]&pathSet == 0 && strings.IndexByte(`\/.:%`, byte(c)) < 0 { // all but the first are for appendTail
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

// A place is a page with what is asked of it for each of its links.
type place struct {
	URL
	onWeb     bool   // it is http or https
	directory string // and this its href up to the last slash of the path
}

func placeOf(page URL) place {
	p := place{URL: page, onWeb: page.IsHTTP()}
	if p.onWeb {
		p.directory = page.href[:strings.LastIndexByte(page.href[:page.queryAt], '/')+1]
	}
	return p
}

// appendPlain is the parser for what nearly all links are: http or https, and written
// as they are serialised, but for dots in front. It appends the href of ref on the page
// base, which may be zero, to dst, which is empty, and sets the offsets of u. If ok is
// false, what ref is, if anything, is for parser to say.
//
// FuzzResolve holds the two against each other.
func appendPlain[T string | []byte](dst []byte, u *URL, base *place, ref T) (href []byte, ok bool) {
	if len(ref)+len(base.href) >= MaxLength {
		return dst, false
	}
	if len(ref) > len("http://") && ref[0] == 'h' { // longer than either of these
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

// appendSite reads what has a scheme.
func appendSite[T string | []byte](dst []byte, u, base *URL, ref T, schemeEnd uint32) ([]byte, bool) {
	if n := int(base.pathAt); len(ref) > n && ref[n] == '/' && string(ref[:n]) == base.href[:n] {
		*u = *base // all is as written there
		return appendTail(append(dst, ref[:n]...), u, ref[n:], false)
	}
	u.schemeEnd = schemeEnd
	return appendPlainHost(append(dst, ref[:schemeEnd+1]...), u, ref[schemeEnd+1:])
}

// appendPlainHost reads two slashes and a host. Nothing that has a port, or might be an
// address, is plain.
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

// climb takes dot segments from the front of ref: the rest is within directory, which
// is base up to a slash.
func climb[T string | []byte](base *place, ref T) (directory string, rest T) {
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

// appendTail reads path, query and fragment. The path goes on from dst. A colon in its
// first segment would be a scheme's, or looks so, if bare.
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
		case '.': // perhaps of a dot segment
			if i == 0 || tail[i-1] == '/' {
				return dst, false
			}
		case '%': // the like
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

// appendFragment reads a fragment, with its '#', if there is one.
func appendFragment[T string | []byte](dst []byte, fragment T) ([]byte, bool) {
	for i := range len(fragment) {
		if plain[fragment[i]]&plainFragment == 0 {
			return dst, false
		}
	}
	return append(dst, fragment...), true
}
