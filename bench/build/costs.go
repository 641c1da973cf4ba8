//go:build linux

package main

import (
	"bytes"
	"cmp"
	"context"
	"debug/elf"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/weftcrawl/weft/bench/machine"
	"github.com/weftcrawl/weft/internal/process"
)

// gives has the use of each dependency that the command imports.
var gives = map[string]string{
	"github.com/cockroachdb/pebble/v2": "the frontier's store",
	"github.com/nats-io/nats.go":       "crawls of several machines",
	"github.com/andybalholm/brotli":    "pages that come in brotli",
	"github.com/klauspost/compress":    "zstd and faster gzip, of pages, archives, stores and logs",
	"github.com/expr-lang/expr":        "conditions: `--where`, `--follow-if`",
	"github.com/spf13/cobra":           "commands and their help",
	"github.com/PuerkitoBio/goquery":   "trees of pages: selectors, fields",
	"github.com/antchfx/xpath":         "fields by XPath",
	"github.com/yuin/goldmark":         "`weft check` of Markdown",
	"github.com/pelletier/go-toml/v2":  "configuration files",
	"github.com/charmbracelet/x/ansi":  "progress: the width of texts",
	"golang.org/x/net":                 "HTML, HTTP/2's tables, public suffixes",
	"golang.org/x/text":                "charsets, Unicode",
	"golang.org/x/sys":                 "system calls",
	"github.com/dustin/go-humanize":    "figures in words",
	"github.com/RaduBerinde/btreemap":  "sorted keys of the store",
	"github.com/cespare/xxhash/v2":     "hashes",
	"github.com/andybalholm/cascadia":  "CSS selectors",
	"github.com/nlnwa/whatwg-url":      "tests",
	"github.com/nats-io/nuid":          "names of messages",
	"github.com/spf13/pflag":           "flags",
	"github.com/charmbracelet/x/term":  "terminals",
	"github.com/google/go-cmp":         "tests",
	"github.com/danielgtaylor/huma/v2": "the HTTP API of `weft serve`, and its description",

	"github.com/modelcontextprotocol/go-sdk": "`weft mcp`: tools for agents",

	"github.com/google/jsonschema-go":     "what these tools take, said and checked",
	"github.com/netresearch/go-cron":      "cron expressions of schedules",
	"github.com/sergi/go-diff":            "`weft diff`: words that have changed",
	"github.com/weftcrawl/weft":           "the crawler itself",
	"github.com/DataDog/zstd":             "C code of Pebble's, which CGO_ENABLED=0 leaves out",
	"github.com/prometheus/client_golang": "Pebble's metrics, unused",
	"github.com/cockroachdb/errors":       "Pebble's errors",
	"google.golang.org/protobuf":          "prometheus's and cockroachdb/errors's messages, unused",
	"github.com/gogo/protobuf":            "cockroachdb/errors's messages, unused",
	"github.com/getsentry/sentry-go":      "cockroachdb/errors's reports, unused",
}

// standard is the module of packages that Go brings.
const standard = "standard library"

// pkg is a package that the command is made of.
type pkg struct {
	ImportPath, Dir string
	Imports         []string
	ImportMap       map[string]string
	GoFiles, SFiles []string
	Module          *struct{ Path string }

	cost cost
}

func (p *pkg) module() string {
	if p.Module == nil {
		return standard
	}
	return p.Module.Path
}

// cost is the price of a package, or of several.
type cost struct {
	cpu   time.Duration // of compiling
	bytes int64         // of code and data in the binary
	lines int           // of source
}

func (c *cost) add(d cost) {
	c.cpu += d.cpu
	c.bytes += d.bytes
	c.lines += d.lines
}

const target = "github.com/weftcrawl/weft/cmd/weft"

// costsOf returns a table of what each module costs that a package of Weft imports.
func costsOf(ctx context.Context, root string) ([]byte, error) {
	all, err := packagesOf(ctx, root)
	if err != nil {
		return nil, err
	}
	linked, err := compile(ctx, root, all)
	if err != nil {
		return nil, err
	}
	total := cost{cpu: linked}
	direct := make(map[string]*[2]cost) // of the module alone, and with what goes with it
	for _, p := range all {
		total.add(p.cost)
		if p.module() == "github.com/weftcrawl/weft" {
			for _, path := range p.Imports {
				if i := all[path]; i != nil {
					direct[i.module()] = &[2]cost{}
				}
			}
		}
	}
	direct["github.com/weftcrawl/weft"] = &[2]cost{}
	for module, c := range direct {
		without := reachable(all, module)
		for path, p := range all {
			if p.module() == module {
				c[0].add(p.cost)
			}
			if !without[path] {
				c[1].add(p.cost)
			}
		}
	}
	var b bytes.Buffer
	fmt.Fprintf(&b, "Compiled alone on this machine, CGO_ENABLED=0: %.1f CPU seconds, %.1f of them the linker's, for %s lines.\n\n",
		total.cpu.Seconds(), linked.Seconds(), machine.Thousands(total.lines))
	b.WriteString("| module | CPU, s | with what only it needs | MB | with it | lines | with them | gives |\n|---|---|---|---|---|---|---|---|\n")
	names := make([]string, 0, len(direct))
	for module := range direct {
		names = append(names, module)
	}
	slices.SortFunc(names, func(x, y string) int { return cmp.Compare(direct[y][1].cpu, direct[x][1].cpu) })
	for _, module := range names {
		own, with := direct[module][0], direct[module][1]
		if module == standard || module == "github.com/weftcrawl/weft" {
			with = own // without them there is nothing
		}
		fmt.Fprintf(&b, "| %s | %.1f | %.1f | %.1f | %.1f | %s | %s | %s |\n", strings.TrimPrefix(module, "github.com/"),
			own.cpu.Seconds(), with.cpu.Seconds(), float64(own.bytes)/1e6, float64(with.bytes)/1e6, machine.Thousands(own.lines), machine.Thousands(with.lines), gives[module])
	}
	return b.Bytes(), nil
}

