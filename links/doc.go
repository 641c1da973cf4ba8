// Package links finds the links of a page: from a base URL, a content type and
// bytes, the URLs with the element and attribute they came from ([Extract]). Those
// in the header of the response are found by [Header].
//
// The extractor is a scanner, not a parser: it jumps from '<' to '<', reads the
// names of tags, and looks only into those that can hold a link. No tree is built,
// so it sees what is written, wherever it stands. Which bytes are a tag is decided
// exactly as the tokenizer of the HTML Standard does it, with comments, raw text,
// quotes and character references; see scan.go.
//
// # Vocabulary
//
//   - base: the URL links are resolved against: the page's own, or that of the
//     first <base href>, from where that stands.
//   - raw text: content in which '<' means nothing until the end tag comes, as
//     in script, style, title and textarea.
//   - candidate: one of the URLs of a srcset.
//
// # What is a link
//
//	a, area, link      href        object   data
//	frame, iframe      src         form     action
//	img, source        src, srcset video    src, poster
//	script, embed      src         audio    src
//	meta               content, with http-equiv=refresh
//
// A link of the header (RFC 8288) has "header" for its element, "link" for its
// attribute, and is resolved against the URL of the page, whatever <base> says.
//
// Only what resolves to http or https is yielded. An empty value is a link only
// on a and area, where it leads to the base itself. Contents of noscript, iframe
// and noframes are read as markup: a crawler is the client without scripts and
// frames that they are written for.
//
// # Limits
//
// The body is UTF-8 (transcode it first) and HTML or XHTML; other content types
// have no links yet. Time is linear in the body, and in the fields of a header.
// Memory beyond the body is bounded by a small multiple of its longest attribute
// value; values over 64 KiB are not links, except srcset, whose candidates count
// one by one. Nothing panics, whatever the bytes.
//
// The scanner does not know the tree. So in SVG and MathML, style and title are
// raw text and a CDATA section is a comment, and a link in a <template> counts
// like any other. XHTML is read by HTML's rules, but a tag that closes itself
// has no content, and a CDATA section ends at "]]>".
//
// # Concurrency
//
// Functions here are pure: no I/O, no state between calls.
package links
