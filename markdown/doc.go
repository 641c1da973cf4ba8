// Package markdown turns trees of HTML into Markdown, or into plain text.
//
// The Markdown is CommonMark 0.31 with tables and strikethrough as GitHub has them, footnotes as
// PHP Markdown Extra writes them, and formulas between dollar signs. It reads back as what the tree
// says: headings, links, items, code and tables are the same (structure_test.go), as is each
// character with its links and blocks (roundtrip_test.go).
//
// # Vocabulary
//
//   - block: an element that begins a new line, such as p, ul, table; container: one that holds
//     blocks, such as div.
//   - inline: text, and elements that stand in a line of it.
//   - run: the inline content between two blocks; it becomes a paragraph.
//   - span: a part of a run, such as a link or emphasis.
//
// # What has no form in Markdown
//
//   - Definition lists are lists: an item for each group of terms, with its definitions below.
//   - Cells of tables have one line: blocks in them are separated by <br>. A table that arranges
//     others, or headings, is no table; its cells follow one another.
//   - Emphasis that CommonMark cannot express, as that of half a word before a full stop, is left
//     out: the text matters more.
//   - Two line breaks end a paragraph; a link or emphasis around them is in both.
//   - Containers nest to a depth of 10; deeper ones add nothing.
//
// # Concurrency
//
// The package does no I/O, and keeps nothing. Trees are only read.
package markdown
