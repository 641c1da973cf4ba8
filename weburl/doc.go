// Package weburl is the URL of a crawler: parsed and resolved by the rules of the WHATWG URL
// Standard, as browsers do, and brought to the one canonical form that identifies a page in the
// frontier.
//
// # Vocabulary
//
//   - href: the serialised URL. A [URL] is its href plus the offsets of its
//     components, so every accessor is a slice of one string.
//   - special scheme: http, https, ws, wss, ftp or file. Only these have
//     default ports, domain names as hosts, and '\' as another '/'.
//   - opaque path: the rest behind the colon in mailto:me@example.org. Nothing but a fragment
//     resolves against it.
//   - canonical form: the href without fragment and with its percent-encoding
//     normalised ([URL.Canonical]). Two URLs are the same page to the frontier
//     if their canonical forms are equal; [URL.Fingerprint] is 128 bits of it.
//   - identity: the canonical form, and for a POST a fragment that names its body ([URL.Identity]).
//   - rule: a part that a crawl may remove from the canonical form beyond the standards, such as
//     tracking parameters ([Rules], [RuleSet]).
//   - registrable domain: the public suffix of a host and one more label, the
//     unit that has one owner ([RegistrableDomain]).
//
// # Lifecycle
//
// A crawler parses the links of page after page with a [Resolver], and gets canonical form and
// fingerprint from a [Memo]. Both return ordinary URLs; but those of a Resolver share blocks of
// memory, so a caller that keeps a few of many for long should keep their [URL.Clone]. Those of a
// Memo are clones.
//
// # Concurrency
//
// A URL is a small immutable value: it can be copied, compared with ==, used as a map key and
// shared between goroutines. The zero URL is empty, and its methods work; resolving against it is
// the same as [Parse]. A Resolver and a Memo have one owner each. The package does no I/O, reads
// no clock and keeps no state.
//
// # Two parsers
//
// Nearly all links are written in their serialised form, except for a leading "../": a fast path
// parses these, and only checks that this is so (plain.go). All others go to the parser of the
// standard, state by state (parse.go). FuzzResolve checks that the two never differ.
//
// # Limits
//
// A URL is at most [MaxLength] bytes, as written and as serialised, and a host name that needs IDNA
// processing at most 1,024, with at most 63 characters that are not ASCII in a label. Memory is a
// small multiple of the input. The input is UTF-8; each invalid byte becomes U+FFFD, so a page in
// another encoding must be transcoded before its links are resolved. The name of that encoding is
// still needed for their queries ([Resolver.ResetIn]). In gb18030 and gbk, private characters
// (U+E000 to U+F8FF) count as missing from the encoding.
//
// # Source
//
// https://url.spec.whatwg.org/ as of 2026, including its rule that an ASCII domain is only
// lower-cased, never rejected for a malformed xn-- label. The state names in the comments are
// those of its basic URL parser.
package weburl
