package archtest

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
)

const module = "github.com/weftcrawl/weft"

// imports is the import table: for each package, what it may import besides the standard library.
// Imports run one way, from a level to a lower one. Tests may import more.
var imports = map[string][]string{
	// Level 0: ground. The standard library, golang.org/x and small codecs.
	"aio":                      {"aio/internal/poll", "golang.org/x/sys/unix"},
	"aio/internal/poll":        {"golang.org/x/sys/unix"},
	"aio/aiotest":              {"aio", "golang.org/x/sys/unix"},
	"internal/http2/http2test": {"golang.org/x/net/http2/hpack"},
	"internal/budget":          {"aio"},
	"guard":                    {},
	"weburl": {"internal/idna", "github.com/cespare/xxhash/v2", "golang.org/x/net/publicsuffix", "golang.org/x/text/encoding",
		"golang.org/x/text/encoding/charmap", "golang.org/x/text/encoding/htmlindex", "golang.org/x/text/encoding/japanese"},

	// Level 1: what a crawler reads and says.
	"cookies":              {"golang.org/x/net/publicsuffix"},
	"dns":                  {"aio", "internal/regular", "golang.org/x/net/dns/dnsmessage"},
	"links":                {"weburl", "robots", "internal/feed", "internal/markup", "golang.org/x/net/http/httpguts"},
	"internal/refs":        {"record", "internal/regular", "weburl", "github.com/klauspost/compress/s2"},
	"robots":               {},
	"sitemap":              {"weburl", "internal/charset", "internal/feed", "internal/inflate", "internal/markup"},
	"internal/fingerprint": {"links", "internal/markup", "github.com/cespare/xxhash/v2"},
	"markdown": {
		"weburl",
		"golang.org/x/net/html",
		"golang.org/x/net/html/atom",
	},
	"warc":    {"internal/deflate", "internal/inflate", "github.com/andybalholm/brotli", "github.com/klauspost/compress/flate", "github.com/klauspost/compress/gzip", "github.com/klauspost/compress/zlib", "github.com/klauspost/compress/zstd"},
	"results": {"archive", "record", "warc", "internal/extsort"},
	"extract": {
		"content",
		"internal/charset",
		"internal/css",
		"internal/near", "internal/pattern",
		"record",
		"results",
		"weburl",
		"github.com/antchfx/xpath",
		"golang.org/x/net/html",
		"golang.org/x/net/html/atom",
	},
	"archive":        {"internal/cdxj", "internal/extsort", "internal/filename", "internal/regular", "warc", "weburl"},
	"content":        {"internal/blocks", "internal/markup", "weburl", "github.com/cespare/xxhash/v2", "golang.org/x/net/html", "golang.org/x/net/html/atom"},
	"internal/cdxj":  {"internal/atomicfile", "internal/extsort", "internal/regular", "warc"},
	"replay":         {"archive", "internal/loopback", "warc", "weburl", "internal/atomicfile", "internal/charset", "internal/markup", "internal/rewrite", "internal/sniff"},
	"wacz":           {"internal/cdxj", "internal/charset", "internal/extsort", "internal/regular", "internal/job", "links", "record", "warc", "github.com/klauspost/compress/gzip"},
	"internal/http2": {"golang.org/x/net/http2/hpack"},
	"httpclient":     {"aio", "internal/budget", "dns", "guard", "internal/http2", "internal/inflate", "golang.org/x/net/proxy", "github.com/andybalholm/brotli", "github.com/klauspost/compress/zstd"},

	// Shared by loops, with a short lock of its own, as cookies is.
	"internal/appshell/lessons": {"internal/appshell", "internal/markup", "weburl", "github.com/cespare/xxhash/v2"},
	"internal/duplicates":       {"internal/fingerprint"},
	"internal/capture":          {"internal/frontier", "record", "warc"},

	// Level 2: what it decides. Never a loop, a clock or a store.
	"internal/frontier":          {"record", "weburl", "robots", "internal/frontier/names", "internal/frontier/queue", "internal/frontier/seen", "internal/frontier/variants", "internal/heap"},
	"internal/frontier/names":    {"weburl"},
	"internal/frontier/queue":    {},
	"internal/frontier/seen":     {},
	"internal/frontier/variants": {"weburl"},
	"internal/heap":              {},

	"internal/shard/changelog": {"internal/frontier", "internal/fields", "robots", "weburl"},

	// Its durable half: the only one that sees Pebble.
	"internal/frontier/store":           {"internal/frontier", "internal/fields", "weburl", "robots", "github.com/cockroachdb/pebble/v2", "github.com/cockroachdb/pebble/v2/bloom", "github.com/cockroachdb/pebble/v2/vfs", "github.com/RaduBerinde/btreemap", "golang.org/x/sys/unix"},
	"internal/frontier/store/storetest": {"internal/frontier/store", "github.com/cockroachdb/pebble/v2/vfs"},

	// Level 3: a crawl. Where it goes, what it writes, its folder; fetch loops, then the
	// coordinator.
	"option":                {},
	"record":                {},
	"internal/scope":        {"option", "guard", "internal/scope/places", "weburl"},
	"internal/scope/places": {},
	"internal/scope/shapes": {"weburl"},
	"seed":                  {"httpclient", "weburl"},
	"internal/job":          {"internal/filename", "option", "internal/capture", "internal/cdxj", "internal/extsort", "internal/frontier", "internal/frontier/store", "guard", "internal/ctl", "record", "internal/refs", "robots", "internal/scope", "seed", "weburl"},
	"internal/fetch":        {"internal/login", "internal/blocklist", "internal/httpcache", "internal/render", "aio", "internal/budget", "internal/capture", "dns", "internal/duplicates", "internal/frontier", "guard", "httpclient", "internal/appshell", "internal/appshell/lessons", "internal/charset", "internal/sniff", "links", "record", "internal/refs", "robots", "internal/scope", "seed", "sitemap", "internal/fingerprint", "warc", "weburl"},
	"internal/engine":       {"aio", "internal/appshell/lessons", "internal/budget", "internal/capture", "internal/shard/changelog", "internal/shard/share", "internal/duplicates", "internal/fetch", "internal/frontier", "internal/frontier/store", "guard", "internal/job", "record", "internal/refs", "robots", "internal/scope", "internal/scope/shapes", "seed", "warc", "weburl", "github.com/dustin/go-humanize"},

	// A crawl on several machines: what is decided without a network.
	"internal/shard/partition": {"weburl"},
	"internal/shard/ownership": {},
	"internal/shard/ending":    {"internal/shard/ownership"},
	"internal/shard/sending":   {"internal/shard/changelog", "internal/frontier/store"},
	"internal/shard/share":     {"internal/shard/ownership", "internal/shard/partition", "internal/fields", "internal/heap"},
	"internal/shard/shardtest": {"internal/shard/ownership"},

	// The only one that sees the server of NATS, which is for a command of its own.
	"internal/collect":    {"internal/cdxj", "internal/extsort", "internal/job", "results"},
	"internal/natslogin":  {},
	"internal/natsserver": {"internal/natslogin", "github.com/cockroachdb/pebble/v2/vfs", "github.com/nats-io/nats-server/v2/server"},
	"cmd/weft-nats":       {"internal/natslogin", "internal/natsserver", "github.com/dustin/go-humanize", "github.com/spf13/pflag"},

	// Level 4: looking at a crawl, and steering it.
	"inspect":          {"option", "record"},
	"internal/view":    {"inspect", "internal/engine", "internal/fetch", "internal/frontier", "internal/frontier/store", "internal/job", "record", "robots", "internal/scope", "internal/scope/shapes", "seed", "weburl"},
	"internal/control": {"internal/engine", "internal/frontier", "internal/frontier/store", "inspect", "internal/ctl", "internal/job", "internal/pattern", "internal/view", "seed"},

	// Level 5: the product, above what opens a crawl.
	"internal/crawl": {"internal/appshell/lessons", "internal/blocklist", "internal/httpcache", "internal/render", "aio", "extract", "internal/capture", "inspect", "internal/cdxj", "internal/control", "internal/engine", "internal/fetch", "internal/frontier/store", "internal/job", "internal/scope", "internal/view", "record", "seed", "warc", "weburl"},
	".":              {"internal/login", "internal/appshell", "internal/blocklist", "internal/render", "option", "aio", "dns", "guard", "internal/budget", "internal/charset", "internal/control", "internal/crawl", "internal/engine", "internal/sniff", "extract", "internal/fetch", "internal/flat", "internal/frontier/store", "httpclient", "inspect", "internal/job", "links", "record", "robots", "internal/refs", "internal/scope", "internal/view", "seed", "warc", "weburl", "github.com/PuerkitoBio/goquery", "github.com/dustin/go-humanize", "golang.org/x/sys/unix"},

	// A crawl on several machines: the only one that sees NATS.
	"cluster": {
		"internal/collect",
		"internal/control",
		".",
		"internal/shard/changelog",
		"internal/shard/ending",
		"internal/shard/ownership",
		"internal/shard/partition",
		"internal/shard/sending",
		"internal/shard/share",
		"internal/crawl",
		"internal/engine",
		"internal/frontier/store",
		"httpclient",
		"internal/atomicfile",
		"internal/flat", "internal/job",
		"github.com/klauspost/compress/s2",
		"github.com/nats-io/nats.go",
		"github.com/nats-io/nats.go/jetstream",
		"github.com/nats-io/nuid",
		"golang.org/x/sys/unix",
	},

	// Uses of a job, and those that crawl it first.
	"check":  {".", "archive", "guard", "internal/fetch", "results", "links", "record", "internal/refs", "sitemap", "warc", "weburl", "internal/appshell", "internal/charset", "internal/extsort", "internal/markup", "github.com/cespare/xxhash/v2", "github.com/yuin/goldmark", "github.com/yuin/goldmark/ast", "github.com/yuin/goldmark/extension", "github.com/yuin/goldmark/parser", "github.com/yuin/goldmark/renderer/html", "github.com/yuin/goldmark/text", "github.com/yuin/goldmark/util", "golang.org/x/net/html"},
	"mirror": {".", "results", "record", "weburl", "internal/charset", "internal/filename", "internal/markup", "internal/rewrite"},
	"export": {
		".", "internal/job", "record", "results", "internal/extsort", "internal/near", "internal/where",
		"internal/parquetfile", "internal/sqlitefile", "internal/refs", "internal/regular", "weburl",
	},

	"diff": {
		".", "archive", "content", "extract", "record", "results", "warc", "weburl",
		"internal/blocks", "internal/charset", "internal/extsort", "internal/fingerprint", "internal/unseen",
		"github.com/cespare/xxhash/v2", "github.com/dustin/go-humanize", "github.com/dustin/go-humanize/english",
		"github.com/sergi/go-diff/diffmatchpatch", "golang.org/x/net/html", "golang.org/x/net/html/atom",
	},

	"read": {
		"content",
		"internal/appshell",
		"internal/duplicates",
		"markdown",
		"record",
		"results",
		"weburl",
		"internal/charset",
		"internal/extsort",
		"internal/filename",
		"internal/unseen",
		"internal/where",
		"github.com/cespare/xxhash/v2",
		"golang.org/x/net/html",
		"golang.org/x/net/html/atom",
	},

	// A door to the job for browsers.
	"internal/live": {".", "inspect", "internal/control", "internal/frontier/store", "internal/loopback", "internal/share", "record", "results", "weburl"},

	// Whose places and bytes are whose.
	"internal/share": {},

	// Live pages for strangers.
	"internal/scrape": {
		".", "content", "cookies", "extract", "guard", "httpclient", "internal/charset", "internal/share", "internal/unseen", "links", "option", "read", "record", "robots", "sitemap", "weburl",
		"golang.org/x/net/html",
	},
	// Running crawls for monitoring.
	"internal/metrics":  {"inspect", "internal/loopback", "record"},
	"internal/webhook":  {".", "guard", "httpclient", "internal/crawls", "internal/regular", "internal/share", "record"},
	"internal/crawls":   {"internal/atomicfile", "internal/control", "internal/regular", "internal/schedule", "record", "results", "seed", "github.com/pelletier/go-toml/v2"},
	"internal/schedule": {"internal/near", "github.com/netresearch/go-cron"},
	"internal/traces":   {"record", "weburl"},

	// What others' clients ask for.
	"internal/firecrawl": {".", "extract", "httpclient", "record", "results", "internal/crawls", "internal/pattern", "internal/scrape", "internal/share", "internal/webhook"},

	"internal/serve": {
		".", "check", "export", "extract", "httpclient", "inspect", "read", "results", "record", "weburl", "internal/firecrawl", "internal/webhook",
		"internal/atomicfile", "internal/crawls", "internal/live", "internal/loopback", "internal/metrics", "internal/mcp", "internal/regular", "internal/schedule", "internal/scrape", "internal/share", "internal/view", "internal/where",
		"github.com/danielgtaylor/huma/v2", "github.com/danielgtaylor/huma/v2/adapters/humago", "github.com/danielgtaylor/huma/v2/conditional",
	},

	"internal/mcp": {
		".", "check", "extract", "httpclient", "inspect", "internal/charset", "internal/crawls", "internal/scrape", "internal/share", "internal/unseen", "read", "record", "results", "weburl",
		"github.com/google/jsonschema-go/jsonschema", "github.com/modelcontextprotocol/go-sdk/jsonrpc", "github.com/modelcontextprotocol/go-sdk/mcp",
	},

	// Level 6: the command and the examples.
	"cmd/weft": {
		"inspect",
		"internal/crawls",
		"internal/firecrawl", // its form of webhooks
		"internal/live",
		"internal/loopback",
		"internal/metrics",
		"internal/schedule",
		"internal/scrape",
		"internal/traces",
		"internal/serve",
		"internal/webhook",
		"internal/mcp",
		"cluster",
		"internal/natslogin",
		"read",
		"results",
		".", "export", "internal/frontier", "httpclient", "links", "record", "internal/refs", "replay", "robots", "sitemap", "wacz", "warc", "weburl", "archive", "internal/charset", "internal/near", "internal/pattern", "internal/render", "internal/sniff", "internal/webtest", "internal/where", "github.com/spf13/cobra", "github.com/spf13/pflag",
		"check",
		"content",
		"diff",
		"extract",
		"internal/atomicfile", "internal/config",
		"mirror",
		"github.com/charmbracelet/x/ansi", "github.com/charmbracelet/x/term",
		"cookies", "golang.org/x/net/http/httpproxy",
		"github.com/dustin/go-humanize", "github.com/dustin/go-humanize/english", "golang.org/x/sys/unix",
	},

	"examples/crawl":    {"."},
	"examples/extract":  {".", "httpclient", "links", "weburl"},
	"examples/polite":   {".", "httpclient", "weburl"},
	"examples/echo":     {"aio"},
	"examples/timeouts": {"aio"},
	"examples/loops":    {"aio"},
	"examples/tls":      {"aio"},

	"internal/archtest":   {},
	"internal/atomicfile": {},
	"internal/browser":    {},
	"internal/charset": {
		"internal/markup",
		"golang.org/x/text/encoding", "golang.org/x/text/encoding/charmap", "golang.org/x/text/encoding/htmlindex", "golang.org/x/text/encoding/japanese",
		"golang.org/x/text/encoding/simplifiedchinese", "golang.org/x/text/encoding/unicode", "golang.org/x/text/transform",
	},
	"internal/conformance": {},
	"internal/deflate":     {},
	"internal/durability":  {},
	"internal/sites":       {},
	"internal/footprint":   {},
	"internal/ctl":         {},
	"internal/extsort":     {},
	"internal/parquetfile": {"github.com/klauspost/compress/zstd"},
	"internal/sqlitefile":  {"internal/extsort"},
	"internal/filename":    {"internal/markup", "golang.org/x/text/unicode/norm"},
	"internal/rewrite":     {"links", "weburl", "internal/charset", "internal/markup"},
	"internal/feed":        {"internal/markup"},
	"internal/golden":      {},
	"internal/leaves":      {},
	"internal/idna":        {"golang.org/x/net/idna", "golang.org/x/text/unicode/norm"},
	"internal/idna/gen":    {"internal/idna", "golang.org/x/net/idna", "golang.org/x/text/unicode/bidi"},
	"internal/inflate":     {},
	"internal/long":        {},
	"internal/markup":      {"golang.org/x/net/html"},
	"internal/blocklist":   {"weburl"},
	"internal/httpcache":   {"httpclient"},
	"internal/blocks":      {"golang.org/x/net/html", "golang.org/x/net/html/atom"},
	"internal/config":      {"github.com/pelletier/go-toml/v2", "github.com/pelletier/go-toml/v2/unstable"},
	"internal/login":       {"cookies", "internal/atomicfile", "internal/css", "weburl", "golang.org/x/net/html"},
	"internal/css":         {"internal/near", "golang.org/x/net/html", "golang.org/x/net/html/atom"},
	"internal/fields":      {},
	"internal/flat":        {},
	"internal/loopback":    {},
	"internal/mounts":      {},
	"internal/mutants":     {},
	"internal/near":        {},
	"internal/pattern":     {},
	"internal/process":     {},
	"internal/regular":     {},
	"internal/sniff":       {"internal/markup"},
	"internal/appshell":    {"internal/markup"},
	"internal/render":      {"internal/markup", "weburl"},
	"internal/cost":        {"internal/process"},

	"internal/unseen": {"golang.org/x/net/html", "golang.org/x/net/html/atom"},
	"internal/where": {
		"internal/near", "internal/pattern",
		"github.com/expr-lang/expr", "github.com/expr-lang/expr/ast", "github.com/expr-lang/expr/builtin", "github.com/expr-lang/expr/file", "github.com/expr-lang/expr/parser", "github.com/expr-lang/expr/vm",
	},

	// The synthetic web: what tests and the demonstration crawl.
	"internal/webtest":         {"aio", "github.com/klauspost/compress/gzip", "golang.org/x/net/dns/dnsmessage", "golang.org/x/sys/unix"},
	"internal/webtest/webtest": {"internal/webtest"},
	"internal/crawltest":       {".", "aio", "aio/aiotest", "httpclient", "internal/crawl", "internal/webtest", "weburl", "golang.org/x/sys/unix"},
	"internal/torture":         {".", "internal/frontier/store", "internal/webtest", "internal/refs", "warc", "warc"},
	"internal/servers":         {"internal/process"},
	"internal/pages":           {},
	"internal/rendered":        {},
	"internal/rendered/faults": {},
	"internal/commands":        {},
	"internal/served":          {},
	"internal/wefttest":        {"internal/process", "internal/render", "record"},
}

