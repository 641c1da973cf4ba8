package archtest

import (
	"go/ast"
	"go/token"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// doors are the places where goroutines meet: a file, a package, or with a final /... all packages
// below a folder, each with the reason. All other code is owned by one loop or one caller: it
// starts no goroutine, has no channel and imports neither sync, but for sync.OnceValue, nor
// sync/atomic.
var doors = map[string]string{
	// Loops: where threads come in.
	"aio/handle.go":        "other goroutines post to a loop",
	"aio/inbox.go":         "other goroutines leave functions for a loop",
	"aio/loop.go":          "the loop runs tasks as goroutines, one at a time",
	"aio/offload.go":       "blocking calls run on goroutines of their own",
	"aio/scope.go":         "a scope is canceled from any goroutine",
	"aio/watchdog.go":      "a goroutine watches the loop's turns",
	"aio/aiotest/clock.go": "loops on several threads share a virtual clock",

	// Shared by fetch loops, under a short lock or with atomic counters.
	"internal/budget/meter.go":           "all loops count the memory they hold",
	"internal/capture/capture.go":        "all loops look up what the coordinator has placed",
	"cookies/jar.go":                     "all loops share a jar",
	"dns/files.go":                       "resolvers on all loops share what one of them has read",
	"internal/fetch/rendering.go":        "the browser asks for what a page needs on goroutines of its own",
	"internal/fetch/errands.go":          "hands what came of a request to the goroutine of its page",
	"internal/login/session.go":          "all loops share a session",
	"internal/httpcache":                 "all loops share what pages need",
	"internal/fetch/exchange.go":         "the coordinator says where the archive has what a page has requested",
	"internal/fetch/heard.go":            "all loops note when bytes of a server come, and the coordinator looks",
	"extract/xpath.go":                   "pages in several goroutines share compiled expressions",
	"internal/appshell/lessons/table.go": "all loops share what rendering has added",
	"internal/duplicates/index.go":       "all loops share an index",
	"internal/scope/places":              "all loops look at what the coordinator opens",

	// What callers and loops on other threads enter a crawl by.
	"crawl.go":                    "the caller reads pages of a crawl that runs in the background",
	"job.go":                      "the caller's context ends the wait for a job",
	"internal/engine/crawl.go":    "a crawl starts its loops and is drained from any goroutine",
	"internal/engine/disk.go":     "the store says on any goroutine that its disk is full",
	"internal/engine/handover.go": "whoever connects the nodes of a crawl waits for its coordinator",
	"internal/engine/node.go":     "whoever connects the nodes of a crawl waits for its coordinator",
	"internal/engine/imports.go":  "partitions that join at once share batches",
	"internal/engine/tasks.go":    "loops on several threads list their tasks",

	// The store: called from loops' offloads, and Pebble has goroutines of its own.
	"internal/frontier/store/failure.go":             "a call of Pebble that never returns is left behind",
	"internal/frontier/store/memory.go":              "any goroutine may read",
	"internal/frontier/store/outbox.go":              "any goroutine may ask how much waits",
	"internal/frontier/store/scan.go":                "the next chunk is read ahead",
	"internal/frontier/store/diskfull.go":            "writes wait for space until abandoned",
	"internal/frontier/store/spare.go":               "batches are filled on a loop, committed off it",
	"internal/frontier/store/store.go":               "any goroutine may read and close",
	"internal/frontier/store/storetest/storetest.go": "Pebble's goroutines use the disk",

	// A crawl on several machines: NATS has goroutines of its own.
	"cluster/mailbox.go":    "other goroutines leave functions for a loop",
	"cluster/operations.go": "what takes time runs on goroutines beside the loops",
	"cluster/await.go":      "operations wait for what loops and other operations reach",
	"cluster/watch.go":      "NATS shows the keys of the bucket on a channel",
	"cluster/consumer.go":   "the end of a context stops a consumer of NATS",
	"cluster/reading.go":    "one operation reads the logs that others wait for",
	"cluster/room.go":       "memory is taken by operations and given back by loops",
	"cluster/log.go":        "the outbox and the operations of a partition append to a log in turn",
	"cluster/requests.go":   "of the operations whose requests fail, one looks why",
	"cluster/login.go":      "NATS reports on its own goroutines what it refuses",
	"cluster/warnings.go":   "loops, operations and NATS warn",
	"cluster/figures.go":    "loops, operations and the engine count, and another operation reports",
	"cluster/crawl.go":      "any goroutine may drain a crawl",

	"internal/natsserver/server.go": "any goroutine may use a server, which watches its disk and its peers",
	"internal/natsserver/log.go":    "the server warns on its own goroutines",

	// Uses of a finished job.
	"read/job.go":        "pages are read on all cores",
	"check/site.go":      "a stop drains the crawl",
	"diff/compare.go":    "both sides are read at once",
	"archive/digests.go": "requests to a replay share an index that the first one makes",

	"internal/loopback/loopback.go": "the end of a context ends the server",
	"internal/share/share.go":       "requests wait for others, and are counted",
	"internal/share/account.go":     "goroutines of a request share what it holds",
	"internal/crawls/folder.go":     "any goroutine may ask for crawls",
	"internal/crawls/open.go":       "a folder has channels for those who wait",
	"internal/crawls/run.go":        "processes end when they like",
	"internal/serve/door.go":        "connections have goroutines of their own",
	"internal/serve/sessions.go":    "requests share the sessions of people",
	"internal/webhook/webhook.go":   "crawls have their events delivered beside one another",
	"internal/serve/certificate.go": "connections share the certificate",
	"internal/serve/tokens.go":      "requests share the tokens",
	"internal/serve/fetches.go":     "requests are counted",
	"internal/serve/pages.go":       "requests share the pages of crawls",
	"internal/live/looks.go":        "all who look share a look",
	"internal/metrics/server.go":    "all who scrape share a look",
	"internal/traces/traces.go":     "fetches wait for a collector",

	"internal/mcp/server.go":  "clients on several connections share tools",
	"internal/mcp/carrier.go": "calls of a batch share a response",
	"internal/mcp/quote.go":   "calls share what is quoted",
	"internal/mcp/tools.go":   "a call reports while it runs",
	"internal/mcp/stdio.go":   "answers of calls and of bad lines are written one at a time",
	"internal/scrape/gate.go": "calls wait for each other",
	"internal/scrape/kept.go": "calls share results",

	// Tables that are made once.

	// The command: signals, the terminal, and output that hooks share.
	"cmd/weft/console.go":    "signals of the terminal",
	"cmd/weft/interrupts.go": "signals end a check, or its crawl",
	"cmd/weft/mcp.go":        "crawls of agents go on beside their calls",
	"cmd/weft/memory.go":     "the collector runs when it likes",
	"cmd/weft/mirror.go":     "a signal ends the writing of files",
	"cmd/weft/monitor.go":    "series are served while a crawl runs",
	"cmd/weft-nats/main.go":  "a signal ends the server",
	"cmd/weft/notify.go":     "signs of life are sent while a crawl runs",
	"cmd/weft/output.go":     "a signal ends an export",
	"cmd/weft/rotate.go":     "a hang-up has the output opened again",
	"cmd/weft/run.go":        "signals, progress and the crawl meet",
	"cmd/weft/screen.go":     "progress and hooks write to one terminal",
	"cmd/weft/serve.go":      "a signal ends the server",
	"cmd/weft/suspend.go":    "signals stop and resume the process",

	"internal/render/conn.go":      "replies of the browser",
	"internal/render/clocks.go":    "pages of any goroutine stand still while a crawl is paused",
	"internal/render/stopwatch.go": "the time of a page is up whenever it is",
	"internal/render/window.go":    "a person logs in meanwhile",
	"cmd/weft/login.go":            "a person presses Enter, or logs in",
	"internal/render/login.go":     "a login waits for its pages",
	"internal/render/process.go":   "the browser ends when it likes",
	"internal/render/open.go":      "a request is answered, or its time is up",
	"internal/render/queue.go":     "pages of any goroutine wait for a tab",
	"internal/render/renderer.go":  "pages of any goroutine share a browser",
	"internal/render/quiet.go":     "a page waits for events",
	"internal/render/run.go":       "events come while a page waits",
	"internal/render/services.go":  "whoever renders a page looks whether the browser is whole",
	"internal/render/tab.go":       "events come while a page waits",
	"internal/render/world.go":     "a frame is given up while a step waits for it",
	"internal/render/watch.go":     "memory and CPU time are looked at",
	"login.go":                     "a person says when he is logged in",
	"render.go":                    "a browser asks for what a page needs",

	"internal/ctl/client.go": "a silent server ends the wait for it",
	"internal/ctl/server.go": "connections of the control socket",
	"internal/process":       "output of a child process is read while it runs",
	"examples/...":           "programs that show goroutines beside loops",

	// Programs that measure or serve, on goroutines and threads by design.
	"internal/http2/http2test/referee.go": "the sides of a connection may belong to several goroutines",
	"internal/servers":                    "a server runs beside the crawl",
	"internal/crawltest":                  "sites serve on sockets, and crawls run beside the test",
	"internal/wefttest":                   "parallel tests share the command that the first one builds",
	"internal/webtest/...":                "servers log requests of several connections",
}

// TestDoors: code is owned by a loop unless it is listed as a door. A new package or file is owned.
func TestDoors(t *testing.T) {
	used := make(map[string]bool)
	for _, f := range files(t) {
		if f.test {
			continue
		}
		found := crossings(f)
		if len(found) == 0 {
			continue
		}
		if door, ok := doorOf(f); ok {
			used[door] = true
			continue
		}
		for _, n := range slices.SortedFunc(maps.Keys(found), func(a, b ast.Node) int { return int(a.Pos() - b.Pos()) }) {
			t.Errorf("%s: code that a loop owns %s; if goroutines have to meet here, list the file in doors", f.at(n), found[n])
		}
	}
	for door := range doors {
		if !used[door] {
			t.Errorf("%s is listed in doors and needs not be", door)
		}
	}
}

// doorOf returns the entry of doors that covers a file.
func doorOf(f file) (door string, ok bool) {
	name := path.Join(f.pkg, f.name)
	for _, door := range []string{name, f.pkg} {
		if _, ok := doors[door]; ok {
			return door, true
		}
	}
	for dir := f.pkg; dir != "."; dir = path.Dir(dir) {
		if _, ok := doors[dir+"/..."]; ok {
			return dir + "/...", true
		}
	}
	return "", false
}

// crossings are the nodes of a file with which goroutines start, wait for or exclude each other.
func crossings(f file) map[ast.Node]string {
	found := make(map[ast.Node]string)
	for _, spec := range f.ast.Imports {
		if p, _ := strconv.Unquote(spec.Path.Value); p == "sync" && !onlyOnce(f) || strings.HasPrefix(p, "sync/") {
			found[spec] = "imports " + p
		}
	}
	ast.Inspect(f.ast, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.GoStmt:
			found[n] = "starts a goroutine"
		case *ast.ChanType:
			found[n] = "has a channel"
		case *ast.SendStmt:
			found[n] = "sends on a channel"
		case *ast.SelectStmt:
			found[n] = "selects between channels"
		case *ast.UnaryExpr:
			if n.Op == token.ARROW {
				found[n] = "receives from a channel"
			}
		case *ast.SelectorExpr:
			x, ok := n.X.(*ast.Ident)
			if ok && n.Sel.Name == "AfterFunc" && (x.Name == "context" || x.Name == "time") {
				found[n] = "calls " + x.Name + ".AfterFunc, which starts a goroutine"
			}
		}
		return true
	})
	return found
}

