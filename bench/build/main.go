//go:build linux

// Build measures the first commands of the README as they are on a machine that has built nothing,
// and writes docs/bench/build.md. It reads the commands from the README.
//
//	build [-o FILE] [-tests=false] [-command TEXT]
//	build -costs
//
// The Go modules and the packages that tests need are there already: what is measured is compiling
// and testing, not a network. Build caches are folders of its own.
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/weftcrawl/weft/bench/machine"
	"github.com/weftcrawl/weft/internal/process"
)

// Marks, on two cores without other work.
const (
	markPage    = 70 * time.Second // from README's first command to its first page
	markCold    = 9 * time.Minute  // its second command, nothing built
	markWarm    = 4 * time.Minute  // the same, everything built
	markPackage = time.Minute      // the tests of a package
)

func main() {
	out := flag.String("o", "", "file to write; empty: standard output")
	command := flag.String("command", "make bench-build", "command to name on the page")
	tests := flag.Bool("tests", true, "measure the tests, too")
	costs := flag.Bool("costs", false, "print what each dependency costs, and nothing else")
	flag.Parse()
	ctx := context.Background()
	if *costs {
		text, err := costsOf(ctx, "..")
		machine.Publish("costs", *out, text, err)
		return
	}
	page, err := measure(ctx, "..", *command, *tests)
	machine.Publish("build", *out, page, err)
}

// run is a command that was measured.
type run struct {
	what, state string
	wall, cpu   time.Duration
	mark        time.Duration         // 0: none
	packages    map[string]*packageOf // by import path, of tests
}

// packageOf is the times of a package's tests.
type packageOf struct {
	name       string
	cold, warm time.Duration
}

func measure(ctx context.Context, root, command string, tests bool) ([]byte, error) {
	load := machine.Load() // before the work of this program
	commands, err := readme(filepath.Join(root, "README.md"))
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("/var/tmp", "weft-build.")
	if err != nil {
		return nil, err
	}
	defer func() {
		_ = os.RemoveAll(dir)
	}()
	var runs []run
	for _, state := range []string{"empty", "full"} {
		r, err := crawl(ctx, root, commands[0], filepath.Join(dir, "first"), state)
		if err != nil {
			return nil, err
		}
		runs = append(runs, r)
	}
	runs[0].mark = markPage
	if tests {
		for _, state := range []string{"empty", "full"} {
			r, err := test(ctx, root, commands[1], filepath.Join(dir, "second"), state)
			if err != nil {
				return nil, err
			}
			r.mark = map[string]time.Duration{"empty": markCold, "full": markWarm}[state]
			runs = append(runs, r)
		}
	}
	return write(runs, command, load), nil
}

// readme returns the commands of the README's first block, without comments.
func readme(path string) ([]string, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	_, block, _ := strings.Cut(string(text), "```sh\n")
	block, _, _ = strings.Cut(block, "```")
	var all []string
	for line := range strings.Lines(block) {
		command, _, _ := strings.Cut(line, " # ")
		all = append(all, strings.TrimSpace(command))
	}
	if len(all) < 2 || !strings.Contains(all[0], " https://example.org/") {
		return nil, fmt.Errorf("%s: commands %q, expected a crawl of https://example.org/ and another", path, all)
	}
	return all, nil
}

// crawl runs README's first command with a site of one page on this machine.
func crawl(ctx context.Context, root, command, dir, state string) (run, error) {
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprint(w, "<title>Home</title>A page.")
	}))
	defer site.Close()
	job := filepath.Join(dir, state+".weft")
	r, err := shell(ctx, root, dir, strings.Replace(command, "https://example.org/", site.URL+"/ --job "+job, 1))
	if err != nil {
		return r, err
	}
	if text, err := os.ReadFile(filepath.Join(job, "pages.jsonl")); err != nil || bytes.Count(text, []byte("\n")) == 0 {
		return r, errors.Join(err, errors.New("no page was fetched"))
	}
	r.what, r.state = command, state
	return r, nil
}

