// Package css reads CSS selectors and finds the elements that they match.
//
// # What a selector may have
//
// Selectors level 4, as far as a page that nobody looks at can answer: types, classes, ids,
// attributes with all operators (and != of jQuery), the four combinators, :is, :where, :not, :has,
// :nth-child and its relatives, :empty, :root, :scope and :contains. At the end stands what is
// taken of an element, in the words of Scrapy: ::text, its own pieces of text; ::attr(name), an
// attribute. A selector that begins with a combinator is relative to the element in which it is
// looked for.
//
// # Limits
//
// Matching takes steps from a [Work]: one for each element that is compared with a part of a
// selector, siblings that are counted and texts that are read included. So neither "a b c d" on a
// page that nests 500 times nor :nth-last-child among a million siblings can take longer than
// allowed. Other libraries that were looked at know no such limit.
//
// # Concurrency
//
// A Selector does not change. A Work belongs to one goroutine.
package css