// onlyOnce reports whether a file has of package sync nothing but values that are made when they
// are first asked for, such as a table: no goroutine sees another by one.
func onlyOnce(f file) bool {
	only := true
	ast.Inspect(f.ast, func(n ast.Node) bool {
		if s, ok := n.(*ast.SelectorExpr); ok {
			if x, ok := s.X.(*ast.Ident); ok && x.Name == "sync" {
				only = only && (s.Sel.Name == "OnceValue" || s.Sel.Name == "OnceValues")
			}
		}
		return true
	})
	return only
}

// waits are the functions of package time that a test waits with.
var waits = []string{"After", "AfterFunc", "NewTicker", "NewTimer", "Sleep", "Tick"}

// waiting are the test files that may use them, each with the reason. A bound on a hang is not one:
// that is a context with a timeout.
var waiting = map[string]string{
	"cmd/weft/flags_test.go":                 "servers that are slow on purpose",
	"internal/commands/memory_linux_test.go": "samples the memory of another process",
	"internal/durability/crash_test.go":      "polls the state of a crawl over real sockets",
	"internal/torture/torture_test.go":       "kills a real process at an instant",

	"internal/render/clocks_test.go":                 "virtual time",
	"internal/rendered/faults/outside_linux_test.go": "samples the memory of another process, and kills it at an instant",
	"internal/render/kill_linux_test.go":             "the same, and looks for processes that are not its own",
	"internal/engine/commit_test.go":                 "a server that is slow on purpose, and a look at what does not happen",
}

// TestNoSleep: a test that waits for a time is slow when it passes and flaky when it does not.
func TestNoSleep(t *testing.T) {
	used := make(map[string]bool)
	for _, f := range files(t) {
		if !f.test {
			continue
		}
		name := path.Join(f.pkg, f.name)
		ast.Inspect(f.ast, func(n ast.Node) bool {
			sel, ok := n.(*ast.SelectorExpr)
			if !ok || !slices.Contains(waits, sel.Sel.Name) {
				return true
			}
			if x, ok := sel.X.(*ast.Ident); !ok || x.Name != "time" {
				return true
			}
			if _, ok := waiting[name]; !ok {
				t.Errorf("%s: time.%s in a test: use virtual time, or wait for the event", f.at(n), sel.Sel.Name)
			}
			used[name] = true
			return true
		})
	}
	for name := range waiting {
		if !used[name] {
			t.Errorf("%s is listed in waiting and needs not be", name)
		}
	}
}
