// Package login keeps what logs a crawl in, and knows when it is logged out.
//
// # Vocabulary
//
//   - session: the cookies by which sites know a person, and what their pages have stored.
//   - login page: the page with the form that logs in.
//   - sign: a mark of a page, or its URL, by which a person is logged in or out.
//
// # The file of a session
//
// A file of cookies in Netscape's format, which curl and --cookies read, too. Its comments that
// begin with #weft- have what that format knows nothing of: the login page, the fields of its form,
// the sign of being logged out, and what pages have stored.
//
// # Concurrency
//
// Any goroutine may use a Session: the loops of a crawl share one. A call waits for nothing but a
// short lock, but for Open and Reload, which read the file.
package login