// pure packages neither look at a clock nor start anything nor touch the world.
var pure = []string{
	"internal/blocklist",
	"internal/css",
	"internal/unseen",
	"content", "guard", "weburl", "links", "robots", "sitemap", "internal/fingerprint", "inspect", "record", "internal/scope", "internal/scope/shapes", "option", "seed", "internal/blocks", "internal/deflate", "internal/feed", "internal/heap", "internal/idna", "internal/inflate", "internal/markup", "internal/sniff", "internal/appshell", "markdown",
	"internal/frontier", "internal/frontier/names", "internal/frontier/queue", "internal/frontier/seen", "internal/frontier/variants", "internal/http2",
	"internal/charset", "internal/config", "internal/fields", "internal/near", "internal/pattern", "internal/rewrite",
	"internal/shard/changelog", "internal/shard/ending", "internal/shard/ownership", "internal/shard/partition", "internal/shard/sending", "internal/shard/share",
}

// pureImports are the packages that a pure package may not import.
var pureImports = []string{"context", "io/fs", "net", "net/http", "os", "sync", "sync/atomic", "syscall"}

// ofTime are the functions of package time that a pure package may not call: it is given the time.
var ofTime = []string{"After", "AfterFunc", "NewTicker", "NewTimer", "Now", "Since", "Sleep", "Tick", "Until"}

