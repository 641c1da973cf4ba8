// Package frontier decides which URL is fetched next, and when.
//
// It is a pure state machine: it owns the set of URLs seen, the queue of every origin and the rules
// of politeness, and receives the time from its caller. It has no clock, no network, no disk and no
// goroutine, so a test crawls for a year in a second.
//
// # Vocabulary
//
//   - origin: scheme, host and port. Robots.txt and queues belong to an origin.
//   - host: the origins of one name. Delay, pace and LimitPerHost belong to a host.
//   - group: the hosts of one registrable domain, or of one address. They share a load, so a
//     group has a delay and a pace, too. A host that is alone in its domain stands for it.
//   - siblings: the hosts of one domain with one address.
//   - pending: seen, and still to be fetched. Leased: handed out. Done: finished, successfully or
//     not. Refused: excluded by robots.txt. A URL goes from pending to leased or refused, and from
//     leased to done, or back to pending for a retry; from done to pending only by Again.
//   - lease: a URL handed out, or an origin's robots.txt, or the address of a host. Exactly one
//     Done, Retry or Postpone ends the lease of a URL; exactly one Robots.Set, Robots.Failed,
//     Robots.Redirected or Postpone the lease of a robots.txt; Addresses.Resolved the lease of an
//     address.
//   - robots redirect: a lease of an origin's robots.txt at the place where redirects lead.
//   - prompt: a host whose last pages came within a second, and of which no lease is overdue.
//   - pace: the most leases that a host may have at once. Back-off: an overloaded host gets no
//     requests until a time. Parked: nor does an origin that has not responded. Given up: its URLs
//     are refused.
//   - journal: records the changes that must outlive the process. Store: holds them, and answers
//     requests. Backlog of an origin: its pending URLs that are only in the store. Refill: reads
//     some of them back into memory.
//   - resident: in memory. Idle: a resident host with nothing left to do. Evicted: not resident;
//     everything about it is in the store. Dormant: evicted with URLs pending. Revived: back for
//     its turn.
//   - visit: one pass over all URLs of a crawl. A recrawl starts a later visit, in which the ended
//     URLs are pending in the store again, each with a [Snapshot] of its last fetch in Known.
//
// # Parts
//
// A Frontier is a facade: it takes in the time, and carries what one part finds out to the next.
//
//   - agenda: the choice of an origin's next URL. It owns the URLs seen (seenSet), their redirects
//     and variants, the levels, the queues with their refills, and the counts.
//   - politeness: the time at which an origin may be leased from. It owns the turns of hosts and
//     origins, the groups, the patience with failures, and the rules of robots.txt. Of the agenda
//     it asks what there is to lease.
//   - residency: the choice of the hosts in memory. It owns the index of hosts, their eviction, the
//     dormant ones and the ownership of partitions. It brings hosts back as the other two knew
//     them.
//
// Host and origin are records that the parts share: each writes its own fields. All three record in
// the journal, which is the facade's, and are given the time by those that call them. Calls lead
// down: facade, residency, politeness, agenda, journal, origin and host, and what those are made of
// (pace, trouble, robots, backlog, queue). The agenda calls up by two functions that it is given,
// see above, and Errands by one, yield.
//
// What few callers need stands beside the facade: View looks, Robots takes in robots.txt files,
// Addresses learns and shares addresses, Partitions takes over and gives away parts of a crawl,
// Errands hands out the requests of pages that are being rendered.
//
// # Lifecycle
//
// Add puts new URLs in, Lease takes some out, results end their leases. Lease may refuse some, too:
// after each Lease, Refused returns these, to be recorded. The crawl has ended when View.Stopped
// reports it: no URL is pending, leased or refused and not collected, which is a count and never a
// time-out; or Limit was reached, and all pending URLs are beyond it. The times passed in never
// decrease.
//
// # Order
//
// Hosts take host turns: the host that has been due for longest gives one URL, and goes to the end
// of the line; the origins of a host take turns in the same way. So a crawl goes in breadth over
// hosts, and a host with a million URLs holds up no other. LeasePrompt leaves out hosts that are
// not prompt: a caller keeps a part of its workers for it. Within an origin the order is:
//
//   - its robots.txt
//   - retries whose time has come, the earliest first
//   - Kept URLs: with LimitPerHost, in a recrawl, the URLs known from earlier visits
//   - the higher Priority, which is the caller's
//   - the smaller Depth: breadth first
//   - the higher Rank: sitemaps, then the URLs that sitemaps give a higher priority
//   - the URL added first
//
// This is the order of QueueKey, apart from retries that are not due yet. The file
// testdata/order.txt shows it. With Levels, Depth comes before Priority.
//
// # Levels
//
// With Levels, Depth is the least number of links. A URL waits until everything of less depth has
// ended, on its own origin and on the sites that keep step with its own: see levels. A URL that is
// found again by a shorter way moves there while it is pending, before the next level opens: the
// request Find reads such URLs from the store.
//
// # Politeness
//
// With Resolve, the first lease of a name is its address, alone; from then on the source of a
// response is its address. A lease names the address, whose turn it uses, and for 6 hours the
// request goes there even if the name changes its address; if the address stops responding, one
// request goes elsewhere. An origin's robots.txt is leased before its first URL, alone, and again
// after 24 hours, but not while all of the origin's URLs are in its backlog. If a robots.txt
// redirects to another host, it is leased at the turn of that host, under its delay and pace, as
// one of its origins; if that host is dead, the robots.txt has failed. Meanwhile its origin waits.
//
// The delay counts from the end of a response, that of robots.txt included. Without PerHost a host
// has two leases at first, one more whenever all responses of a window were as fast as its best,
// and half as many when most were slow, up to 16; one where there is a delay; any number on a
// loopback address. After an overload the host backs off for as long as its Retry-After says, an
// hour at most, or for 1 s, 2 s, 4 s up to 5 minutes; then it has one lease at once, and more as
// the responses allow. Crawl-delay and overload belong to a name, and its longest value counts.
//
// A registrable domain and an address have the same: DomainDelay and AddressDelay, PerDomain and
// PerAddress, or a pace that grows while each of their hosts is as fast as it can be. An overload
// of a host halves the pace of its domain.
//
// # Failures
//
// A failure belongs to its origin. One that has never responded is parked from its third failure in
// a row on, for 1 s, 2 s, 4 s and so on, and then tried with one lease at once; after eight it is
// given up for an hour. If it accepts requests and then falls silent, which its pages may cause,
// the pauses stay below 17 s, and it takes 32 failures.
//
// An origin that has responded before is parked at its first failure to connect, for 5 minutes at
// most. Its URLs stay pending (View.Outlasts), until it has been in trouble for GiveUp. If it is
// silent, its URLs end one by one, after the tries that the caller gives them; its robots.txt is
// leased between them, even without Config.Robots, since that shows whether the server hangs or
// some of its pages. An origin that responds 429 or 503 to everything, or asks for a Crawl-delay of
// more than 10 minutes, is given up after GiveUp, too. A good response ends the trouble.
//
// Any page can link to any port of a host, so origins that fail cost the others little. Those that
// have never responded, or not to their last lease, have a quarter of the host's leases while
// another responds; once one has failed, they take turns as one origin, and rest for twice as long
// as the last failure took. If no origin of the host responds, one is tried a second, and each at
// least once.
//
// # What outlives the process
//
// The frontier records each change in a Journal as it happens, and the origins that have changed
// when NoteOrigins is called: everything recorded until then is one state. A Restorer brings a new
// frontier to that state. Later changes are lost: a URL that was leased, or even done, is pending
// again. So every URL ends once, if the caller saves the results of a lease and its changes in the
// journal together.
//
// A robots.txt that was leased is leased anew after a restart, from its origin, wherever redirects
// had led. After a restart Limit and LimitPerHost count the URLs with a response; a URL that was
// leased when the process ended counts when it is leased again. Every restored host waits its full
// delay. A host that was not recorded is due at once, although the last process may have sent it
// a request, unless Restorer.AskedUntil says so. The time between two processes counts for no
// trouble, and nothing that is restored waits for longer than its own longest pause: the clock may
// have been set back.
//
// # Reads from the store
//
// Three parts of the state may be in the store only: fingerprints of URLs seen beyond SeenBytes,
// the tails of long queues beyond Heads and InMemory, and hosts beyond HostBytes. One protocol
// reads them back: the frontier makes a Request, the caller reads it from the store, and gives the
// Page to Provide.
//
//   - Prepare takes each batch of URLs before they are added. Its request, if there is one, may be
//     read at once, and its page is provided before the first Add.
//   - Reads, after each Lease, returns requests that may be read only after the next commit:
//     NoteOrigins, commit, Saved, read, Provide.
//
// A page may be older than the time at which it is provided: the frontier allows for everything
// that has changed since the request. Provide panics on a page that was not requested, or is older
// than its request allows; Add panics before the page of its batch, and on a URL outside the batch.
//
// The table of fingerprints takes 8 to 10 bytes a URL. At SeenBytes it is packed closer, to less
// than 6, and when that is full it becomes half a cache and half a Bloom filter: a fingerprint in
// the filter but not in the cache has to be looked up in the store. Most of these were seen before,
// few are new. Fingerprints added since the last commit (Saved) are kept outside the table.
//
// With Heads, and after a restart, some of an origin's URLs are in its backlog: they are behind its
// cursor, a QueueKey in the order in which the origin's URLs are leased. When the turn of an origin
// comes and it has few URLs in memory, it is refilled; at most a thousand origins at once.
//
// With HostBytes, too many hosts cause evictions, of the longest idle hosts first, with their
// origins, their names, and groups without other hosts. A new URL brings a host back as it was:
// pace, robots.txt, failures, LimitPerHost. Its address is looked up again, and a group that had
// no other host learns its load again. The names of evicted hosts are in a table like that of
// URLs, of an eighth of HostBytes; when the table is full, new names are looked up, too.
//
// If that is not enough, hosts with pending URLs are evicted, the longest resident first, if
// nothing of them is leased or wanted, no delay or back-off is running, and the store has
// everything. They come back with a new URL, too, and by turns: a cursor circles through the
// origins in the store when there is room, when Lease had too little to hand out, or when others
// have had their share, four leases for each host that comes back. A revived host stays until it
// has had its turn, unless it waits for its domain or its address and others need the room. So:
//
//   - a host with pending URLs has its turn after a round at most, about four leases of each host
//   - no slot is free while a dormant host could use it, apart from the reads that the cursor needs
//     to reach it. If the revived hosts cannot, because their domains or addresses are busy, the
//     next follow after 50 ms, 100 ms, and so on up to 2 s
//   - Steer applies to a dormant host when it comes back; View.Origin and View.Slowest omit it
//
// # Partitions
//
// With Partition, a crawl has several frontiers, each with all hosts of some partitions. A URL of
// another one's partition is not added but sent: SendBy. A partition moves in these steps:
//
//   - Hold: nothing more of it is leased. Quiet: nothing of it is leased any more.
//   - Disown: its URLs are sent from now on. NoteOrigins, commit, Saved: the store has its last
//     state.
//   - Forget: it is gone from memory and from the counts, but for fingerprints, which do no harm:
//     the frontier that has the partition has them all.
//   - There, Adopt takes in the origins and the fingerprints that the store has got; then Own makes
//     the partition its own. All of its hosts are evicted or dormant, and come back as such do.
//
// Hold and Forget look at all resident hosts, however many partitions they are given. A partition
// takes with it what its origins are known by, so pace, robots.txt, failures and LimitPerHost hold;
// Limit counts what was leased of the hosts that a frontier has. It leaves behind:
//
//   - the groups of its addresses: their delays, and their loads
//   - redirects: a shorter way to a URL that redirects led to is missed, if it has moved since
//   - with Levels, ways that may be shorter. Each frontier has levels of its own: the depth of a
//     URL that was sent may not be the least
//
// A robots.txt that redirects to a host of another partition is requested from here, under the
// delays of this frontier; so is that of the same host from elsewhere.
//
// With Addresses.Share, an address is shut until Admit: hosts of several frontiers may have it. A
// host whose turn comes waits in the line of its address, and the caller asks the others.
//
// # Limits
//
// MaxVariants limits the URLs that differ only after the first ';' or '?', not counting seeds. The
// recorded counts lag by less than 64 or an eighth, so after a restart that many more may be
// taken. The counts take 4 MiB, however many paths there are.
//
// Memory grows with:
//
//   - URLs seen: 10 bytes each, up to SeenBytes.
//   - hosts: 300 bytes each, and one copy of each different robots.txt. With HostBytes, that much,
//     plus the hosts that cannot be evicted yet: changed since the last commit, or within the delay
//     of their domain. Those within a delay of their own, dead, or in back-off with something
//     pending stay up to twice HostBytes and 1 MiB.
//   - URLs pending. With Heads: up to twice as many for each origin, and its retries, which count
//     as part of the host. With InMemory: so many bytes for all origins, and for 1,000 more the
//     URLs that can be leased at once.
//   - URLs that only redirects have led to, while they are pending, and later, up to 16,384 of 4
//     MiB together, if they redirect themselves: the middles of chains of redirects. URLs that
//     LimitPerHost drops from a backlog stay to the end.
//   - with Levels, sites that lead to no other, while they are resident: those of seeds; and ways
//     that may be shorter, up to 65,536 at once.
//   - leases, and fingerprints not Saved yet. The caller bounds these.
//
// Lease and results take time logarithmic in the origins, however many share a name, a domain or an
// address. One Lease refuses at most 1,000 URLs; the rest is due at once. One Lease or Next skips
// at most 1,000 turns that Limit has ended.
//
// # Concurrency
//
// A Frontier is owned by one goroutine or event loop.
package frontier
