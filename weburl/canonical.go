package weburl

import (
	"crypto/sha256"
	"strings"
	"unsafe"
)

// Canonical returns the form by which the frontier knows a page:
//
//   - the fragment is cut, with its '#';
//   - the parser has already lower-cased scheme and host, dropped a default
//     port, made an empty path "/" and resolved dot segments;
//   - in path and query, hexadecimal digits of percent-encoded bytes are in
//     upper case, and encoded letters, digits, '-', '.', '_' and '~' are decoded
//     (RFC 3986, section 6.2.2). All else is left alone: it may mean something
//     to the server.
//   - credentials of http and https URLs are cut: they are said to the server in
//     a header, if at all, and do not make another page of it.
//
// It asks for the same resource as b does; a [RuleSet] goes further. For schemes
// other than http and https only the fragment is cut. Canonical of a canonical
// URL is that URL.
func (b URL) Canonical() URL {
	b.canonicalise()
	return b
}

// canonicalise makes b its canonical form. (A URL is too large for registers: where it
// counts it goes by its address, and what takes and returns it is small enough to be
// inlined.)
func (b *URL) canonicalise() {
	if b.IsHTTP() && (b.hasCredentials() || strings.IndexByte(b.href[b.pathAt:b.fragmentAt], '%') >= 0) {
		b.normalise()
	}
	b.href = b.href[:b.fragmentAt]
}

// normalise is canonicalise for an http or https URL of which more is to be cut than the
// fragment.
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
// Decoding must not make a new escape out of a stray '%' and what follows it:
// "%%34%31" is no "%41". So the two bytes after a stray '%' are never decoded
// ones. Nor can it make a dot segment: the parser has taken those out in all
// their spellings.
func appendNormalised(dst []byte, text string) []byte {
	stray := -3 // where in dst the last stray '%' is
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

// isUnreserved is RFC 3986, section 2.3.
func isUnreserved(c byte) bool {
	return isAlpha(c) || isDigit(c) || c == '-' || c == '.' || c == '_' || c == '~'
}

// Fingerprint returns 128 bits of the canonical form: the first half of the
// SHA-256 of Canonical().String().
//
// It is part of the on-disk format: stores written by one version are read by
// another, so neither the hash nor the canonical form may change without a new
// format version. The hash is a cryptographic one because the Web chooses the
// keys: with a weaker one a site could make pages that hide each other.
func (b URL) Fingerprint() [16]byte {
	b.canonicalise()
	return fingerprint(b.href)
}

// fingerprint is that of a canonical href.
func fingerprint(href string) [16]byte {
	// Sum256 only reads, and a copy for it would cost a fifth of it.
	sum := sha256.Sum256(unsafe.Slice(unsafe.StringData(href), len(href)))
	return [16]byte(sum[:16])
}
