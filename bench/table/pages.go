package main

// page is a page of docs/bench: a table of marks and, for some, a table of costs.
type page struct {
	title string
	take  string // conclusions; to be reviewed whenever the page is measured again
	about string // the place of the benchmarks, and a guide to their figures
	ours  string // heads the column of our figures
	cores []int  // of every row
	rows  []row
	costs *costs
}

// row compares two benchmarks. A row without a peer has nothing to compare with.
type row struct {
	what  string
	ours  string
	peer  string
	unit  string
	mark  float64 // for ours / peer, or for ours if alone; 0: none
	least bool    // the mark is a minimum, not a maximum
	alone bool    // the mark applies to our figure itself; the peer is only for comparison
}

// costs is a table with a benchmark per line and a unit per column, at one number of cores.
type costs struct {
	about string
	heads []string // of the first column, then of each unit
	units []string
	cores int
	lines []struct{ what, name string }
}

var pages = map[string]page{"aio": aio, "bytes": webBytes}

var aio = page{
	title: "The event loop beside its peers",
	take: `A request on the event loop takes less than half of net/http's CPU time, and one that waits takes
a quarter of its memory; timers cost less than Go's. A switch between two hot tasks costs 0.6 to
1.0 times one between goroutines; in a crowd of 10,000 on one core it costs more: coroutines are
not there for the switch. [README.md](README.md) explains each missed mark.`,
	about: "`make bench-aio` runs the benchmarks of bench/loops, and bench/table writes this page;\n" +
		"each benchmark's comment says what a line measures. The other end of a connection is in another\n" +
		"process.",
	ours:  "aio",
	cores: []int{1, 2},
	rows: []row{
		{what: "10,000 in turn: a turn", ours: "RoundRobin/tasks", peer: "RoundRobin/goroutines", unit: "cpu-ns/op", mark: 0.7},
		{what: "token round a ring of 10,000 (Lot): a hop", ours: "Ring/lots", peer: "Ring/channels", unit: "cpu-ns/op", mark: 0.7},
		{what: "token round a ring of 10,000 (Event): a hop", ours: "Ring/events", peer: "Ring/channels", unit: "cpu-ns/op", mark: 0.7},
		{what: "two hot tasks (Lot): there and back", ours: "PingPong/lots", peer: "PingPong/channels", unit: "cpu-ns/op", mark: 0.4},
		{what: "two hot tasks (Yield): there and back", ours: "PingPong/yield", peer: "PingPong/channels", unit: "cpu-ns/op", mark: 0.4},
		{what: "keep-alive GET of 4 KB, 64 at a time", ours: "Get/httpclient", peer: "Get/nethttp", unit: "cpu-ns/op", mark: 0.45},
		{what: "memory of a request that waits, beside net/http", ours: "Memory/httpclient", peer: "Memory/nethttp", unit: "rss-B/op", mark: 6 << 10, alone: true},
		{what: "the same, beside aiohttp", ours: "Memory/httpclient", peer: "Memory/aiohttp", unit: "rss-B/op", mark: 6 << 10, alone: true},
		{what: "echoes per CPU second, 1,000 clients", ours: "Echo/tasks", peer: "Echo/goroutines", unit: "echoes/cpu-s", mark: 1.1, least: true},
		{what: "set a timer, up to 1,000,000 pending", ours: "Timers/set/aio", peer: "Timers/set/runtime", unit: "cpu-ns/op", mark: 1},
		{what: "cancel one", ours: "Timers/cancel/aio", peer: "Timers/cancel/runtime", unit: "cpu-ns/op", mark: 1},
		{what: "fire one", ours: "Timers/fire/aio", peer: "Timers/fire/runtime", unit: "cpu-ns/op", mark: 1},
	},
	costs: &costs{
		about: "Bytes per waiter, of 10,000 (2 cores): growth of the process, and the part of it that survives a\ncollection.",
		heads: []string{"waits", "process", "heap", "stacks"},
		units: []string{"rss-B/op", "heap-B/op", "stack-B/op"},
		cores: 2,
		lines: []struct{ what, name string }{
			{"iter.Pull coroutine", "Memory/coroutine"},
			{"goroutine", "Memory/goroutine"},
			{"task", "Memory/task"},
			{"task with a Conn", "Memory/conn"},
			{"task in httpclient.Client.Get", "Memory/httpclient"},
			{"net/http", "Memory/nethttp"},
			{"aiohttp", "Memory/aiohttp"},
		},
	},
}

