package weburl

import (
	"crypto/sha256"
	"strings"
	"unsafe"
)

// Canonical returns the form that identifies a page in the frontier:
//
//   - the fragment is removed, with its '#';
//   - the parser has already lower-cased scheme and host, dropped a default
//     port, made an empty path "/" and resolved dot segments;
//   - in path and query, hexadecimal digits of percent-encoded bytes are in
//     upper case, and encoded letters, digits, '-', '.', '_' and '~' are decoded
//     (RFC 3986, section 6.2.2). Everything else is left alone: it may mean
//     something to the server;
//   - credentials of http and https URLs are removed: if they are sent at all, then
//     in a header, and they do not make it a different page.
//
// The canonical form requests the same resource as b does; a [RuleSet] goes further. For schemes
// other than http and https only the fragment is removed. Canonical of a canonical URL is that
// URL.
func (b URL) Canonical() URL {
	b.canonicalise()
	return b
}

// Written returns path and query as b spells them, where that is another way to write the canonical
// form's: with %2f for %2F, or %7E for ~. To some servers these are not the same. It is "" if the
// spelling is the canonical one, or has a '%' that begins no escape.
func (b URL) Written() string {
	target := b.RequestTarget()
	if !b.IsHTTP() || strings.IndexByte(target, '%') < 0 || b.Canonical().RequestTarget() == target {
		return ""
	}
	for i := range len(target) {
		if _, ok := escapeAt(target, i); target[i] == '%' && !ok {
			return ""
		}
	}
	return strings.Clone(target)
}

// canonicalise makes b its canonical form. (A URL is too large for registers: in hot paths it is
// passed by its address, and functions that take and return one are small enough to be inlined.)
func (b *URL) canonicalise() {
	if b.IsHTTP() && (b.hasCredentials() || strings.IndexByte(b.href[b.pathAt:b.fragmentAt], '%') >= 0) {
		b.normalise()
	}
	b.href = b.href[:b.fragmentAt]
}

// normalise is canonicalise for an http or https URL that needs more than removing the fragment.
func (b *URL) normalise() {
	path, query := b.href[b.pathAt:b.queryAt], b.href[b.queryAt:b.fragmentAt]
	out := make([]byte, 0, len(b.href))
	out = append(out, b.href[:b.schemeEnd]...)
	out = append(out, "://"...)
	b.userEnd = uint32(len(out))
	out = append(out, b.href[b.hostAt:b.pathAt]...)
	b.hostEnd -= b.hostAt - b.userEnd
	b.hostAt = b.userEnd
	b.pathAt = uint32(len(out))
	out = appendNormalised(out, path)
	b.queryAt = uint32(len(out))
	out = appendNormalised(out, query)
	b.fragmentAt = uint32(len(out))
	b.href = string(out)
}

// appendNormalised appends text with its percent-encoding normalised.
//
// Decoding must not create a new escape from a stray '%' and what follows it: "%%34%31" is not
// "%41". So the two bytes after a stray '%' are never decoded ones. Nor can it create a dot
// segment: the parser has removed those in all their spellings.
func appendNormalised(dst []byte, text string) []byte {
	stray := -3 // index in dst of the last stray '%'
	for i := 0; i < len(text); i++ {
		if text[i] != '%' {
			dst = append(dst, text[i])
			continue
		}
		c, ok := escapeAt(text, i)
		if !ok {
			stray = len(dst)
			dst = append(dst, '%')
			continue
		}
		if isUnreserved(c) && len(dst) > stray+2 {
			dst = append(dst, c)
		} else {
			dst = append(dst, '%', upperHex[c>>4], upperHex[c&15])
		}
		i += 2
	}
	return dst
}

// isUnreserved implements RFC 3986, section 2.3.
func isUnreserved(c byte) bool {
	return isAlpha(c) || isDigit(c) || c == '-' || c == '.' || c == '_' || c == '~'
}

// fingerprint returns the fingerprint of a canonical href.
func fingerprint(href string) [16]byte {
	// Sum256 only reads, and a copy would add a fifth to its cost.
	sum := sha256.Sum256(unsafe.Slice(unsafe.StringData(href), len(href)))
	return [16]byte(sum[:16])
}