// test runs README's second command, whose tests run although they have passed before.
func test(ctx context.Context, root, command, dir, state string) (run, error) {
	log := filepath.Join(dir, state+".json")
	r, err := shell(ctx, root, dir, command, "GOFLAGS=-count=1", "WEFT_TEST_LOG="+log)
	if err != nil {
		return r, err
	}
	r.what, r.state, r.packages = command, state, make(map[string]*packageOf)
	text, err := os.ReadFile(log)
	if err != nil {
		return r, err
	}
	for line := range bytes.Lines(text) {
		var event struct {
			Action, Package, Test string
			Elapsed               float64
		}
		if err := json.Unmarshal(line, &event); err != nil || event.Action != "pass" || event.Test != "" {
			continue
		}
		name := strings.TrimPrefix(strings.TrimPrefix(event.Package, "github.com/weftcrawl/weft"), "/")
		r.packages[event.Package] = &packageOf{name: name, cold: time.Duration(event.Elapsed * float64(time.Second))}
	}
	return r, nil
}

// shell runs a command with a build cache in a folder, and prints what it prints.
func shell(ctx context.Context, root, dir, command string, env ...string) (run, error) {
	cache := filepath.Join(dir, "cache")
	if err := os.MkdirAll(cache, 0o700); err != nil {
		return run{}, err
	}
	fmt.Fprintf(os.Stderr, "build: %s\n", command)
	start := time.Now()
	p, err := process.Run(ctx, process.Options{Dir: root, Env: append(env, "GOCACHE="+cache), Stderr: os.Stderr}, "bash", "-c", "exec 1>&2; "+command)
	if err != nil {
		return run{}, fmt.Errorf("%s: %w", command, err)
	}
	return run{wall: time.Since(start), cpu: p.CPU()}, nil
}

var measured = "`%s`, at commit %s, with %s, %s, %d cores, %s. The commands are those of the " +
	"[README](../../README.md), in a checkout whose Go modules are downloaded, with a build cache of their own: " +
	"empty, then as the first run has left it. The crawl is of a site of one page on the same machine; its time is " +
	"that of the whole command, of which the crawl is a tenth of a second. The tests run each time. " +
	"CPU time is that of all processes that the command has waited for."

// write returns the page.
func write(runs []run, command, load string) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "# From a checkout to the first page\n\n%s\n\n## How it was measured\n\n%s\n\n## Figures\n\n",
		machine.Fill(take(runs)),
		machine.Fill(fmt.Sprintf(measured, command, machine.Commit(), runtime.Version(), machine.CPU(), runtime.NumCPU(), load)))
	b.WriteString("| command | build cache | time | CPU time | mark |\n|---|---|---|---|---|\n")
	for _, r := range runs {
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s | %s |\n", r.what, r.state, seconds(r.wall), seconds(r.cpu), verdict(r.wall, r.mark))
	}
	fmt.Fprintf(&b, "\n%s\n", machine.Fill("The marks are of two cores without other work. `make costs` tells what each module takes."))
	if len(runs) > 2 {
		fmt.Fprintf(&b, "\n%s\n\n| package | cache empty | cache full | mark |\n|---|---|---|---|\n",
			machine.Fill("The packages whose tests take longest; two run at a time, while the cache is empty, beside the compiler:"))
		for _, p := range slowest(runs[2].packages, runs[3].packages, 12) {
			fmt.Fprintf(&b, "| %s | %s | %s | %s |\n", p.name, seconds(p.cold), seconds(p.warm), verdict(p.warm, markPackage))
		}
	}
	return b.Bytes()
}

// take says what the figures mean.
func take(runs []run) string {
	text := fmt.Sprintf("On a machine that has built nothing, the first page is there after %.0f s.", runs[0].wall.Seconds())
	if len(runs) > 2 {
		text += fmt.Sprintf(" All tests take %.1f minutes there, and %.1f where everything is built.", runs[2].wall.Minutes(), runs[3].wall.Minutes())
	}
	return text
}

func seconds(d time.Duration) string { return fmt.Sprintf("%.1f s", d.Seconds()) }

func verdict(d, mark time.Duration) string {
	switch {
	case mark == 0:
		return ""
	case d > mark:
		return fmt.Sprintf("≤ %.0f s, **missed**", mark.Seconds())
	}
	return fmt.Sprintf("≤ %.0f s, met", mark.Seconds())
}

// slowest joins the packages of two runs, the slowest of the second first.
func slowest(cold, warm map[string]*packageOf, most int) []packageOf {
	var all []packageOf
	for path, p := range warm {
		both := packageOf{name: p.name, warm: p.cold}
		if first := cold[path]; first != nil {
			both.cold = first.cold
		}
		if both.name == "" {
			both.name = "weft"
		}
		all = append(all, both)
	}
	slices.SortFunc(all, func(a, b packageOf) int { return int(b.warm - a.warm) })
	return all[:min(most, len(all))]
}
