// Package blocklist reads the common lists of trackers and advertisements, and says which requests
// of a page they block.
//
// # Vocabulary
//
//   - block rule: a line of a list that blocks requests, or with "@@" an exception, which lets
//     requests pass that other rules block.
//   - pattern: the part of a block rule that is compared with URLs.
//   - condition: an option behind the '$' of a block rule, about the type of a request and the
//     page that makes it.
//   - third party: a request whose registrable domain is not the page's.
//
// # Formats
//
// One file may mix them, line by line:
//
//   - Filters of Adblock Plus, as EasyList has them
//     (https://help.adblockplus.org/hc/en-us/articles/360062733293). In patterns: "||" for the
//     beginning of a domain name in the host, '|' for either end of the URL, '*' for any text, '^'
//     for a separator or the end. The options script, image, stylesheet, font, media,
//     xmlhttprequest, subdocument, websocket, ping, other, third-party, domain and match-case, and
//     their names in uBlock Origin (css, frame, xhr, beacon, 3p, 1p, from), the latter's important
//     and all. An exception with document lets every request of the pages pass that it matches.
//   - Lines of a hosts file, "0.0.0.0 example.com" or another address that leads nowhere: exactly
//     this host. Lines with other addresses block nothing.
//   - Domains, "example.com" or "*.example.com": the domain and all below it. Behind a line
//     "[Adblock Plus 2.0]", text that looks like a domain is a pattern, as that syntax has it.
//
// Comments begin with '!', or with '#' at the beginning of a line or behind a space. Rules that
// hide elements ("##" and the like) are not about requests, nor are those for popups alone: these
// are passed over. Rules that this package cannot judge are skipped and counted ([List.Skipped]):
// regular expressions, and rules with an option not named above, such as csp or redirect.
//
// # Limits
//
// [MaxSize], [MaxRules] and [MaxLine] bound a list: beyond them, [Read] returns an error that names
// the line. Of a URL, the first 4,096 bytes are compared. A list keeps its text, and 60 to 90 bytes
// a rule.
//
// A request is compared with the rules that have something rare in common with it: a domain of its
// host, four bytes of its URL, or a domain of its page. So it takes time for the length of its URL,
// and for few of the rules: 1 to 2 µs with 100,000 of them, 0.1 ms where the URL is as long as can
// be.
//
// # Concurrency
//
// A [List] does not change and can be shared.
package blocklist
