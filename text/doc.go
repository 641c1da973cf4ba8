// Package text reads the text of a page as a reader does, and makes fingerprints of it:
// by one it is told whether a page has changed, by the other which pages are nearly the
// same.
//
// # Vocabulary
//
//   - word: what stands between white space or tags. A character of a script that puts no
//     space between words, such as Chinese or Thai, is a word.
//   - furniture: what stands on page after page of a site: nav, and header, footer and
//     aside where they are not part of an article, main or section; and what has one of
//     the roles navigation, banner and contentinfo.
//   - stamp: words that say when or how often, as dates, times of day, "3 minutes ago",
//     "1,234 views". They are left out; [stamps] is the whole list of what is one.
//   - main text: what is neither furniture nor a stamp.
//   - shingle: some words in a row.
//
// # What is text
//
// In HTML and XHTML: what stands between tags, with character references decoded, and
// the title. Not what is in script, style, template, svg, time, iframe and its like; no
// comment, no attribute, no value of a form. In text/plain: everything. Other types have
// no text here.
//
// What is a tag is decided by package links, which reads the page: [Reader.Extract] yields
// its links in the same pass. Words are copied to a buffer, eight bytes at a time (fill.go);
// there stamps are taken out (stamp.go), and the rest is hashed at once.
//
// # Fingerprints
//
// [Fingerprint].Hash changes when a word of the main text does. White space and markup
// between words do not count; punctuation and case do.
//
// [Fingerprint].Simhash is that of Charikar (Similarity Estimation Techniques from
// Rounding Algorithms, STOC 2002): a bit is set if it is in most of the hashes of the
// text's shingles. Texts that share most of their shingles share most of its bits;
// [Distance] counts those they do not. [Near] and below is nearly the same, as in Manku,
// Jain and Das Sarma, Detecting Near-Duplicates for Web Crawling, WWW 2007. A text of
// less than [MinShingles] has none: there one word is many of its bits, and two pages of
// a template may share them all. What is said again counts once.
//
// With [Reader].HashOnly there is no Simhash, and Hash is the same, for less time.
//
// Both are the same on every machine and in every version: they may be kept. They are no
// proof against those who want them to be the same.
//
// # Limits
//
// The body is in UTF-8 (transcode it first). Time is linear in it, memory does not grow
// with it, but for the longest word. Nothing panics, whatever the
// bytes. No tree is built: an element ends at the end tag that balances it, and a tag
// ends a word, so that "H<sub>2</sub>O" is three.
//
// The words of stamps are English. Where the main text is less than 8 words, or furniture
// never ends, Hash is that of the whole text, and there is no Simhash.
//
// # Concurrency
//
// The package does no I/O and keeps no state but a Reader's, which one task uses at a
// time.
package text
