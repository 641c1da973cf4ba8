// Package check finds what is wrong with the links and pages of a crawl, or of files on disk.
//
// [Site] crawls a site into a job, which it removes unless it is to be kept, and checks that. [Job]
// checks a job without a request: pages.jsonl says what became of every URL, and the bodies, in its
// archive or in bodies/, hold the links. [Files] reads HTML and Markdown from disk, and requests
// what they link to. Each returns a [Report], which the [Formats] print.
//
// # Vocabulary
//
//   - target: a URL that a link leads to.
//   - verdict: the judgement of a target: ok, broken, unknown, or unchecked without a request.
//   - finding: a fault of one link or one page that a rule has found, with page, line and column.
//   - problem: the findings of a rule that have one subject, such as the target of links.
//   - rule: a kind of finding, by name. Findings of a rule have one level: error, warning or note.
//   - baseline: findings that are known, and not reported again.
//
// # Verdicts
//
// A target is ok if its status is accepted: 2xx, or [Options].Accept. It is broken if the server,
// or the lack of one, says so to everyone: another status, a name that does not resolve, a refused
// connection, an invalid certificate, redirects in a circle. It is unknown if the crawler may be
// treated differently from a reader, or at another time: 401, 403, 407, 408, 425, 429, 451, 503 and
// 999, challenge pages of bot walls, robots.txt, timeouts, broken connections. Unknown is an error
// only on the hosts of the seeds, where nothing but robots.txt is meant to keep a check out. A body
// that is too large or too slow to be read is there: such a target is ok.
//
// Redirects are followed to their end, which gives the verdict.
//
// # Limits
//
// Memory is about 200 bytes for each URL of a job, and the links of one page. Findings, problems,
// fragments and hreflang are sorted on disk (internal/extsort), in at most 1 GiB; of what is left
// of it, a page gets an eighth. Findings beyond only count. Of a page, 100,000 links are checked.
// Markdown that would take its parser long is not read to its end. Rule not-read says where.
//
// # Concurrency
//
// A Report does not change: but for Close, any goroutine may use it, one at a time.
package check