// reachable returns the packages that the command would have without those of a module.
func reachable(all map[string]*pkg, module string) map[string]bool {
	seen := make(map[string]bool)
	var visit func(path string)
	visit = func(path string) {
		p := all[path]
		if p == nil || seen[path] || p.module() == module {
			return
		}
		seen[path] = true
		for _, i := range p.Imports {
			visit(i)
		}
	}
	visit(target)
	visit("runtime") // of every program
	return seen
}

// packagesOf returns the packages of the command, by import path, with their lines.
func packagesOf(ctx context.Context, root string) (map[string]*pkg, error) {
	cmd := exec.CommandContext(ctx, "go", "list", "-C", root, "-deps", "-json=ImportPath,Dir,Imports,ImportMap,GoFiles,SFiles,Module", target)
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	text, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("go list: %w", err)
	}
	all := make(map[string]*pkg)
	for d := json.NewDecoder(bytes.NewReader(text)); ; {
		p := new(pkg)
		if err := d.Decode(p); errors.Is(err, io.EOF) {
			return all, nil
		} else if err != nil {
			return nil, err
		}
		for i, path := range p.Imports {
			if mapped, ok := p.ImportMap[path]; ok {
				p.Imports[i] = mapped
			}
		}
		for _, name := range append(p.GoFiles, p.SFiles...) {
			source, err := os.ReadFile(filepath.Join(p.Dir, name))
			if err != nil {
				return nil, err
			}
			p.cost.lines += bytes.Count(source, []byte("\n"))
		}
		all[p.ImportPath] = p
	}
}

// compile builds the command with nothing built, one package at a time, so that no other takes its
// cores, and adds the time and the bytes of each package. It returns the linker's time.
func compile(ctx context.Context, root string, all map[string]*pkg) (linked time.Duration, err error) {
	dir, err := os.MkdirTemp("/var/tmp", "weft-costs.")
	if err != nil {
		return 0, err
	}
	defer func() {
		_ = os.RemoveAll(dir)
	}()
	graph, binary := filepath.Join(dir, "graph.json"), filepath.Join(dir, "weft")
	_, err = process.Run(ctx, process.Options{Dir: root, Env: []string{"CGO_ENABLED=0", "GOCACHE=" + filepath.Join(dir, "cache")}},
		"go", "build", "-p", "1", "-debug-actiongraph="+graph, "-o", binary, target)
	if err != nil {
		return 0, err
	}
	actions, err := actionsOf(graph)
	if err != nil {
		return 0, err
	}
	for _, a := range actions {
		switch p := all[a.Package]; {
		case a.Mode == "link":
			linked += a.cpu()
		case p != nil:
			p.cost.cpu += a.cpu()
		}
	}
	inFile, err := stored(binary)
	if err != nil {
		return 0, err
	}
	symbols, err := exec.CommandContext(ctx, "go", "tool", "nm", "-size", binary).Output()
	if err != nil {
		return 0, fmt.Errorf("go tool nm: %w", err)
	}
	for line := range strings.Lines(string(symbols)) {
		f := strings.Fields(line)
		if len(f) < 4 || !strings.ContainsAny(f[2], "tTrRdD") {
			continue
		}
		at, _ := strconv.ParseUint(f[0], 16, 64)
		size, _ := strconv.ParseInt(f[1], 10, 64)
		if p := all[packageOfSymbol(f[3])]; p != nil && inFile(at) {
			p.cost.bytes += size
		}
	}
	return linked, nil
}

// action is a step of a build: a package that is compiled, or a program that is linked.
type action struct {
	Mode, Package   string
	CmdUser, CmdSys time.Duration
}

func (a action) cpu() time.Duration { return a.CmdUser + a.CmdSys }

// actionsOf reads the file that go build -debug-actiongraph writes.
func actionsOf(graph string) (all []action, err error) {
	text, err := os.ReadFile(graph)
	if err == nil {
		err = json.Unmarshal(text, &all)
	}
	return all, err
}

// stored returns whether what is at an address has its bytes in the file: zeros have none.
func stored(binary string) (func(at uint64) bool, error) {
	f, err := elf.Open(binary)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	sections := f.Sections
	return func(at uint64) bool {
		return slices.ContainsFunc(sections, func(s *elf.Section) bool {
			return s.Type == elf.SHT_PROGBITS && s.Addr <= at && at < s.Addr+s.Size
		})
	}, nil
}

// packageOfSymbol returns the import path of the package that a symbol belongs to. Types and line
// tables, which have none, count for nobody.
func packageOfSymbol(name string) string {
	name, _, _ = strings.Cut(name, "[") // type arguments
	slash := strings.LastIndexByte(name, '/') + 1
	dot := strings.IndexByte(name[slash:], '.')
	if dot < 0 {
		return ""
	}
	return strings.ReplaceAll(name[:slash+dot], "%2e", ".")
}
