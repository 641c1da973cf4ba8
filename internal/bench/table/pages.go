package main

// page is one of docs/bench: a table of marks and, if there is one, a table of costs.
type page struct {
	title string
	about string // where the benchmarks are, and what of their figures is not plain
	ours  string // heads the column of our figures
	cores []int  // of every row
	rows  []row
	costs *costs
}

// row compares two benchmarks. Peers are absent where nobody else does it.
type row struct {
	what  string
	ours  string
	peer  string
	unit  string
	mark  float64 // of ours / peer, or of ours if alone; 0: none
	least bool    // mark is the least, else the most
	alone bool    // the mark is for our figure itself; the peer is there to compare
}

// costs is a table of one benchmark a line and one unit a column, at one number of cores.
type costs struct {
	about string
	heads []string // of the lines, then of each unit
	units []string
	cores int
	lines []struct{ what, name string }
}

var pages = map[string]page{"aio": aio, "bytes": webBytes}

var aio = page{
	title: "The event loop beside its peers",
	about: `Written by internal/bench/table from the benchmarks in internal/bench, which say what each line measures.
Whoever is at the other end of a connection is another process.`,
	ours:  "aio",
	cores: []int{1, 2},
	rows: []row{
		{what: "10,000 in turn: a turn", ours: "RoundRobin/tasks", peer: "RoundRobin/goroutines", unit: "cpu-ns/op", mark: 0.7},
		{what: "token round a ring of 10,000 (Lot): a hop", ours: "Ring/lots", peer: "Ring/channels", unit: "cpu-ns/op", mark: 0.7},
		{what: "token round a ring of 10,000 (Event): a hop", ours: "Ring/events", peer: "Ring/channels", unit: "cpu-ns/op", mark: 0.7},
		{what: "two hot tasks (Lot): there and back", ours: "PingPong/lots", peer: "PingPong/channels", unit: "cpu-ns/op", mark: 0.4},
		{what: "two hot tasks (Yield): there and back", ours: "PingPong/yield", peer: "PingPong/channels", unit: "cpu-ns/op", mark: 0.4},
		{what: "keep-alive GET of 4 KB, 64 at a time", ours: "Get/http1", peer: "Get/nethttp", unit: "cpu-ns/op", mark: 0.45},
		{what: "memory of a request that waits, beside net/http", ours: "Memory/http1", peer: "Memory/nethttp", unit: "rss-B/op", mark: 6 << 10, alone: true},
		{what: "the same, beside aiohttp", ours: "Memory/http1", peer: "Memory/aiohttp", unit: "rss-B/op", mark: 6 << 10, alone: true},
		{what: "echoes per CPU second, 1,000 clients", ours: "Echo/tasks", peer: "Echo/goroutines", unit: "echoes/cpu-s", mark: 1.1, least: true},
		{what: "set a timer, up to 1,000,000 pending", ours: "Timers/set/aio", peer: "Timers/set/runtime", unit: "cpu-ns/op", mark: 1},
		{what: "cancel one", ours: "Timers/cancel/aio", peer: "Timers/cancel/runtime", unit: "cpu-ns/op", mark: 1},
		{what: "fire one", ours: "Timers/fire/aio", peer: "Timers/fire/runtime", unit: "cpu-ns/op", mark: 1},
	},
	costs: &costs{
		about: "What one of 10,000 costs that wait, in bytes (2 cores): growth of the process, and what of it is left after a collection.",
		heads: []string{"waits", "process", "heap", "stacks"},
		units: []string{"rss-B/op", "heap-B/op", "stack-B/op"},
		cores: 2,
		lines: []struct{ what, name string }{
			{"iter.Pull coroutine", "Memory/coroutine"},
			{"goroutine", "Memory/goroutine"},
			{"task", "Memory/task"},
			{"task with a Conn", "Memory/conn"},
			{"task in http1.Client.Get", "Memory/http1"},
			{"net/http", "Memory/nethttp"},
			{"aiohttp", "Memory/aiohttp"},
		},
	},
}

var webBytes = page{
	title: "The Web's bytes beside their peers",
	about: `Written by internal/bench/table from the benchmarks in weburl, links, internal/inflate, internal/charset and dns,
which say what each line measures. Links and pages are those of two documentation sites: small is Python's, medium
is Boost's. MB/s is of the bytes read (of gzip: of those that come out), by CPU time. A page in some charset is 37 KB.`,
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
