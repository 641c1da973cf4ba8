// Package blocks tells the text of a page from what stands around it, block by block.
//
// # Vocabulary
//
//   - block: an element that begins a new line and has words of its own, in no block further
//     inside.
//   - hint: a sign of an element's content in its name, role, id or classes.
//   - cue: a word that boilerplate has and other text has not.
//   - prose: a block of a sentence or more, mostly outside links.
//   - fact: something that is true of a block, such as a hint around it or the share of links.
//   - style: the element of a block and the two around it, by name and classes: blocks that look
//     alike have one.
//   - core: the smallest element that has most of the words which are most likely content.
//   - type: the kind of a page: article, documentation, service, forum, listing, collection or
//     product.
//   - mix: the chances that a page is of each type, by facts about the whole page (types.go).
//   - weight: the number that a fact adds, measured on pages whose content is known (weights.go);
//     it is shifted by the types of the page.
//   - tree: four questions about what is around a block (context.go), and what the answers count.
//
// # Method
//
// [Scan] counts words, links and marks in one pass over the tree. The facts about a block
// (features.go) are looked up, their weights added (logistic regression); trees correct the sum by
// those of other blocks. It is the logarithm of the odds that the block is content. [Page.Choose]
// takes the blocks that make the best page.
//
// # Limits
//
// Time is linear in the size of the tree times its depth, which content.Parse bounds. Nothing is
// recursive.
package blocks
