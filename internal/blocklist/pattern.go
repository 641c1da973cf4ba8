package blocklist

import "strings"

// matchesAt reports whether a pattern matches s from at on, and with toEnd all of it.
func matchesAt(pattern, s string, at int, toEnd bool) bool {
	piece, rest, more := strings.Cut(pattern, "*")
	end, ok := pieceEnd(piece, s, at)
	if !ok || !more {
		return ok && (!toEnd || end == len(s))
	}
	return matchesWithin(rest, s, end, toEnd)
}

// matchesWithin reports whether a pattern matches somewhere in s from at on. The first place where
// a piece between two '*' matches is as good as any, but for the last one, which may have to match
// the end.
func matchesWithin(pattern, s string, at int, toEnd bool) bool {
	for {
		piece, rest, more := strings.Cut(pattern, "*")
		end, ok := find(piece, s, at, toEnd && !more)
		if !ok || !more {
			return ok
		}
		pattern, at = rest, end
	}
}

// find returns the end of the first match of a piece in s from at on; with toEnd, of the first
// that ends with s.
func find(piece, s string, at int, toEnd bool) (end int, ok bool) {
	literal, _, _ := strings.Cut(piece, "^")
	for ; at <= len(s); at++ {
		i := strings.Index(s[at:], literal)
		if i < 0 {
			return 0, false
		}
		at += i
		if end, ok := pieceEnd(piece, s, at); ok && (!toEnd || end == len(s)) {
			return end, true
		}
	}
	return 0, false
}

// pieceEnd returns the end of a piece without '*' that begins at s[at]. A '^' matches a separator,
// and nothing at the end.
func pieceEnd(piece, s string, at int) (end int, ok bool) {
	for i := range len(piece) {
		c := piece[i]
		switch {
		case at == len(s):
			if c != '^' {
				return 0, false
			}
			continue
		case c == '^':
			if !isSeparator(s[at]) {
				return 0, false
			}
		case c != s[at]:
			return 0, false
		}
		at++
	}
	return at, true
}

// isSeparator reports whether c, which is ASCII as all of a URL, ends a word.
func isSeparator(c byte) bool {
	return !isAlnum(c) && c != '_' && c != '-' && c != '.' && c != '%'
}

func isAlnum(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9'
}

// lower returns s with its ASCII letters in lower case, in which URLs are compared. Its offsets are
// those of s.
func lower(s string) string {
	for i := range len(s) {
		if 'A' <= s[i] && s[i] <= 'Z' {
			b := []byte(s)
			for ; i < len(b); i++ {
				if 'A' <= b[i] && b[i] <= 'Z' {
					b[i] += 'a' - 'A'
				}
			}
			return string(b)
		}
	}
	return s
}
