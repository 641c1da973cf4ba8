package main

import (
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// readPage returns the text of a page.
func readPage(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// pagesForPeople returns the paths of the pages that tell how to use weft.
func pagesForPeople(t *testing.T) (all []string) {
	t.Helper()
	paths, err := filepath.Glob("../../docs/*.md")
	if err != nil || len(paths) < 10 {
		t.Fatalf("%q, %v", paths, err)
	}
	for _, path := range append(paths, "../../README.md") {
		all = append(all, strings.TrimPrefix(path, "../../"))
	}
	return all
}

// TestPagesInline: the tests of internal/pages run each command, option and address of servers
// between backticks in the text of docs/cluster.md, in a block of the page or of a page in their
// testdata.
func TestPagesInline(t *testing.T) {
	const more = "../../internal/pages/testdata/cluster.md"
	aside := regexp.MustCompile(`\s+#\s.*$`)
	page := readPage(t, "../../docs/cluster.md")
	var run []string
	for _, text := range []string{page, readPage(t, more)} {
		for _, block := range regexp.MustCompile("(?ms)^```(sh|console)\n(.*?)^```$").FindAllStringSubmatch(text, -1) {
			for line := range strings.Lines(strings.ReplaceAll(block[2], "\\\n", "")) {
				if line = strings.TrimSpace(aside.ReplaceAllString(line, "")); !strings.HasPrefix(line, "#") {
					run = append(run, strings.TrimPrefix(line, "$ "))
				}
			}
		}
	}
	words := regexp.MustCompile(`^(kill|(nats|tls|ws|wss)://.+)$`)
	named := map[string]bool{"weft": true}
	for _, o := range orders {
		named[o.name] = true
	}
	for _, cmd := range append(rootCommand(io.Discard).Commands(), clusterCommand().Commands()...) {
		named[cmd.Name()] = true
	}
	count := 0
	for _, span := range regexp.MustCompile("`[^`]+`").FindAllString(regexp.MustCompile("(?ms)^```.*?^```$").ReplaceAllString(page, ""), -1) {
		all := strings.Fields(strings.Trim(span, "`"))
		option := slices.ContainsFunc(all, func(s string) bool { return strings.HasPrefix(s, "-") })
		if !named[all[0]] && !option && !words.MatchString(all[0]) {
			continue
		}
		count++
		for i, word := range all { // what is in capitals stands for something
			all[i] = regexp.MustCompile(`[A-Z]+`).ReplaceAllString(regexp.QuoteMeta(word), `\S+`)
		}
		is := regexp.MustCompile(`(^|\s)` + strings.Join(all, `\s(.*\s)?`) + `([\s;,]|$)`)
		if !slices.ContainsFunc(run, is.MatchString) {
			t.Errorf("docs/cluster.md names %s, which no test runs: add a command to %s", strings.Join(strings.Fields(span), " "), more)
		}
	}
	if count < 50 {
		t.Errorf("%d commands, options and addresses found in docs/cluster.md, expected some 60", count)
	}
}

// TestPagesFlags: each flag that a page names is one of weft, and the guide has each of weft crawl
// in its table of flags by concern.
func TestPagesFlags(t *testing.T) {
	// The others are those of weft-lab, docker and benchmarks.
	flags := map[string]bool{"help": true, "help-all": true, "version": true, "config": true, "no-config": true, "profile": true,
		"connections": true, "chart": true, "pages": true, "rounds": true, "rm": true, "user": true}
	everyCommand(func(cmd *cobra.Command) { cmd.Flags().VisitAll(func(f *pflag.Flag) { flags[f.Name] = true }) })
	crawl := crawlCommand()
	for _, name := range pagesForPeople(t) {
		text := readPage(t, filepath.Join("../..", name))
		for _, m := range regexp.MustCompile(`(?:^|[^-\w])--([a-z](?:[-a-z0-9.]*[a-z0-9])?)`).FindAllStringSubmatch(text, -1) {
			if !flags[m[1]] {
				t.Errorf("%s: no command has --%s", name, m[1])
			}
		}
		if name != "docs/guide.md" {
			continue
		}
		_, table, _ := strings.Cut(text, "## Flags by concern")
		table, _, _ = strings.Cut(table, "\n## ")
		crawl.Flags().VisitAll(func(f *pflag.Flag) {
			long, short := "`--"+f.Name+"`", "`-"+f.Shorthand+"`"
			if !flags[f.Name] || f.Name != "help" && f.Name != "help-all" && !strings.Contains(table, long) && !strings.Contains(table, short) {
				t.Errorf("%s: the table has no --%s", name, f.Name)
			}
		})
	}
}
