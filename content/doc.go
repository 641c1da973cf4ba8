// Package content finds the main content of a page, with its title, author, dates and language.
//
// # Vocabulary
//
//   - main content: the part of a page that people come for. An article without navigation, adverts
//     and links to others; all posts of a thread; a product with its description; the entries of a
//     list.
//   - block: an element that begins a new line and has words of its own, in no block further
//     inside.
//   - repeat: an element that says again what is kept before it.
//   - removal: a part that was left out, with the name of the rule that spoke most against it.
//
// # Method
//
// Package internal/blocks looks up facts about each block: its element, length and links, the
// classes around it, its neighbours, whether it is one of many alike, words that only boilerplate
// has. Each fact has a weight, measured on 1,678 pages whose content is known; the sum is the
// chance that the block is content. The blocks that make the best page together are copied, with
// the pictures among them. docs/bench/content.md has the figures, docs/adr/0026-main-content.md the
// reasons.
//
// The tree is read only. [Content].Node is a tree of its own; its attributes are shared with the
// page's, so replace them, but do not change one in place.
//
// # Limits
//
// [Parse] reads at most [MaxBody] bytes and [MaxTags] tags, and nests at most [MaxDepth] elements.
// The worst page found, made for it, takes 500 MB and seconds; one of 15 KB takes 100 KB and
// 0.3 ms beyond parsing. Time is linear in the tree times its depth. Nothing is recursive, and
// nothing panics, whatever the bytes.
//
// # Concurrency
//
// The package does no I/O and keeps nothing. Several goroutines may extract from one tree at once.
package content
