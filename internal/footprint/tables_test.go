package footprint_test

import (
	"container/list"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/weftcrawl/weft"
	"github.com/weftcrawl/weft/cookies"
	"github.com/weftcrawl/weft/dns"
	"github.com/weftcrawl/weft/internal/budget"
)

// tables lists everything in a crawl that can grow, maps, slices and lists, by what bounds it: a
// share of the budget, by its name in budget.Shares, or words. TestTables compares it with the
// types. What is new belongs here, and what the Web can make grow without a bound does not exist.
var tables = map[string][]string{
	"Seen": {
		"frontier/seen.segment.buckets", "frontier/seen.segment.filter", "frontier/seen.packed.buckets", "frontier/seen.packed.far",
	},
	"Scope": {"scope/places.Set.slots"},
	"Hosts": { // evicted hosts are in the store, with their queues; so are names in a filter
		"frontier/names.Index.under", "frontier.origins.known", "frontier.group.siblings", "frontier.groups.addresses",
		"frontier.groups.domains", "frontier.evictionLine.hosts", "frontier.levels.own", "heap.Heap.items",
		"frontier.ownership.foreigners", "frontier.Partitions.loud",
	},
	"Pending": {"frontier/queue.Queue.buckets", "frontier/queue.bucket.items", "frontier.URL.Past"},
	"Bodies": { // each counts as held before it is made, or as it arrives
		"httpclient.Response.Body", "httpclient.Response.whole", "httpclient.Response.Header", "httpclient.Response.Trailer",
		"httpclient.parser.body", "httpclient.parser.lines", "httpclient.Response.wire", "httpclient.frames.marks", "httpclient.frames.text", "inflate.stream.out", "inflate.stream.src", "markup.Scanner.Body",
		"fetch.Outcome.Links", "fetch.Outcome.Lines", "fetch.Outcome.Targets", "fetch.Outcome.Holds", "engine.batch.holds",
		"links.positioner.body", "links.textOutput.body", "http2.Conn.out", "http2.fields.block", "http2.fields.list", "http2.input.payload",
		"capture.Capture.Records", "fetch.Outcome.ItemLines",
	},
	"Kept":     {"httpclient.buffers.free"},
	"Idle":     {"httpclient.pool.byRoute"},
	"Sessions": {"httpclient.sessions.known", "httpclient.sessions.used"},
	"Names":    {"dns.cache.known"},
	"Recent":   {"weburl.Memo.slots"},
	"Cookies":  {"cookies.Jar.mu.sites", "cookies.Jar.mu.order", "cookies.site.kept"},
	"Rules": {
		"robots.index.grams", "robots.index.order", "robots.index.prefixes", "robots.index.rules", "robots.index.wild",
		"robots.Rules.rules", "frontier.robotsCache.alike", "frontier.robotsCache.used", "frontier.robotsCache.unused",
	},
	"Originals":  {"capture.Archive.mu.young", "capture.Archive.mu.old"},
	"Duplicates": {"duplicates.state.entries", "duplicates.state.same", "duplicates.state.near"},
	"Again":      {"engine.endedURLs.at", "engine.endedURLs.order"},
	"Shapes":     {"scope/shapes.Table.shapes", "scope/shapes.Table.sketches"},
	"Batch": {
		"frontier/store.Batch.lines", "frontier/store.Batch.seen", "frontier/store.Batch.key", "frontier/store.Batch.value",
		"shard/changelog.Encoder.out", "shard/changelog.Log.blocks", "shard/changelog.Log.widened", "frontier/store.Batch.posted", "frontier/store.Message.Data",
		"frontier/store.Batch.dirs", "engine.batch.stream", "engine.batch.refs", "engine.archive.line", "engine.committer.line", "frontier.journal.changed", "frontier.seenSet.fresh", "frontier.seenSet.sealed",
		"frontier.refill.ended",
	},

	"one of a request in flight": { // and there are at most so many: budget.PerRequest
		"engine.again.leased", "aio.Group.errs", "aio.Queue.items", "aio.Reader.buf", "aio.Loop.coroutines", "aio.fdTable.byFD", "aio.fdTable.events", "aio.fdTable.free", "aio.fdTable.slots",
		"aio.future.callbacks", "aio.inbox.mu.posted", "aio.ready.ring", "aio.scopeContext.mu.after", "aio.timers.heap",
		"budget.Meter.mu.queue", "engine.committer.waiting", "engine.slots.queue", "engine.admission.waiting", "engine.admission.asked", "fetch.reports.ended",
		"fetch.Outcome.Dropped", "frontier.agenda.leased", "frontier.journal.leased", "frontier.robotsCache.starved",
		"httpclient.mux.barred", "httpclient.mux.out", "httpclient.mux.waiting", "httpclient.muxes.servers", "httpclient.Request.Body", "httpclient.Request.Header", "httpclient.server.conns", "http2.Conn.streams", "http2.Stream.unsent",
		"httpclient.channel.in", "httpclient.channel.message", "httpclient.channel.out", "httpclient.half.key", "httpclient.half.secret", "httpclient.shake.secrets", "httpclient.arrival.got", "httpclient.parser.line",
	},
	"one of a URL in what waits for admission": {
		"frontier.lookup.prints", "frontier.lookup.urls", "frontier.seenSet.asked", "frontier.seenSet.batch", "frontier.residency.asked",
		"frontier.Request.Fingerprints", "frontier.Request.Names", "frontier.Request.URLs",
	},
	"a buffer of a loop, of 64 KiB or less": {
		"aio.Loop.buffers", "httpclient.Client.opened", "fingerprint.Reader.buf", "fingerprint.sketch.own", "fingerprint.sketch.word", "links.collapsed.buf", "links.heading.spare", "links.attributes.decoded", "links.attributes.values",
		"links.passing.name", "links.foreign.open", "links.scanner.role", "links.scanner.style", "links.scanner.background", "links.scanner.hidden", "links.element.links",
		"markup.Scanner.CDATA", "markup.Scanner.Name", "markup.Scanner.Text", "weburl.Resolver.block",
	},
	"an exchange of a loop that is archived: its heads, and 512 pieces of its body": {
		"fetch.archived.head", "fetch.archived.pieces", "fetch.archived.request",
		"warc.Digest.Sum", "warc.Exchange.Protocols", "warc.Exchange.Request", "warc.Exchange.Response", "warc.Exchange.Rest", "warc.Parts.Payload",
		"warc.Encoder.about", "warc.Encoder.fields", "warc.Encoder.parts", "warc.Encoder.sum", "deflate.Encoder.text",
	},
	"two files of the archive, 96 blocks of 64 KiB": {"frontier/store.Batch.ended", "frontier/store.series.open", "frontier/store.spare.free"},
	"4,096 hosts, and 1,024 sitemaps, of a loop":    {"fetch.lines.weights", "fetch.pageReader.known"},

	"65,536 entries": {"frontier.ownership.sent", "engine.reach.origins", "fetch.reach.known", "frontier.redirects.hops", "engine.nested.by"},
	"4,096 entries, and 128 certificates of at most 4 KiB, of a loop": {"httpclient.verifier.chains", "httpclient.verifier.issuers"},
	"16,384 entries":                              {"engine.again.pending"},
	"16,384 entries, and 1 MiB of URLs":           {"engine.resting.urls"},
	"redirects in a row, at most --max-redirects": {"engine.intent.past"},
	"4,096 entries":                               {"engine.http1.hosts", "appshell/lessons.Table.mu.shapes"},
	"10,000 entries":                              {"httpclient.muxes.habits", "engine.shortage.since", "scope/shapes.Table.traps"},
	"5 hosts":                                     {"engine.outage.lost"},
	"4 MiB":                                       {"frontier/variants.Counter.counts", "frontier.redirects.middle"},
	"65,536 entries and 4 MiB of URLs, and as much that is looked up": {"frontier.nearer.ways", "frontier.nearer.asked", "frontier.nearer.names"},
	"hosts evicted during one look-up, or depths of those in memory":  {"frontier.nearer.left", "frontier.levels.vacant", "frontier.levels.dormant", "frontier.tally.joint"},
	"partitions of a crawl": {
		"engine.drain.numbers", "engine.admission.between", "engine.sharing.drains", "engine.NodeConfig.Held", "frontier.Config.Ours", "frontier.ownership.held", "frontier.ownership.late", "frontier.ownership.leaving",
		"frontier.ownership.ours", "frontier.ownership.tally",
	},
	"addresses that are requested, 256, and as many every 250 ms while no home replies": {"shard/share.Holder.all"},
	"commits of 3 s":                                 {"engine.undelivered.batches"},
	"messages that other nodes send at once":         {"engine.batch.after", "engine.Coordinator.early"},
	"1,000 of a robots.txt, while it is read":        {"fetch.Robots.Sitemaps"},
	"those that the store asks for at once":          {"frontier.refills.wanted", "engine.batch.reads", "frontier.dormant.left"},
	"collected after each lease":                     {"frontier.agenda.refused", "frontier.patience.givenUp"},
	"a field or a directive of a page in flight":     {"links.Robots.Directives", "record.Record.Robots", "record.Record.Headers"},
	"outcomes, classes of status, kinds":             {"record.Work.URLs", "record.Work.Statuses", "record.Work.Errors", "record.Work.Unrendered"},
	"100 content types, 20 hosts, 10 slowest, kinds": {"record.Summary.ContentTypes", "record.Summary.Statuses", "record.Summary.Errors", "record.Summary.NotFollowed", "record.Summary.Unrendered", "record.Summary.Opened", "record.Summary.Slowest", "record.Summary.Broken", "record.Summary.GivenUp", "record.Summary.Traps", "job.History.NotFollowed"},
	"2 MiB of a page, of which there is one a loop unless it is short": {
		"fetch.Outcome.Items", "record.Item.Fields", "record.Item.Missing", "record.Item.Notes", "record.Structured.JSONLD", "record.Structured.Meta", "record.Structured.Microdata",
		"record.Structured.DublinCore", "record.Structured.OpenGraph", "record.Structured.RDFa", "record.Structured.Twitter", "record.Thing.Properties", "record.Thing.Type",
	},
	"a sixteenth of Memory: see httpcache.New":          {"httpcache.Cache.entries", "httpcache.Response.Body", "httpcache.Response.Header"},
	"half a share of bodies: see fetch.Shared.Rendered": {"frontier.rendering.of"},
	"pages rendered at once, four a tab, within render.Limits": {
		"fetch.Outcome.Folders", "fetch.Outcome.Pictures", "frontier.Errands.leased", "frontier.Errands.refused", "frontier.Errands.waiting", "frontier.errands.own", "frontier.errands.foreign",
		"record.Rendered.Errors", "record.Rendered.Failed", "record.Rendered.Refused", "render.Document.Errors", "render.Document.Frames",
		"render.Document.PDF", "render.Document.Refused", "render.Document.Screenshot", "render.Document.Targets", "render.Page.Body",
		"render.Page.Header", "render.browser.idle", "render.browser.in", "render.browser.tabs", "render.conn.replies", "render.run.early", "render.run.open", "render.browser.stale", "render.tab.stale", "render.queue.taken", "render.queue.waiting", "render.services.pids", "render.patience.pauses", "render.patience.first", "render.frames.all", "render.frames.loading", "render.frames.origins", "render.frames.parents", "render.paused.Request.Headers", "render.paused.Request.PostDataEntries", "render.paused.Request.PostDataEntries.Bytes", "render.paused.body", "render.conn.text",
		"render.tab.origins", "render.tab.cookies", "render.Page.Cookies", "render.tail.text", "render.clocks.all", "render.conn.crashed",
	},
	"private networks that there are": {"guard.Guard.open", "job.Job.Networks"},
	"2 MiB of a hosts file":           {"dns.names.bits"},
	"what the user gives, or 1,000 seeds ahead": {
		"record.Form.Fields", "record.Stream.fields",
		"css.Selector.all", "css.complex.combinators", "css.complex.compounds", "css.compound.tests", "login.About.Form", "login.About.Stores",
		"login.Session.mu.form", "login.Session.mu.holds", "login.Session.mu.set", "login.Session.mu.sites", "login.Store.Items", "render.Page.Stores", "render.Store.Items",
		"blocklist.domains.sorted", "blocklist.table.entries", "blocklist.table.keyless", "blocklist.table.rules", "blocklist.table.starts", "fetch.Rendering.Block",
		"dns.Resolver.sick", "dns.conf.search", "dns.conf.servers", "dns.files.servers",
		"engine.Config.Late", "engine.refusals.exclusions", "engine.Config.Seeds", "engine.loops.free", "engine.loops.assigned", "engine.loops.all", "engine.pauses.reasons",
		"engine.seeds.held", "fetch.Config.DNS", "fetch.Config.Headers", "fetch.reach.given", "frontier/store.Store.outputs", "httpclient.Client.auth", "httpclient.Client.secrets", "httpclient.Client.shared", "httpclient.Options.Auth",
		"httpclient.Options.Header", "httpclient.Options.Resolve", "httpclient.header.fields", "httpclient.header.lower", "httpclient.names.overrides",
		"capture.Archive.Secret", "engine.ArchiveConfig.About", "engine.archive.about", "frontier/store.Store.fixed",
		"record.ItemCounts.Missing", "job.Plan.Extract", "job.Plan.Posts", "fetch.Shared.Posts", "fetch.fetcher.posts", "fetch.archiver.posts", "seed.Post.Body", "job.Job.Promised", "job.Plan.Guessed", "job.Plan.Added", "job.Plan.Exclude", "job.Plan.Include", "job.Plan.Late", "job.Plan.Seeds", "scope.Rules.Exclude", "scope.Rules.Include",
	},
}

