// Package links finds the links of a page: from a base URL, a content type and
// bytes, the URLs with the element and attribute they came from, and what they are
// for ([Kind]). An [Extractor] does so for one page after another; [Extract] for one
// alone. Those in the header of the response are found by [Header], what it says to
// robots by [RobotsTag]. A [TextReader] is told of the text of a page in the same pass.
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
//   - mention: a URL as the page writes it, not yet resolved ([Extractor.Mentions]).
//   - raw text: content in which '<' means nothing until the end tag comes, as
//     in script, style, title and textarea.
//   - candidate: one of the URLs of a srcset.
//   - foreign: of SVG or MathML in HTML, where no text is raw, tags can close
//     themselves and CDATA sections exist.
//
// # What is a link
//
// In HTML and XHTML (text/html, application/xhtml+xml):
//
//	a, area, link      href               object   data
//	frame, iframe      src                form     action
//	img                src, srcset        button   formaction
//	source             src, srcset        input    src (type=image), formaction
//	link               imagesrcset        video    src, poster
//	script, embed      src                audio, track  src
//	meta               content, with http-equiv=refresh
//	style, and style=  CSS
//	script             JSON-LD, with type=application/ld+json
//
// and in SVG there, as in a document of its own (image/svg+xml), href or xlink:href of a,
// feImage, image, script and use; names with a prefix before them are not known.
//
// In CSS (text/css): url(), and the string of @import. In RSS and Atom (their types, and
// application/xml and text/xml by the first element): link, guid, comments, enclosure,
// source, content, thumbnail, url, icon and logo. In JSON-LD (application/ld+json):
// what looks like a URL, under the names of jsonKeys. In scripts, with
// [Options].Scripts, quoted texts that look like a URL. Tag is then the element of the
// text, "css", "json" or "script"; Attr is "url", "import" or "style" for CSS, the
// name in JSON, "text" for what was text.
//
// A link of the header (RFC 8288) has "header" for its element, "link" for its
// attribute, and is resolved against the URL of the page, whatever <base> says.
//
// Only what resolves to http or https is yielded. An empty value is a link only
// on a and area, where it leads to the base itself. Contents of noscript, iframe
// and noframes are read as markup: a crawler is the client without scripts and
// frames that they are written for. A candidate of a srcset counts whatever its
// descriptors are, though a browser drops one that it cannot read.
//
// # Limits
//
// The body is UTF-8 (transcode it first; see [Reads]). Time is linear in the body, and in
// the fields of a header; a page of many links on a base of more than 4 KiB is cut
// ([Page].Cut), as each link costs as much as its base is long. Memory beyond the body is bounded by a small multiple of its
// longest attribute value; values over 64 KiB are not links, except srcset, whose
// candidates count one by one. Of JSON-LD the nesting is bounded, of a URL in a script
// the length. Nothing panics, whatever the bytes.
//
// The scanner does not know the tree. So where SVG and MathML end is decided by
// the tags in them (foreign.go), and a link in a <template> counts like any other. XHTML,
// SVG and feeds are read by HTML's rules, but a tag that closes itself has no content, and
// a CDATA section is text up to "]]>". The HTML that is escaped in a feed or in srcdoc is
// not read; nor are xml:base, image-set() and web manifests.
//
// # Strings
//
// What is yielded can be kept. The strings of several links share memory: one that is
// kept keeps up to 4 KiB.
//
// # Concurrency
//
// The package does no I/O and keeps no state but an Extractor's, which one task uses at a
// time.
package links
