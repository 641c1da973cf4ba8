package frontier

import "time"

// Config is the politeness of a frontier, and its limits. The zero value asks for no robots.txt,
// has no delay and no limit, and follows the hosts' pace.
type Config struct {
	// Delay is the time between the end of a response and the host's next request; 0: none. A
	// Crawl-delay raises it for its host.
	Delay time.Duration

	// DomainDelay and AddressDelay are the time between the end of a response and the next
	// request to any host of the same registrable domain, or of the same address. 0: Delay;
	// negative: none.
	DomainDelay, AddressDelay time.Duration

	// PerHost is the number of leases that a host may have at once. 0: one where there is a delay, any
	// number on loopback addresses, else as many as the server bears without getting slower.
	PerHost int

	// PerDomain and PerAddress are the numbers of leases that the hosts of a registrable domain, or of
	// an address, may have at once. 0: as PerHost. A group of a single host bears what that bears.
	PerDomain, PerAddress int

	Resolve bool // look up the address of a name before any other lease of its hosts

	RateLimit float64 // leases a second of all hosts together, evenly spaced; 0: any number

	Beyond bool // URLs may be beyond the bounds of the crawl: see Role

	MaxRedirects int // redirects followed in a row; 0: none

	Robots      bool // lease an origin's robots.txt before its first URL
	RobotsTries int  // to get it, before the URLs of the origin are refused; 0: one

	// GiveUp is the time for which the URLs of an origin wait that has responded before and cannot be
	// reached any more, that answers nothing but 429 and 503, or that asks for a Crawl-delay of more
	// than longDelay. Then they are refused. 0: any time.
	GiveUp time.Duration

	Metered      bool // no more URLs are leased for the first time than Allow says
	Limit        int  // URLs leased; 0: any number. Neither robots.txt nor further tries count
	LimitPerHost int  // the same, of each host

	// Levels makes Depth the least number of links: URLs of a depth wait until those of less depth
	// have ended, as far as these may lead to them: see levels.
	Levels bool

	// MaxVariants is the number of URLs of a path that differ only after its first ';' or '?' and are
	// taken, not counting those of seeds; 0: any number. The others are dropped. Where paths share a
	// count by chance it may be fewer: see package variants.
	MaxVariants int

	// SeenBytes is the memory that the fingerprints of the URLs seen may take. Once that is full, at 6
	// bytes a URL, some are in the store only: see Prepare. 0: any amount, 10 bytes a URL. More than 0
	// requires a journal.
	SeenBytes int

	// HostBytes is the most memory of hosts, roughly. Beyond that, hosts with nothing left to do are
	// evicted, then hosts whose pending URLs are all in the store. They are read back when one of
	// their URLs is added, or at their turn: see Prepare and Reads. 0: any amount, 300 bytes each plus
	// their robots.txt. More than 0 requires a journal.
	HostBytes int

	// Heads is the number of URLs of an origin, never leased, that stay in memory, and up to twice as
	// many for a while. The others are in the store until they are refilled: see Reads. 0: all. More
	// than 0 requires a journal.
	Heads int

	// InMemory is the number of bytes that the queues of all origins may take together. Beyond that an
	// origin keeps few of its new URLs, or none, and at its turn is refilled with what can be leased
	// then. 0: any number. More than 0 requires Heads.
	InMemory int

	// RulesBytes is the number of bytes that the rules of robots.txt may take in memory. Beyond that
	// the least recently used are dropped, and fetched again when needed. 0: any number.
	RulesBytes int

	// Partition returns the partition of a host; those of one registrable domain have the same. Ours
	// are the partitions whose hosts this frontier has at first; the others are those of other
	// frontiers, which get their URLs: see SendBy. nil: all are ours. It requires HostBytes.
	Partition func(host string) int
	Ours      []int
}

// Settings are the parts of Config that can change during a crawl: see Frontier.Steer.
type Settings struct {
	Delay     time.Duration
	PerHost   int
	RateLimit float64
	Limit     int
}