// TestTables: everything in a crawl that can grow is listed with its bound, and what is listed
// exists. Shares do not grow with the number of loops.
func TestTables(t *testing.T) {
	listed := make(map[string]bool)
	shares := reflect.TypeFor[budget.Shares]()
	for bound, names := range tables {
		if _, isShare := shares.FieldByName(bound); !isShare && !strings.Contains(bound, " ") {
			t.Errorf("%s is no share of the budget", bound)
		}
		for _, name := range names {
			listed[name] = true
		}
	}
	found := growing(new(weft.Crawler), new(cookies.Jar), new(dns.Resolver))
	for _, name := range found {
		if !listed[name] {
			t.Errorf("%s can grow: expected its bound in the list", name)
		}
		delete(listed, name)
	}
	for name := range listed {
		t.Errorf("%s is listed, and not found", name)
	}
	const loops = 8
	if names := loops * (budget.Split(budget.Default, loops).Names / dns.NameBytes); names < 65_000 {
		t.Errorf("there is room for %d names, expected 65,000 at least", names)
	}
	for _, memory := range []int{budget.Least, budget.Default} {
		if one, many := total(memory, 1), total(memory, 16); many > one || one > memory {
			t.Errorf("the shares of %d bytes come to %d with one loop, and to %d with 16", memory, one, many)
		}
	}
}

