// Package guard says which addresses a crawl may connect to.
//
// Who writes a page decides what it links to, and where the names in these links
// resolve to. A crawler inside a network must not become its hand: a link on a public
// page to the router, to a database on this machine or to the credentials that a cloud
// serves at a fixed address is refused. What the user names is not the Web's choice, and
// is allowed.
//
// # Vocabulary
//
// An address is public, or of one of the classes of the table in address.go, which is
// that of the special-purpose registries of the IANA, with the addresses at which clouds
// serve metadata. An IPv6 address that stands for an IPv4 one is of that one's class.
//
// A Network is what a seed opens for the links of a crawl: the registered block of its
// address; of this machine one port; of a metadata service nothing but its address.
//
// # Use
//
// A Guard belongs to one loop; Judge is asked for each address just before it is dialled,
// after the name was resolved, so that a name cannot answer one address to the judge and
// another one to the dialler. Classify is pure.
//
// # Limits
//
// Behind a proxy the address is the proxy's to find: only addresses that stand in the URL
// can be judged. Networks that are private by the choice of their owner, with public
// addresses, are public here. IPv6 prefixes for NAT64 that a network has chosen itself
// (RFC 6052, section 2.2) can't be known, so what lies behind them is public, too.
package guard