type file struct {
	pkg  string // folder, "." for the root
	name string
	test bool
	own  bool // of the product's module, not of bench
	ast  *ast.File
	fset *token.FileSet
}

func (f file) at(n ast.Node) string {
	return fmt.Sprintf("%s:%d", filepath.Join(f.pkg, f.name), f.fset.Position(n.Pos()).Line)
}

// files returns all Go files of the module, for whatever system they are.
func files(t *testing.T) []file {
	t.Helper()
	return slices.DeleteFunc(slices.Clone(allFiles(t)), func(f file) bool { return !f.own })
}

// allFiles returns the Go files of all modules of the repository.
func allFiles(t *testing.T) []file {
	t.Helper()
	all, err := parsed()
	if err != nil {
		t.Fatal(err)
	}
	return all
}

var parsed = sync.OnceValues(parseAll)

func parseAll() ([]file, error) {
	root := "../.."
	var all []file
	var others []string // folders of other modules
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if name := d.Name(); path != root && (strings.HasPrefix(name, ".") || name == "testdata") {
				return filepath.SkipDir
			}
			if _, err := os.Stat(filepath.Join(path, "go.mod")); err == nil && path != root {
				others = append(others, path+"/")
			}
			return nil
		}
		if !strings.HasSuffix(path, ".go") {
			return nil
		}
		fset := token.NewFileSet()
		tree, err := parser.ParseFile(fset, path, nil, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		dir, err := filepath.Rel(root, filepath.Dir(path))
		own := !slices.ContainsFunc(others, func(other string) bool { return strings.HasPrefix(path, other) })
		all = append(all, file{dir, d.Name(), strings.HasSuffix(path, "_test.go"), own, tree, fset})
		return err
	})
	return all, err
}

