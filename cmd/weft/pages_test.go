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

// others are programs that pages name with options of theirs: no test runs them.
var others = regexp.MustCompile(`^(CGO_ENABLED=0|chromium|curl|docker|go|kubectl|make|python3|ssh|systemctl|systemd-run|weft-lab|wget)$`)

// ofOthers are options of other programs that pages name by themselves: those of weft-lab, docker,
// systemctl, Chromium and curl.
var ofOthers = map[string]bool{
	"--connections": true, "--chart": true, "--pages": true, "--rounds": true,
	"--chown": true, "--restart": true, "--rm": true, "--stop-timeout": true, "--user": true,
	"--now":           true,
	"--user-data-dir": true, "--proxy-server": true, "--proxy-bypass-list": true,
	"--ignore-certificate-errors-spki-list": true, "--force-webrtc-ip-handling-policy": true,
	"--cacert": true,
}

var (
	fenced      = regexp.MustCompile("(?ms)^```([a-z]*)\n(.*?)^```$")
	endComment  = regexp.MustCompile(`\s+#\s.*$`)
	isOption    = regexp.MustCompile(`^(-[a-zA-Z]|--[a-z][-a-z0-9.]*)(=|$)`)
	placeholder = regexp.MustCompile(`\b[A-Z]+\b`) // and …
	optional    = regexp.MustCompile(`\[[^]]*[A-Z][^]]*\]`)
	inOtherFile = regexp.MustCompile(`(?:^|[ /])(weft [a-z]+ .+)$`)
	argsOfImage = regexp.MustCompile(`args: \[(.*)\]`)
)

// runBy returns the commands that internal/pages runs of a page and of the one in its testdata.
func runBy(texts ...string) (all []string) {
	for _, text := range texts {
		for _, block := range fenced.FindAllStringSubmatch(text, -1) {
			if block[1] != "sh" && block[1] != "console" {
				continue
			}
			for line := range strings.Lines(strings.ReplaceAll(block[2], "\\\n", "")) {
				line = strings.TrimSpace(endComment.ReplaceAllString(line, ""))
				line = strings.Replace(strings.TrimPrefix(line, "$ "), "go run ./cmd/weft ", "weft ", 1)
				if !strings.HasPrefix(line, "#") {
					all = append(all, line)
				}
			}
		}
	}
	return all
}

// namedIn returns the commands and options that a page names between backticks, and the commands of
// its blocks that are a file of another program, such as a unit of systemd. A word of also begins
// one, too.
func namedIn(page string, also *regexp.Regexp) (all []string) {
	for _, block := range fenced.FindAllStringSubmatch(page, -1) {
		if block[1] == "sh" || block[1] == "console" || block[1] == "go" {
			continue
		}
		for line := range strings.Lines(strings.ReplaceAll(block[2], "\\\n", "")) {
			line = strings.TrimSpace(line)
			if m := argsOfImage.FindStringSubmatch(line); m != nil {
				line = "weft " + strings.NewReplacer(",", "", `"`, "").Replace(m[1])
			}
			if m := inOtherFile.FindStringSubmatch(line); m != nil {
				all = append(all, strings.Join(strings.Fields(m[1]), " "))
			}
		}
	}
	for _, span := range regexp.MustCompile("`[^`]+`").FindAllString(fenced.ReplaceAllString(page, ""), -1) {
		words := strings.Fields(strings.ReplaceAll(strings.Trim(span, "`"), `\|`, "|"))
		if len(words) == 0 || others.MatchString(words[0]) || ofOthers[words[0]] {
			continue
		}
		if words[0] == "weft" && len(words) > 1 || also.MatchString(words[0]) || slices.ContainsFunc(words, isOption.MatchString) {
			all = append(all, strings.Join(words, " "))
		}
	}
	return all
}

