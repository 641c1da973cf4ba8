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

// TestBuilds: every page and script builds the command without C code, and where the binary is kept
// without symbols and paths of the machine.
func TestBuilds(t *testing.T) {
	t.Parallel()
	kept := regexp.MustCompile(`^CGO_ENABLED=0 go (build|install) -trimpath -ldflags=-s `)
	ran := regexp.MustCompile(`^CGO_ENABLED=0 go run `)
	command := regexp.MustCompile(`(?:\w+=\S+ )*go (?:build|install|run) [^|&\n]*cmd/weft\b`)
	count := 0
	for _, pattern := range []string{"README.md", "CONTRIBUTING.md", "docs/*.md", "Dockerfile", "Makefile", "script/*"} {
		paths, err := filepath.Glob("../../" + pattern)
		if err != nil || len(paths) == 0 {
			t.Fatalf("%s: no files: %v", pattern, err)
		}
		for _, path := range paths {
			text := strings.ReplaceAll(readPage(t, path), "$(BUILD)", "CGO_ENABLED=0 go build -trimpath -ldflags=-s")
			for _, found := range command.FindAllString(text, -1) {
				if strings.Contains(found, "GOOS=windows ") { // where it must not compile
					continue
				}
				if count++; !kept.MatchString(found) && !ran.MatchString(found) {
					t.Errorf("%s: %s: expected CGO_ENABLED=0, and -trimpath -ldflags=-s for a binary that is kept", path, found)
				}
			}
		}
	}
	if count < 15 {
		t.Errorf("%d commands found that build weft", count)
	}
	if text := readPage(t, "../../Makefile"); !strings.Contains(text, "\nBUILD = CGO_ENABLED=0 go build -trimpath -ldflags=-s\n") {
		t.Error("Makefile: BUILD is something else")
	}
}

// TestBinary: what the pages build is one static file without C code or symbols.
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
		if m.Path == "github.com/DataDog/zstd" {
			t.Errorf("it has C code: %s", m.Path)
		}
	}
}
