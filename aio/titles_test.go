package aio_test

import (
	"bufio"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/weftcrawl/weft/internal/conformance"
)

// titleSources are the test files of asyncio, trio and curio whose titles are the checklist, with
// the number of titles in each.
var titleSources = map[string]int{
	"asyncio/test_base_events.py":   114,
	"asyncio/test_futures.py":       57,
	"asyncio/test_futures2.py":      2,
	"asyncio/test_locks.py":         70,
	"asyncio/test_queues.py":        36,
	"asyncio/test_runners.py":       26,
	"asyncio/test_streams.py":       66,
	"asyncio/test_taskgroups.py":    30,
	"asyncio/test_tasks.py":         159,
	"asyncio/test_timeouts.py":      22,
	"asyncio/test_waitfor.py":       15,
	"curio/test_channel.py":         15,
	"curio/test_io.py":              46,
	"curio/test_kernel.py":          41,
	"curio/test_queue.py":           21,
	"curio/test_sync.py":            30,
	"curio/test_task.py":            34,
	"trio/test_channel.py":          32,
	"trio/test_highlevel_socket.py": 7,
	"trio/test_io.py":               11,
	"trio/test_parking_lot.py":      11,
	"trio/test_run.py":              113,
	"trio/test_sync.py":             16,
	"trio/test_timeouts.py":         11,
}

// TestTitles compares testdata/titles with the list of titles: every title of every source has one
// line, in the order of the list, that names the tests of this package that cover it or the reason
// why it is meaningless here:
//
//	test_order -> TestQueueOrder
//	test_close -> TestQueueClose/waiters learn of it; TestLotOrder -- a note
//	test_repr -- no meaning: Go types have no repr
//
// A subtest is named as in its t.Run or its table.
func TestTitles(t *testing.T) {
	listed := readTitles(t)
	tests := readTests(t)
	for source, titles := range listed {
		if titleSources[source] == 0 {
			t.Errorf("%s: %d titles of a source that the test does not know", source, len(titles))
		}
	}
	known := make(map[string]bool)
	for _, source := range slices.Sorted(maps.Keys(titleSources)) {
		n, name := titleSources[source], titleMap(source)
		known[name] = true
		t.Run(strings.TrimSuffix(name, ".txt"), func(t *testing.T) {
			if len(listed[source]) != n {
				t.Errorf("the list has %d titles, want %d", len(listed[source]), n)
			}
			checkTitles(t, filepath.Join("testdata", "titles", name), listed[source], tests)
		})
	}
	files, err := os.ReadDir(filepath.Join("testdata", "titles"))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if !known[f.Name()] {
			t.Errorf("%s is the map of no source", f.Name())
		}
	}
}

// titleMap returns the name of the file that maps the titles of a source.
func titleMap(source string) string {
	return strings.ReplaceAll(strings.TrimSuffix(source, ".py"), "/", "_") + ".txt"
}

func checkTitles(t *testing.T, path string, want []string, tests map[string]string) {
	var got []string
	for i, line := range readLines(t, path) {
		title, says, ok := strings.Cut(line, " ")
		got = append(got, title)
		names, isMapped := strings.CutPrefix(says, "-> ")
		reason, isReason := strings.CutPrefix(says, "-- ")
		switch {
		case ok && isMapped:
			names, _, _ = strings.Cut(names, " -- ")
			for name := range strings.SplitSeq(names, "; ") {
				if why := missing(name, tests); why != "" {
					t.Errorf("%s:%d: %s: %s", path, i+1, title, why)
				}
			}
		case ok && isReason:
			if strings.TrimSpace(strings.TrimPrefix(reason, "no meaning:")) == "" {
				t.Errorf("%s:%d: %s: no reason", path, i+1, title)
			}
		default:
			t.Errorf("%s:%d: neither a test nor a reason: %q", path, i+1, line)
		}
	}
	if slices.Equal(got, want) {
		return
	}
	for i := range max(len(got), len(want)) {
		if i >= len(got) || i >= len(want) || got[i] != want[i] {
			t.Errorf("%s: %d lines for %d titles; they part at line %d", path, len(got), len(want), i+1)
			return
		}
	}
}

// missing returns what a named test lacks; empty if it exists.
func missing(name string, tests map[string]string) string {
	function, sub, isSub := strings.Cut(strings.TrimSpace(name), "/")
	source, ok := tests[function]
	switch {
	case !ok:
		return "there is no test " + strconv.Quote(function)
	case isSub && !quotes(source, sub):
		// Possibly a subtest of a subtest.
		for part := range strings.SplitSeq(sub, "/") {
			if !quotes(source, part) {
				return function + " does not have " + strconv.Quote(part)
			}
		}
	}
	return ""
}

func quotes(source, name string) bool {
	return strings.Contains(source, strconv.Quote(name)) || strings.Contains(source, "`"+name+"`")
}

// readTests returns the source of all test functions of the package by name.
func readTests(t *testing.T) map[string]string {
	t.Helper()
	tests := make(map[string]string)
	paths, err := filepath.Glob("*_test.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range paths {
		source, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		files := token.NewFileSet()
		file, err := parser.ParseFile(files, path, source, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range file.Decls {
			if f, ok := d.(*ast.FuncDecl); ok && f.Recv == nil && strings.HasPrefix(f.Name.Name, "Test") {
				tests[f.Name.Name] = string(source[files.Position(f.Pos()).Offset:files.Position(f.End()).Offset])
			}
		}
	}
	return tests
}

// readTitles returns the titles of each source, in the order of the list.
func readTitles(t *testing.T) map[string][]string {
	t.Helper()
	const name = "async-titles.txt"
	titles := make(map[string][]string)
	for line := range strings.Lines(string(conformance.Read(t, name))) {
		source, rest, ok := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		if !ok {
			t.Fatalf("%s: bad line %q", name, line)
		}
		title, _, _ := strings.Cut(rest, "\t")
		titles[source] = append(titles[source], title)
	}
	return titles
}

func readLines(t *testing.T, path string) []string {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Error(err)
		return nil
	}
	defer f.Close()
	var lines []string
	s := bufio.NewScanner(f)
	for s.Scan() {
		lines = append(lines, s.Text())
	}
	if err := s.Err(); err != nil {
		t.Error(err)
	}
	return lines
}