// total returns what all shares of a budget come to, in bytes.
func total(memory, loops int) int {
	s := budget.Split(memory, loops)
	perLoop := 2*s.Kept + s.Idle + s.Sessions + s.Names + s.Recent
	shared := s.Seen + s.Scope + s.Hosts + s.Pending + s.Bodies + 2*s.Buffer + s.Cache + s.Rules + s.Duplicates + s.Shapes + 2*s.Batch + s.Cookies
	return shared + loops*perLoop
}

const module = "github.com/weftcrawl/weft/"

// typeArguments are those of a generic type, in its name.
var typeArguments = regexp.MustCompile(`\[.*\]`)

// growing returns the fields that can grow of every type of this module that one of the roots leads
// to, as PACKAGE.TYPE.FIELD, without internal/. It does not see behind interfaces and functions.
func growing(roots ...any) []string {
	var found []string
	seen := make(map[reflect.Type]bool)
	var walk func(t reflect.Type, at string)
	walk = func(t reflect.Type, at string) {
		switch t.Kind() {
		case reflect.Map, reflect.Slice:
			found = append(found, at)
			if t.Kind() == reflect.Map {
				walk(t.Key(), at)
			}
			walk(t.Elem(), at)
		case reflect.Array, reflect.Pointer:
			walk(t.Elem(), at)
		case reflect.Struct:
			switch {
			case t == reflect.TypeFor[list.List]():
				found = append(found, at)
			case t.PkgPath() == "sync/atomic" && strings.HasPrefix(t.Name(), "Pointer["):
				walk(t.Field(0).Type.Elem(), at) // its first field is an array of none, for the type
			case seen[t] || t.Name() != "" && !strings.HasPrefix(t.PkgPath()+"/", module):
			default:
				seen[t] = true
				name := at // of a struct without a name
				if t.Name() != "" {
					name = typeArguments.ReplaceAllString(strings.TrimPrefix(strings.TrimPrefix(t.PkgPath(), module), "internal/")+"."+t.Name(), "")
				}
				for i := range t.NumField() {
					walk(t.Field(i).Type, name+"."+t.Field(i).Name)
				}
			}
		}
	}
	for _, root := range roots {
		walk(reflect.TypeOf(root), "")
	}
	slices.Sort(found)
	return slices.Compact(found)
}
