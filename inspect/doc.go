// Package inspect has the results of a look at a job: where it stands, its hosts, its URLs, and why
// a URL has become what it is. A Job of package weft returns them; `weft status`, `weft hosts`,
// `weft urls` and `weft why` print them.
package inspect
