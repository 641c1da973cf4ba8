// Package unseen finds what a page has and people do not see. Those who write to programs that read
// pages for people hide it there: a model cannot tell such orders from the words of its user.
//
// # Rules
//
// An element is unseen by its hidden attribute, or by its style: not displayed, not visible,
// without size or opacity, clipped, or far off the page. A text is unseen by its size, or by its
// color on its background. Styles are those of style attributes, and of rules in <style> elements
// whose selector is one class or id, unless another rule, for another state of the page, may show
// the element.
//
// A character is unseen if it has no shape: controls, also those of the direction of text; tags,
// and selectors of variants in a row, by which a text can carry another; joiners and blanks of no
// width where no script needs them.
//
// # Limits
//
// Style sheets in files of their own, and what scripts do, are not known: where they hide an
// element, it counts as seen. Elements with aria-hidden are seen. Time is linear in the tree and
// the styles.
//
// # Concurrency
//
// The package does no I/O and keeps nothing.
package unseen
