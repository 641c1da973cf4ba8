// Package frontier decides which URL is fetched next, and when.
//
// It is a pure state machine: it owns the set of URLs seen, the queue of every
// host and the rules of politeness, and is told the time. It knows no clock, no
// network, no disk and no goroutine, so that a crawl of a year is a test of a
// second.
//
// # Vocabulary
//
//   - host: scheme, host name and port; the unit of robots.txt and of queues.
//   - server: the hosts of one name; the unit whose pace is kept.
//   - group: the servers of one registrable domain, or those with one address. They bear a
//     load together, so a group has a delay and a pace, too. A server that is alone in its
//     domain stands for it.
//   - cell: the servers of one domain with one address, of a domain with several.
//   - pending: seen, and to be fetched. Leased: handed out to be fetched.
//     Done: finished, well or not. Refused: not to be fetched, by robots.txt. A URL
//     goes from pending to leased or refused, and from leased to done, or back to
//     pending to be tried again.
//   - lease: a URL handed out, or a host's robots.txt, or the address of its name. Every
//     lease of a URL is answered by exactly one Done, Retry or Postpone; one of robots.txt by
//     exactly one SetRobots, RobotsFailed, RobotsAt or Postpone; one of an address by Resolved.
//   - errand: a lease of a host's robots.txt that a redirect says is elsewhere.
//   - ledger: who is told what must outlive the process. Backlog of a host: its pending
//     URLs that are only in the ledger. Refill: some of these are brought into memory.
//   - visit: all URLs of a crawl once. A later one begins with the URLs that an earlier one
//     has ended, pending in the ledger, each with what is Known of it.
//   - in doubt: a URL of which only the ledger knows whether it was seen.
//   - idle: a server of which nothing is left to do, and all that is known is in the ledger. Gone: it
//     has left memory.
//   - dormant: a server that is gone though URLs of it are pending: all in the ledger.
//   - pace: how many leases a host may have at once.
//   - hold: an overloaded host is not asked at all until a time.
//   - parked: the same of one that has not answered several times in a row.
//
// # Lifecycle
//
// Add puts new URLs in, Lease takes some out, the answers give them back. Lease may
// refuse some too: Refused hands these out, to be recorded, after each Lease. The
// crawl ends when it is Stopped: nothing is pending, leased or refused and not
// collected, a count and never a time-out; or Limit was reached, and what is pending
// is beyond it. The times it is told never go back.
//
// # Order
//
// Hosts take turns: of those that may be asked the one that has been so for longest gives one
// URL, and goes to the end. So a crawl goes in breadth over hosts, and one with a million URLs
// holds nobody up. Within a host come, in this order:
//
//   - its robots.txt
//   - URLs to be tried again, when their time has come, the one first whose time came first
//   - those that are Kept: with LimitPerHost, at a later visit, what is known of before
//   - the higher Priority, which is the caller's
//   - the smaller Depth: breadth first
//   - the higher Rank: sitemaps, then what theirs give a higher priority
//   - what was added first
//
// This is the order of Place, but that URLs to be tried again are not due at once. The file
// testdata/order.txt shows it.
//
// # Politeness
//
// With Resolve, a name's address is leased before anything else, alone; where an answer comes
// from is then its address. A lease says which it is, as the turn was that address's, and for 6 hours
// that it is to be asked there whatever the name says by then; of one that does not answer there
// any more one request goes elsewhere. A host's robots.txt is leased before its first URL, alone, and again
// after 24 hours; not while all of the host's URLs are in its backlog.
// A robots.txt that redirects say is elsewhere is leased at the turn of the server there, under
// its delay and pace, as one of its hosts: it takes turns with that server's own URLs. Of a server that
// is dead there is none. Meanwhile its host waits.
// The delay counts from the end of a response, be it that of robots.txt. Without
// PerHost a host has two leases at first, one more whenever a window of answers was as
// fast as its best, and half as many when one was slow, up to 16; one where there is a
// delay; any number on a loopback address. An overload holds the host for as long as
// it says, an hour at most, or for 1 s, 2 s, 4 s up to 5 minutes; then there is one
// lease at once, and more as the answers allow. Crawl-delay and overload are those of a name:
// the longest that any of its hosts asks for.
//
// A registrable domain and an address have the same: DomainDelay and AddressDelay, PerDomain and
// PerAddress, or a pace that grows while each of their servers is as fast as that one
// can be. An overload of one of them halves it.
//
// A server that leaves three leases in a row without an answer is parked, for 1 s, 2 s, 4 s and
// so on, and then tried with one lease at once; after eight its URLs are refused for an hour. Of one
// that takes requests and falls silent, which its pages may cause, the pauses stay below 17 s, and it
// is after 32. Any answer makes it as good as new.
//
// # What outlives the process
//
// With a Ledger the frontier tells of each change as it happens, and of the hosts that
// have changed when NoteHosts is called: all that was told until then is one state. A new
// frontier that is brought to it by Grow and the Restore methods goes on from there. What
// was told later never happened: a URL that was leased, or even done, is pending again. So
// every URL ends once, if what a lease leads to is kept or lost with what was told of it.
//
// A ledger may also hold the tails of long queues. With Heads, and after a restart, some
// of a host's URLs are in its backlog; they stand behind its cursor, a Place in the order in
// which the host's URLs are leased. When the turn of a host comes and it has few in
// memory, Wants says so; who calls it after each Lease, commits the ledger, reads and
// answers with Refill keeps the crawl going. Refill allows for what happens between the
// two. A thousand hosts are refilled at once, at most.
//
// A robots.txt that was asked for is asked for anew after a restart, from its host, whatever redirects
// had led to. After a restart Limit and LimitPerHost count the URLs that were answered: those that
// were leased when the process ended count when they are leased again. Every host that is
// restored waits its full delay. One that the ledger was not told of may be asked at
// once, though the process before may have asked it.
//
// # URLs seen
//
// Their fingerprints are in a table of 8 to 10 bytes a URL. With SeenBytes it packs them closer at its
// limit, to less than 6, and when that is full it is half a cache and half a Bloom filter, and of a fingerprint that the filter has and the
// cache has not, only the ledger knows: what was found before, and little of what is new. Then Add
// cannot tell a new URL by itself, and is never to guess: who adds URLs takes them in
// batches, and asks Doubts before each, the ledger for what that returns, and Settle. What was
// added since the ledger last kept all that it was told (Saved) is remembered beside the table.
//
// # Hosts that are idle
//
// With HostBytes servers leave memory when there are too many: those that have been idle for longest,
// with their hosts, their names, and groups that have no others. Doubts says of which names the
// ledger is to be asked before URLs are added, and Return brings the hosts back as they
// were: pace, robots.txt, failures, LimitPerHost. Their address is asked for again, and what
// their groups bear is learnt again, if these had no others. The names of those that are gone are in a table of their own,
// like that of URLs, of an eighth of HostBytes; when that is full a new name is looked up too.
//
// # Hosts that are dormant
//
// If that is not enough, servers leave with something pending: those that have been in memory for
// longest, of which nothing is leased nor wanted, no delay or hold is under way, and all is in the
// ledger. Their URLs count as pending. They come back with a new URL of theirs, as idle ones do; and
// by turns: a cursor goes round the hosts in the ledger. Rouse says what is wanted, when there is
// room, or Lease had too little to hand out, or others have had their share: four leases for each host
// that comes back. Who calls it after each Wants, reads and answers with Roused keeps the crawl
// going. One that has come back for its turn stays until it has had it; unless it waits for its domain or
// its address, and others need the room. So:
//
//   - a host with something pending is asked after a round, about four leases of each host, at most
//   - no slot is free while a dormant host could be asked, but for the reads that go round to it. If those that came back
//     could not, as their domains or addresses are busy, the next come after 50 ms, 100 ms, and so on up to 2 s
//   - with SetDelay and SetPerHost a dormant host is changed when it comes back; Host and Slowest know nothing of one
//
// # Limits
//
// Of URLs that differ only behind the first ';' or '?' MaxVariants are taken, those a seed names
// not counted; what the ledger knows of these counts is behind by less than 64 or an eighth, and so
// many more may be taken after a restart. The counts take 4 MiB, however many paths there are.
//
// What memory grows with:
//
//   - URLs seen: 10 bytes each, up to SeenBytes, and then no more.
//   - hosts: 300 bytes each, and what a robots.txt says once of those that say the same; with
//     HostBytes that much, or what those take that have been asked since the ledger kept all, or lately: within their
//     delay; that are dead; or that are held and have something pending.
//   - URLs pending; with Heads, up to twice as many for each host and those to be tried again; and
//     with InMemory so many bytes of all hosts, and what can be leased at once of 1,000 more.
//   - URLs that a redirect led to and no link yet, while they are pending, and after, up to
//     16,384, if they redirect themselves: the middle of a chain of redirects. Of those that LimitPerHost drops
//     from a backlog, to the end.
//   - what is under way: leases, and fingerprints not Saved yet. The caller bounds these.
//
// Lease and answers take time logarithmic in the hosts, however many share a name, a domain or an
// address. One Lease refuses at most 1,000
// URLs; the rest is due at once. One Lease or Next passes over at most 1,000 turns that Limit has ended.
//
// # Concurrency
//
// A Frontier is owned by one goroutine or event loop.
package frontier
