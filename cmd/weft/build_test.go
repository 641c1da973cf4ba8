package main

import (
	"debug/buildinfo"
	"debug/elf"
	"errors"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"
)

// TestBuilds: every page and script compiles without C code, which Pebble and net have, and builds
// the command without symbols and paths of the machine where the binary is kept.
func TestBuilds(t *testing.T) {
	t.Parallel()
	command := regexp.MustCompile("((?:\\w+=\\S+\\s)*)go\\s(?:-C \\S+ )?(build|install|run)\\s([^|&`\\n]*)")
	exported := regexp.MustCompile(`(?m)^export CGO_ENABLED ?= ?0$`)
	count := 0
	for _, pattern := range []string{"README.md", "CONTRIBUTING.md", "docs/*.md", "examples/README.md", "Dockerfile", "Makefile", "script/*"} {
		paths, err := filepath.Glob("../../" + pattern)
		if err != nil || len(paths) == 0 {
			t.Fatalf("%s: no files: %v", pattern, err)
		}
		for _, path := range paths {
			text := strings.ReplaceAll(readPage(t, path), "$(BUILD)", "go build -trimpath -ldflags=-s")
			without := exported.MatchString(text)
			for _, m := range command.FindAllStringSubmatch(text, -1) {
				env, verb, args := m[1], m[2], m[3]
				count++
				if !without && !strings.Contains(env, "CGO_ENABLED=0") || strings.Contains(env, "CGO_ENABLED=1") {
					t.Errorf("%s: go %s %s: expected CGO_ENABLED=0", path, verb, args)
				}
				if verb != "run" && strings.Contains(args, "cmd/weft") && !strings.HasPrefix(args, "-trimpath -ldflags=-s ") {
					t.Errorf("%s: go %s %s: expected -trimpath -ldflags=-s for a binary that is kept", path, verb, args)
				}
			}
		}
	}
	if count < 50 {
		t.Errorf("%d commands found that compile", count)
	}
}

// without has modules that the command must not have, with the reason.
var without = map[string]string{
	"github.com/DataDog/zstd":           "C code",
	"github.com/nats-io/nats-server/v2": "weft-nats is the server: see ADR 46",
}

// TestBinary: what the pages build is one static file without C code, symbols, or a server of NATS.
func TestBinary(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("reads an ELF file")
	}
	t.Parallel()
	f, err := elf.Open(built())
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for _, p := range f.Progs {
		if p.Type == elf.PT_INTERP || p.Type == elf.PT_DYNAMIC {
			t.Errorf("it has a segment %v, as a program that is linked when it starts", p.Type)
		}
	}
	if symbols, err := f.Symbols(); !errors.Is(err, elf.ErrNoSymbols) {
		t.Errorf("it has %d symbols (%v)", len(symbols), err)
	}
	for _, s := range f.Sections {
		if strings.HasPrefix(s.Name, ".debug") || strings.HasPrefix(s.Name, ".zdebug") {
			t.Errorf("it has a section %s", s.Name)
		}
	}
	info, err := buildinfo.ReadFile(built())
	if err != nil {
		t.Fatal(err)
	}
	settings := make(map[string]string)
	for _, s := range info.Settings {
		settings[s.Key] = s.Value
	}
	if settings["CGO_ENABLED"] != "0" {
		t.Errorf("it was built with CGO_ENABLED=%s", settings["CGO_ENABLED"])
	}
	for _, m := range info.Deps {
		if why := without[m.Path]; why != "" {
			t.Errorf("it has %s: %s", m.Path, why)
		}
	}
}

// TestCosts: ADR 46 says what each module costs that go.mod names for Weft's own code, and that the
// command has.
func TestCosts(t *testing.T) {
	t.Parallel()
	info, err := buildinfo.ReadFile(built())
	if err != nil {
		t.Fatal(err)
	}
	page, mod := readPage(t, "../../docs/adr/0046-what-dependencies-cost.md"), readPage(t, "../../go.mod")
	rows := 0
	for _, m := range info.Deps {
		if !strings.Contains(mod, "\n\t"+m.Path+" "+m.Version+"\n") || m.Path == "github.com/andybalholm/cascadia" {
			continue // it comes with another; cascadia, which a test uses, with goquery
		}
		rows++
		if row := "\n| " + strings.TrimPrefix(m.Path, "github.com/") + " |"; !strings.Contains(page, row) {
			t.Errorf("ADR 46 has no row for %s: make costs", m.Path)
		}
	}
	if rows < 20 {
		t.Errorf("%d modules, expected those of go.mod", rows)
	}
}
