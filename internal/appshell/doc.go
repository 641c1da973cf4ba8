// Package appshell recognizes app shells: pages that look empty until their scripts run, such as
// the one document that a single-page application sends for all of its URLs.
//
// # Evidence
//
// The content of a page decides, never its URL. A page without an executable script is no app
// shell. One with a script is, for the first of these [Reason]s that holds:
//
//   - mount: the element that a framework fills, such as <div id="root">, shows hardly anything,
//     and the page has little text.
//   - noscript: a <noscript> element asks for JavaScript, and the page has little else.
//   - no-text: the page has hardly any text, or says that it is loading, and no picture, form,
//     frame, table or list of links.
//
// A page that refreshes itself away (<meta http-equiv=refresh>) needs no script.
//
// # Limits
//
// Time is linear in the body, and reading ends as soon as there is too much text for any reason:
// after [maxText] bytes. No tree is built, and nothing is allocated. Nothing panics, whatever the
// bytes.
//
// The package has no state and does no I/O.
package appshell
