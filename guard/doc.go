// Package guard decides which addresses a crawl may connect to.
//
// The author of a page decides what it links to, and where the names in those links resolve to.
// A crawler inside a network must not become the author's hand: the guard refuses a link on a
// public page to the router, to a database on this machine, or to the credentials that a cloud
// serves at a fixed address. What the user names is the user's choice, and is allowed.
//
// # Vocabulary
//
// The class of an address is public, or one of the classes of the table in address.go: the
// special-purpose registries of the IANA, and the metadata addresses of the clouds. An IPv6
// address that stands for an IPv4 address has the class of that address.
//
// A Network is the range of addresses that a seed opens for the links of a crawl: the registered
// block of its address; on this machine one port; of a metadata service only its address.
//
// Trust is the source of a URL's host: a page (Linked), a list of seeds (Listed), or the user
// (Given).
//
// # Lifecycle
//
// The zero Guard allows public addresses. Open, and answers of hosts that were Given, add networks;
// nothing closes them again.
//
// # Concurrency
//
// A Guard belongs to one loop. Classify, NetworkOf, NetworkIn and Literal are pure. What Allow
// returns judges each address just before it is dialled, after the name was resolved, so that a
// name cannot show one address to the guard and another to the dialler.
//
// # Limits
//
// Behind a proxy, the proxy resolves names: only addresses written in a URL can be judged.
// Networks with public addresses that their owners consider private count as public. A NAT64
// prefix that a network has chosen for itself (RFC 6052, section 2.2) is unknown, so the
// addresses behind it count as public too.
package guard
