// Package render shows pages in a browser: a function from a response to a document.
//
// It knows the DevTools protocol and no HTTP. The response of a page is there already; each further
// request of the page, of its frames and of its workers, goes to [Page].Fetch, which answers or
// refuses it. The browser has no other way out: its proxy is an address to which nothing connects,
// no name resolves, and WebRTC is kept to the proxy.
//
// # Vocabulary
//
//   - tab: a page of the browser that renders one document at a time, and is used again.
//   - rendered document: the HTML of a page when its scripts have done their work, with its shadow
//     roots as declarative ones.
//   - frame: a document within a page, with a URL of its own.
//   - virtual time: the clock of a page. It stands still while a request is under way, and jumps
//     from timer to timer otherwise, so that a page that waits 10 s takes none.
//   - look: a reading of the document.
//
// # Lifecycle
//
// [New] starts nothing. The first [Renderer.Render] starts the browser; one that has ended is
// replaced by another. A page that makes it end fails, and those beside it are rendered again.
// [Renderer.Close] ends it, and nothing stays: no process, no profile. The same holds if this
// process is killed: a shell, the browser's parent, waits for its end.
//
// # Limits
//
// A page has [Limits]. Pages at a time, and memory, are those of [Options]. Titles, messages and
// lists of a [Document] are bounded.
//
// # Concurrency
//
// Any goroutine may use a Renderer. Page.Fetch is called on goroutines of its own.
package render
