// Package markup reads markup: tags, attributes, comments, CDATA sections and character
// references. The link extractor, the sitemap reader, the feed reader and the text reader
// share it.
//
// # Vocabulary
//
//   - token: a start tag, an end tag, or anything else between '<' and '>', such as a comment.
//   - raw text: content in which '<' means nothing until the end tag, as in a script.
//   - reference: a character reference, such as "&amp;" or "&#38;".
//
// # Two scanners
//
// [Scanner] reads HTML exactly as the tokenizer of the HTML Standard cuts it
// (https://html.spec.whatwg.org/multipage/parsing.html#tokenization). It hands out slices of
// the body, undecoded, and reads attributes only when asked.
//
// [XML] reads documents written for machines, well formed or not: feeds and sitemaps. It
// differs from HTML where broken documents do: a '<' ends the tag before it, a name may begin
// with any letter of Unicode, a reference needs its semicolon, and whatever the end of the body
// cuts off is dropped. Both share names, attributes, CDATA sections and references.
//
// Package links adds one scan of its own over a Scanner, which passes over the tags that hold
// no link: it runs over nearly every byte of a page, and one loop without calls is what makes
// it fast.
//
// # Limits
//
// Time is linear in the body: positions never go back. Memory is bounded by the limit given
// to [XML.Collect] and by the attributes of one tag. Nothing panics, whatever the bytes.
//
// # Concurrency
//
// The package does no I/O and keeps no state. One task at a time uses a scanner.
package markup