// spellings returns expressions for a command or option: one for each alternative. Words in
// capitals and … stand for something, and others may come in between.
func spellings(named string) (all []*regexp.Regexp) {
	ways := [][]string{nil}
	for word := range strings.FieldsSeq(named) {
		var next [][]string
		for one := range strings.SplitSeq(strings.Trim(word, "|"), "|") {
			if one != word && !isOption.MatchString(one) && placeholder.MatchString(one) {
				one = "X" // FILE|URL: either will do
			}
			one = strings.ReplaceAll(optional.ReplaceAllString(one, ""), "...", "…")
			if !isOption.MatchString(one) || strings.Contains(one, "=") {
				if rest, ok := strings.CutSuffix(one, "…"); ok && rest != "" {
					one = strings.TrimSuffix(rest, ",")
				}
				one = placeholder.ReplaceAllString(strings.ReplaceAll(one, "…", "X"), "\x00")
			}
			is := strings.ReplaceAll(regexp.QuoteMeta(one), "\x00", `\S+`)
			for _, way := range ways {
				next = append(next, append(slices.Clone(way), is))
			}
		}
		ways = next
	}
	for _, way := range ways {
		all = append(all, regexp.MustCompile(`(^|[\s(])`+strings.Join(way, `\s(.*\s)?`)+`([\s;,)]|$)`))
	}
	return all
}

// TestPagesInline: the tests of internal/pages run each command and option between backticks in the
// text of the pages for people, in a block of the page or of the page of that name in testdata. Of
// docs/cluster.md they run addresses of servers, too, and of that page and docs/jobs.md orders.
func TestPagesInline(t *testing.T) {
	named := []string{"kill", `(nats|tls|ws|wss)://.+`}
	for _, o := range orders {
		named = append(named, o.name)
	}
	ofJobs := regexp.MustCompile("^(" + strings.Join(named[2:], "|") + ")$")
	for _, cmd := range append(rootCommand(io.Discard).Commands(), clusterCommand().Commands()...) {
		named = append(named, cmd.Name())
	}
	also := map[string]*regexp.Regexp{"docs/cluster.md": regexp.MustCompile("^(" + strings.Join(named, "|") + ")$"), "docs/jobs.md": ofJobs}
	nothing := regexp.MustCompile(`^$`)
	count := 0
	for _, path := range pagesForPeople(t) {
		page := readPage(t, "../../"+path)
		more := "internal/pages/testdata/" + filepath.Base(path)
		text, err := os.ReadFile("../../" + more)
		if err != nil && !os.IsNotExist(err) {
			t.Fatal(err)
		}
		run := runBy(page, string(text))
		begins := also[path]
		if begins == nil {
			begins = nothing
		}
		for _, name := range namedIn(page, begins) {
			count++
			for _, is := range spellings(name) {
				if !slices.ContainsFunc(run, is.MatchString) {
					t.Errorf("%s names %s, which no test runs: add a command to %s", path, name, more)
				}
			}
		}
	}
	if count < 600 {
		t.Errorf("%d commands and options found, expected some 700", count)
	}
}

// TestPagesFlags: each flag that a page names is one of weft or weft-nats, and the guide has each
// of weft crawl in its table of flags by concern.
func TestPagesFlags(t *testing.T) {
	flags := map[string]bool{"help": true, "help-all": true, "version": true, "config": true, "no-config": true, "profile": true}
	everyCommand(func(cmd *cobra.Command) { cmd.Flags().VisitAll(func(f *pflag.Flag) { flags[f.Name] = true }) })
	for _, m := range regexp.MustCompile(`--([a-z-]+)`).FindAllStringSubmatch(readPage(t, "../weft-nats/help.txt"), -1) {
		flags[m[1]] = true
	}
	crawl := crawlCommand()
	for _, name := range pagesForPeople(t) {
		text := readPage(t, filepath.Join("../..", name))
		for _, m := range regexp.MustCompile(`(?:^|[^-\w])--([a-z](?:[-a-z0-9.]*[a-z0-9])?)`).FindAllStringSubmatch(text, -1) {
			if !flags[m[1]] && !ofOthers["--"+m[1]] {
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