var webBytes = page{
	title: "The Web's bytes beside their peers",
	take: `Reading a page costs a fraction of what the usual Go libraries take: a link an eighteenth to a
fifth, a scan for links an eighth, gunzip half, a look-up of a name two fifths. Only unlabelled
UTF-8 takes longer than in golang.org/x/net, because Weft validates the whole page. Two marks are
missed, each by a little; [README.md](README.md) has the details.`,
	about: "`make bench-bytes` runs the benchmarks of weburl, links, internal/inflate, internal/charset and dns,\n" +
		"and bench/table writes this page; each benchmark's comment says what a line measures. Links\n" +
		"and pages come from two documentation sites: small is Python's, medium is Boost's. MB/s counts the\n" +
		"bytes read, or for gzip the bytes that come out, per second of CPU time. The page to convert to UTF-8\n" +
		"is 37 KB long.",
	ours:  "weft",
	cores: []int{1},
	rows: []row{
		{what: "link: resolve, canonical, fingerprint; beside net/url", ours: "Resolve/weft", peer: "Resolve/net-url", unit: "cpu-ns/op", mark: 120, alone: true},
		{what: "the same, beside whatwg-url", ours: "Resolve/weft", peer: "Resolve/whatwg-url", unit: "cpu-ns/op", mark: 120, alone: true},
		{what: "mallocs of it, beside net/url", ours: "Resolve/weft", peer: "Resolve/net-url", unit: "mallocs/op", mark: 0.2, alone: true},
		{what: "the same, beside whatwg-url", ours: "Resolve/weft", peer: "Resolve/whatwg-url", unit: "mallocs/op", mark: 0.2, alone: true},
		{what: "link not met lately, beside whatwg-url", ours: "Resolve/weft-first", peer: "Resolve/whatwg-url", unit: "cpu-ns/op"},
		{what: "link without fingerprint, beside whatwg-url", ours: "Resolve/weft-alone", peer: "Resolve/whatwg-url", unit: "cpu-ns/op"},

		{what: "small: scan, beside x/net's tokenizer", ours: "Sites/small/mentions", peer: "Sites/small/tokenizer", unit: "MB/cpu-s", mark: 8, least: true},
		{what: "medium: the same", ours: "Sites/medium/mentions", peer: "Sites/medium/tokenizer", unit: "MB/cpu-s", mark: 8, least: true},
		{what: "small: mallocs a page", ours: "Sites/small/mentions", peer: "Sites/small/tokenizer", unit: "mallocs/page"},
		{what: "medium: the same", ours: "Sites/medium/mentions", peer: "Sites/medium/tokenizer", unit: "mallocs/page"},
		{what: "small: mallocs a link", ours: "Sites/small/mentions", peer: "Sites/small/tokenizer", unit: "mallocs/link"},
		{what: "medium: the same", ours: "Sites/medium/mentions", peer: "Sites/medium/tokenizer", unit: "mallocs/link"},
		{what: "small: scan and resolve what a crawl follows, beside the tokenizer alone", ours: "Sites/small/crawl", peer: "Sites/small/tokenizer", unit: "MB/cpu-s"},
		{what: "medium: the same", ours: "Sites/medium/crawl", peer: "Sites/medium/tokenizer", unit: "MB/cpu-s"},
		{what: "small: scan and resolve everything, beside the tokenizer alone", ours: "Sites/small/everything", peer: "Sites/small/tokenizer", unit: "MB/cpu-s"},
		{what: "medium: the same", ours: "Sites/medium/everything", peer: "Sites/medium/tokenizer", unit: "MB/cpu-s"},

		{what: "small: gunzip, beside klauspost/compress", ours: "Gunzip/small/inflate", peer: "Gunzip/small/klauspost", unit: "MB/cpu-s"},
		{what: "the same, beside compress/gzip", ours: "Gunzip/small/inflate", peer: "Gunzip/small/stdlib", unit: "MB/cpu-s"},
		{what: "medium: gunzip, beside klauspost/compress", ours: "Gunzip/medium/inflate", peer: "Gunzip/medium/klauspost", unit: "MB/cpu-s"},
		{what: "the same, beside compress/gzip", ours: "Gunzip/medium/inflate", peer: "Gunzip/medium/stdlib", unit: "MB/cpu-s"},

		{what: "page to UTF-8: ASCII, beside x/net", ours: "UTF8/ASCII/weft", peer: "UTF8/ASCII/x-net", unit: "cpu-ns/op"},
		{what: "the same, labelled", ours: "UTF8/ASCII-labelled/weft", peer: "UTF8/ASCII-labelled/x-net", unit: "cpu-ns/op"},
		{what: "page to UTF-8: UTF-8", ours: "UTF8/UTF-8/weft", peer: "UTF8/UTF-8/x-net", unit: "cpu-ns/op"},
		{what: "the same, labelled", ours: "UTF8/UTF-8-labelled/weft", peer: "UTF8/UTF-8-labelled/x-net", unit: "cpu-ns/op"},
		{what: "page to UTF-8: windows-1251, labelled", ours: "UTF8/windows-1251-labelled/weft", peer: "UTF8/windows-1251-labelled/x-net", unit: "cpu-ns/op"},
		{what: "the same, detected", ours: "UTF8/windows-1251-detected/weft", unit: "cpu-ns/op"},
		{what: "page to UTF-8: Shift_JIS, labelled", ours: "UTF8/shift_jis-labelled/weft", peer: "UTF8/shift_jis-labelled/x-net", unit: "cpu-ns/op"},
		{what: "the same, detected", ours: "UTF8/shift_jis-detected/weft", unit: "cpu-ns/op"},

		{what: "look-up of a new name, 64 at a time, with the server's part; beside net.Resolver", ours: "Lookup/new", peer: "Lookup/net.Resolver", unit: "cpu-ns/op"},
		{what: "look-up of a known name", ours: "Lookup/known", unit: "cpu-ns/op"},
	},
}
