// Package dns resolves host names to addresses on the loop.
//
// A [Resolver] does what the C library does with "files dns" in nsswitch.conf: it looks into
// /etc/hosts, then asks the name servers of /etc/resolv.conf over UDP, and over TCP if an answer
// does not fit. It asks recursive servers and does not recurse itself. Like Go's own resolver, it
// ignores other sources (mDNS, LDAP, NIS) and nsswitch.conf itself; on a machine with
// systemd-resolved, that is the name server.
//
// # Vocabulary
//
//   - name: a domain name (RFC 1035) in ASCII: other letters have been through IDNA
//     before. Underscores and the like count as letters.
//   - look-up: one requested name, which may stand for several names by the search
//     list, each with the addresses of both families.
//   - exchange: a question and its answer.
//
// # Names
//
// A name with at least ndots dots (1 by default) is first tried as it is, and then with each
// domain of the search list appended; a name with fewer dots, the other way round; a name with a
// final dot only as it is. So "wiki" works in an intranet, and a name that does not exist is also
// tried in the search list, if there is one: as in libc. localhost and all names below it are this
// machine, .invalid and .onion do not exist (RFC 6761, RFC 7686): they are never queried.
//
// # Answers
//
// An answer is kept for its TTL, the least of a chain of aliases, but at least 5 s and at most a
// day; the absence of a name or of its addresses, as long as its SOA says (RFC 2308), but between
// 5 s and 5 min; a failure, 5 s. An expired answer is never returned. A server that does not
// answer for one family does not hold back the addresses of the other: IPv4 addresses wait 500 ms
// for IPv6. IPv6 comes first where there is a route to it.
//
// A datagram counts as an answer if it comes from the server to the port of the question, which is
// new each time, and has its random number, name and type. Others are ignored. A question without
// an answer after 1 s, and after 2 s more, is sent again. A server that is silent, refuses, fails
// or sends nonsense is skipped for the next one. A server that was unreachable, or silent (for at
// least a second, if the caller has not waited longer), is asked last for 30 s.
//
// # Lifecycle
//
// [New] takes a loop. A Resolver needs no closing: between look-ups it holds no descriptor and no
// task. It checks the files again after 5 s, off the loop, and reads them when they have changed.
// Of the hosts file it remembers which names it may have, and searches it for the addresses of
// those, off the loop, once for each name: the answer is kept until the file changes.
//
// # Concurrency
//
// A Resolver belongs to its loop. Tasks that look up one name at the same time share one look-up:
// when the task that makes it is cancelled, the next one starts it anew. Resolvers share what they
// know of the files, if they are given [Files], and no answers: a process with several loops may
// ask once per loop.
//
// # Limits
//
// 256 look-ups run at once, each with one descriptor; others wait in turn. 65,536 names are kept,
// the least recently used are forgotten. Of a hosts file 64 MiB are read, and 2 MiB kept at most.
// Of an answer 512 records are read and 32 addresses kept; aliases are followed 16 deep. A look-up
// has no time limit except resolv.conf's (5 s per answer, two tries per server): the caller sets
// one.
package dns
