// Package appshell recognizes app shells: pages that look empty until their scripts run, such as
// the one document that a single-page application sends for all of its URLs.
//
// # Evidence
//
// The content of a page decides, never its URL. A page without an executable script is no app
// shell. One with a script is, for the first of these [Reason]s that holds:
//
//   - mount: the element that a framework fills, such as <div id="root">, shows hardly anything.
//   - noscript: a <noscript> element asks for JavaScript, and the page has little else. It may ask
//     for comments, a map or a search alone.
//   - template: an element is to be repeated or filled, as by v-for, x-text, ng-view or data-bind,
//     or a text has places such as {{ title }}.
//   - no-text: the page has hardly any text, or none but that of menus, or says that it is loading.
//   - hollow: a place for content is empty: an element that is one by its name, such as <main> and
//     <ul>, by its id or class, such as "results" and "product-grid", or by the component or the
//     URL that it names; a custom element; placeholder blocks; what htmx fetches at once.
//
// A page that refreshes itself away (<meta http-equiv=refresh>) needs no script.
//
// # Its own text
//
// Each kind of evidence counts in a page with less text of its own than a bound, which is the
// larger the surer the evidence is. What a page has of its own stands outside of furniture and
// widgets: navigation, headers, footers, banners, comments, maps, advertisements and the like, by
// element, role, id or class. That these are empty tells nothing.
//
// # Limits
//
// Time is linear in the body, and reading ends as soon as there is too much text of its own for
// any reason: after longPage bytes. No tree is built, and elements that are nested deeper than
// maxOpen are not judged. Nothing panics, whatever the bytes.
//
// # Measured
//
// testdata/sites has 97 sites with 232 pages. They were written before Judge read them. The first
// 83 found it right of 63 % of the pages that need scripts and of 76 % of those that do not, when
// its evidence was mounts, noscript and no text. The last 14 were written when it was right of 99 %
// and 100 % of these, and found it right of 47 % and 82 %. Judge was changed after both, so its
// figures for the Web lie between these and those of TestJudgeSites. The documentation of Rust,
// Python and Node.js has 110,000 pages with scripts; Judge takes 4 of them for app shells.
//
// The package has no state and does no I/O.
package appshell
