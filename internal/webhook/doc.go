// Package webhook tells programs elsewhere what has become of the crawls of a folder.
//
// # Events
//
// A crawl with a Hook has these, in this order: EventStarted once; EventPages as records come;
// EventEnded each time that it ends; and EventChanged when a visit has brought changes. They are no
// queue: what comes next follows from the crawl, its pages.jsonl, the changes of its visits, and a
// cursor in NAME.hook. A cursor is saved when its event was taken in, so that an event is delivered
// at least once, whatever is killed.
//
// # Deliveries
//
// A delivery is a POST as https://www.standardwebhooks.com has it: the fields webhook-id, the same
// whenever the body is, webhook-timestamp and webhook-signature. Options.Forms has others. A status
// of 2xx takes it in. Any other outcome is tried again, after ever longer pauses, for a day; then
// the events of the crawl are given up. Addresses are judged as those of links are (package guard),
// and a redirect is no success. While a delivery waits to be tried again, it takes no memory: it is
// made again.
//
// Deliveries have places: 64 in all, each of about a megabyte, fewer for one user, and one for an
// endpoint that has not taken the last one in within two seconds. So one that is slow delays itself
// alone.
//
// # Concurrency
//
// Run is called once, beside the folder's.
package webhook
