// Package shapes recognises endless paths: pages that lead to ever more pages like them, and say
// nothing new.
//
// # Vocabulary
//
//   - shape: the common form of an origin's paths that differ in numbers, dates and tokens only:
//     /cal/#/#/ of /cal/2026/11/, /s/@/topic/# of /s/8f3k20qz/topic/7. See [Of].
//   - sketch: a hash of what a page says that its URL does not explain. See package text.
//   - alike: a page whose sketch another page of its shape has had.
//   - growth: as many URLs of the shape are found on pages that are alike as pages are fetched.
//   - trap: a shape with many alike pages in a row, that grows. A page with something new takes a
//     few off the count, and raises the number that its shape may have.
//
// # Lifecycle
//
// [Table.Watch] counts a page before it is fetched, and says whether to sketch it; [Table.Judge]
// takes the sketch; [Table.Found] takes the URLs that lead on from pages that are alike
// ([Table.Stale]). Judge says when a shape turns into a trap, which it stays. [Table.Close] brings
// back the traps of an earlier run. What a table has learnt of other shapes ends with the run.
//
// # What is no trap
//
// Pages with anything new, even a number that is not in the URL, or another picture. Pages that are
// alike, but that pages with something new lead to, such as profiles that can be seen after a login
// only: there are as many as there are members. A list of alike pages that is known in full. So a
// site loses no page of its own; an endless one that invents words for each page is not recognised.
//
// # Limits
//
// A table takes the bytes that it was made for: 32 for each shape, and 4 for each sketch. The
// shapes used least recently leave, and the oldest sketches. There are at most 10,000 traps. The
// first pages of a shape are not sketched, so that a crawl of small sites costs no more, and later
// ones are at random unless some are alike.
//
// The package is pure; a table has one owner.
package shapes
