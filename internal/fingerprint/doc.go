// Package fingerprint reads the text of a page as a person does, and makes text fingerprints of it.
// One part of them shows whether a page has changed, the other which pages are nearly the same.
//
// # Vocabulary
//
//   - word: the text between white space or tags. A character of a script that puts no space
//     between words, such as Chinese or Thai, is a word.
//   - furniture: text that repeats on page after page of a site: nav, and header, footer and aside
//     outside of article, main and section; and elements with the role navigation, banner or
//     contentinfo.
//   - stamp: words that say when or how often, such as dates, times of day, "3 minutes ago" and
//     "1,234 views". They are left out; [stamps] is the complete list.
//   - main text: all text except furniture and stamps.
//   - shingle: a few words in a row.
//
// # What counts as text
//
// In HTML and XHTML: the text between tags, with character references decoded, and the title. Not
// the content of script, style, template, svg, time, iframe and similar elements; no comment, no
// attribute, no value of a form. A template that is a shadow root has text, and so has a frame of
// a rendered document, if it is one of the page's own site. In text/plain: everything. Other types
// have no text here.
//
// Package links decides what is a tag: [Reader.Extract] yields a page's links in the same pass.
// Words are copied to a buffer eight bytes at a time (fill.go); stamps are cut out there
// (stamp.go), and the rest is hashed in one go.
//
// # Fingerprints
//
// [Fingerprint].Hash changes when a word of the main text does. White space and markup between
// words do not count; punctuation and case do.
//
// [Fingerprint].Simhash is that of Charikar (Similarity Estimation Techniques from Rounding
// Algorithms, STOC 2002): a bit is set if it is set in most of the hashes of the text's shingles.
// Texts that share most of their shingles share most of its bits; [Distance] counts those they do
// not. A distance of [Near] or less means nearly the same, as in Manku, Jain and Das Sarma,
// Detecting Near-Duplicates for Web Crawling, WWW 2007. A text with fewer than [MinShingles] has
// no Simhash: one word would decide many of its bits, and two pages of a template might share them
// all. A repeated shingle counts once.
//
// With [Reader].HashOnly there is no Simhash, and Hash is the same, in less time.
//
// Both are the same on every machine and in every version, so they may be stored. They do not
// resist someone who wants two texts to collide.
//
// # Lifecycle
//
// The zero [Reader] is ready. [Reader.Read] and [Reader.Extract] read one page per call and keep
// nothing of it but buffers.
//
// # Limits
//
// The body is UTF-8 (transcode it first). Time is linear in it; memory grows only with the longest
// word. Nothing panics, whatever the bytes. No tree is built: an element ends at the end tag that
// balances it, and a tag ends a word, so that "H<sub>2</sub>O" is three.
//
// The words of stamps are English. If the main text has less than 8 words, or furniture never
// ends, Hash covers the whole text, and there is no Simhash.
//
// # Concurrency
//
// The package does no I/O. Only a Reader has state; one task at a time uses it.
package fingerprint
