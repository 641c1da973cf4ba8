// Package dns resolves host names to addresses on the loop.
//
// A [Resolver] does what the C library does with "files dns" in nsswitch.conf: it looks
// into /etc/hosts, then asks the name servers of /etc/resolv.conf over UDP, and over TCP
// where an answer does not fit. It asks servers that recurse, and is none itself.
// Other sources (mDNS, LDAP, NIS) and nsswitch.conf itself are not looked at, as by
// Go's own resolver; a machine with systemd-resolved has that as its name server.
//
// # Vocabulary
//
//   - name: a domain name (RFC 1035), in ASCII: what is written in other letters has
//     been through IDNA before. Underscores and the like are as good as letters.
//   - look-up: one name as it was asked for, which may be several names by the search
//     list, of each the addresses of both families.
//   - exchange: a question and its answer.
//
// # Names
//
// A name with at least ndots dots (1, if resolv.conf does not say) is asked for as it
// is, and then with each domain of the search list appended; one with fewer, the other
// way round; one that ends in a dot only as it is. So "wiki" works in an intranet, and a
// name that does not exist is asked for in the search list too, where there is one: as
// libc does. localhost and all below it are this machine, .invalid and .onion do not
// exist (RFC 6761, RFC 7686): nobody is asked for them.
//
// # Answers
//
// An answer is believed for its TTL, the least of a chain of aliases, but at least 5 s
// and at most a day; that a name or its addresses do not exist, as its SOA says (RFC
// 2308) within 5 s and 5 min; a failure, 5 s. An answer that has expired is never
// given. Addresses of one family are not held back by a server that does not answer
// for the other: IPv4 addresses wait 500 ms for those of IPv6. IPv6 comes first where
// there is a route to it.
//
// A datagram is an answer if it comes from the server, to the port of the question,
// which is a new one each time, and has its random number, its name and its type.
// Others are ignored. A question that has no answer after 1 s, and after 2 s more, is sent again. A server that is silent, refuses, fails or makes no sense is
// passed over for the next; one that was silent, for a second if the caller has not
// waited longer, or could not be reached is asked last for 30 s.
//
// # Lifecycle
//
// [New] takes a loop and needs no closing: between look-ups a Resolver holds no
// descriptor and no task. The files are looked at again when 5 s have passed, off the
// loop, and read when they have changed.
//
// # Concurrency
//
// A Resolver belongs to its loop. Tasks that look up one name at a time share one
// look-up: when the task that makes it is cancelled, the next one begins it anew.
// Resolvers share nothing, so a process with several loops may ask once on each.
//
// # Limits
//
// 256 look-ups are under way at once, each with one descriptor, others wait in turn;
// 16,384 names are remembered, the least recently used forgotten. Of an answer 512
// records are looked at and 32 addresses kept; aliases are followed 16 deep. A look-up
// has no limit of time but what resolv.conf makes of it (5 s for an answer, two tries
// of each server): the caller sets one.
package dns