func TestImports(t *testing.T) {
	used := make(map[string]bool)
	for _, f := range files(t) {
		allowed, known := imports[f.pkg]
		if !known {
			t.Errorf("%s: package %s is not in the import table", f.name, f.pkg)
			continue
		}
		if f.test {
			continue
		}
		for _, spec := range f.ast.Imports {
			path, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				t.Fatal(err)
			}
			if first, _, _ := strings.Cut(path, "/"); !strings.Contains(first, ".") {
				continue // the standard library
			}
			if path == module {
				path = "."
			}
			path = strings.TrimPrefix(path, module+"/")
			used[f.pkg+" "+path] = true
			if !slices.Contains(allowed, path) {
				t.Errorf("%s: %s may not import %s", f.at(spec), f.pkg, path)
			}
		}
	}
	for pkg, allowed := range imports {
		if _, err := os.Stat(filepath.Join("../..", pkg)); err != nil {
			t.Errorf("the import table has %s, which does not exist", pkg)
			continue
		}
		for _, path := range allowed {
			if !used[pkg+" "+path] && !strings.HasPrefix(pkg, "bench/loops") { // whose files are tests
				t.Errorf("the import table lets %s import %s, which it does not", pkg, path)
			}
		}
	}
}

func TestPurePackages(t *testing.T) {
	for _, f := range files(t) {
		if f.test || !slices.Contains(pure, f.pkg) {
			continue
		}
		for _, spec := range f.ast.Imports {
			if path, _ := strconv.Unquote(spec.Path.Value); slices.Contains(pureImports, path) && (path != "sync" || !onlyOnce(f)) {
				t.Errorf("%s: a pure package imports %s", f.at(spec), path)
			}
		}
		ast.Inspect(f.ast, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.GoStmt:
				t.Errorf("%s: a pure package starts a goroutine", f.at(n))
			case *ast.ChanType:
				t.Errorf("%s: a pure package has a channel", f.at(n))
			case *ast.SelectorExpr:
				if x, ok := n.X.(*ast.Ident); ok && x.Name == "time" && slices.Contains(ofTime, n.Sel.Name) {
					t.Errorf("%s: a pure package calls time.%s", f.at(n), n.Sel.Name)
				}
			}
			return true
		})
	}
}
