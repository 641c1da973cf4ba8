// Package links finds the links of a page. From a base URL, a content type and a body it yields
// URLs with the element and attribute they came from and what they are for ([Kind]).
//
// An [Extractor] reads one page after another; [Extract] reads one alone. [Header] finds the
// links in a response's header, [RefreshHeader] those of its Refresh field, [RobotsTag] what that
// header says to robots. A [TextReader] receives the text of a page in the same pass.
//
// The extractor is a scanner, not a parser: it jumps from '<' to '<', reads the names of tags,
// and looks only into tags that can hold a link. It builds no tree, so it sees links as they
// are written, wherever they are. Which bytes form a tag follows the tokenizer of the HTML
// Standard exactly, with comments, raw text, quotes and character references: see package
// internal/markup, and scan.go for the loop that passes over all other tags.
//
// # Vocabulary
//
//   - base: the URL that links are resolved against: the page's own, or that of the first
//     <base href> from there on.
//   - mention: a URL as the page writes it, not yet resolved ([Extractor.Mentions]).
//   - raw text: content in which '<' means nothing until the end tag, as in script, style, title
//     and textarea.
//   - candidate: one of the URLs of a srcset.
//   - foreign content: SVG or MathML in HTML, where no text is raw, tags can close themselves and
//     CDATA sections exist.
//
// # What counts as a link
//
// In HTML and XHTML (text/html, application/xhtml+xml):
//
//	a, area, link      href               object   data
//	a, area            ping               form     action
//	frame, iframe      src                button   formaction
//	img                src, srcset        input    src (type=image), formaction
//	source             src, srcset        video    src, poster
//	link               imagesrcset        audio, track  src
//	script, embed      src                blockquote, del, ins, q  cite
//	audio, iframe, img, source, video  data-src       img, source  data-srcset
//	meta               content, with http-equiv=refresh, or the name of a preview such as og:image
//	body, table, tbody, td, tfoot, th, thead, tr  background
//	style, and style=  CSS
//	script             JSON-LD, with type=application/ld+json
//
// The srcdoc of an iframe is a page within the page: its links count, resolved against the base of
// the page or its own <base>, its title and its meta elements for robots do not.
//
// In SVG, within HTML or alone (image/svg+xml): href or xlink:href of a, feImage, image, script
// and use. Element names with a prefix are unknown.
//
// In CSS (text/css): url(), and the string of @import. In RSS and Atom (their types, and
// application/xml and text/xml by the first element): what package internal/feed knows. In
// JSON-LD (application/ld+json): strings under the names of jsonKeys that look like a URL, and are
// images under those of jsonImages; in JSON Feed (application/feed+json), under those of
// jsonFeedKinds. In scripts, with [Options].Scripts: quoted strings that look like a URL. Tag is
// then the element of the text, "css", "json" or "script"; Attr is "url", "import" or "style" for
// CSS, the name in JSON, and "text" for text.
//
// A link in the header, of a Link field (RFC 8288) or a Refresh field, has "header" as its element
// and "link" or "refresh" as its attribute. It is resolved against the URL of the page, whatever
// <base> says.
//
// Only URLs that resolve to http or https are yielded. An empty value is a link only on a and
// area, where it leads to the base itself. Contents of noscript, iframe and noframes are read as
// markup: a crawler is the client without scripts and frames that they are written for. A
// candidate of a srcset counts whatever its descriptors are, though a browser drops one that it
// cannot read.
//
// # Positions
//
// With [Options].Positions a link has line and column, from 1, of its URL in the body: of the value
// of an attribute, of a candidate of a srcset, of a url() in CSS. Where references were decoded,
// and so nothing in the body is the URL, they are those of the attribute, for links in a srcdoc
// too.
//
// # Lifecycle
//
// [NewExtractor] allocates the buffers that all pages share. [Extractor.Extract] reads one
// document and returns when it has been read or yield has returned false. Yielded strings may be
// kept; several share memory, so that one that is kept keeps up to 4 KiB.
//
// # Limits
//
// The body is UTF-8 (transcode it first; see [Reads]). Time is linear in the body and in the
// fields of a header. What an unclosed tag, comment or raw text contains up to the end of the body
// is not read, as in browsers; if it may be links, the page says so ([Page].Hidden). A page with
// many links and a base of more than 4 KiB is cut ([Page].Cut), since each link costs as much as
// its base is long. Memory beyond the body is bounded by a small multiple of its longest attribute
// value. Values over 64 KiB are no links, except srcset, whose candidates count one by one, and
// srcdoc. The nesting of JSON-LD and the length of a URL in a script are bounded. Nothing panics,
// whatever the bytes.
//
// Since there is no tree, tags alone decide where SVG and MathML end (foreign.go), and a link in
// a <template> counts like any other. XHTML and SVG are read by HTML's rules, except that a tag
// that closes itself has no content and a CDATA section is text up to "]]>". The HTML that is
// escaped in a feed is not read, nor are the fifth level of srcdoc in srcdoc, xml:base
// and web manifests.
//
// # Concurrency
//
// The package does no I/O. Only an Extractor has state; one task at a time uses it.
package links
