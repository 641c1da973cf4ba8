package main

import (
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"github.com/weftcrawl/weft/internal/golden"
)

// everyCommand calls fn with each command but cobra's own.
func everyCommand(fn func(cmd *cobra.Command)) {
	var walk func(cmd *cobra.Command)
	walk = func(cmd *cobra.Command) {
		if cmd.Hidden || cmd.Name() == "completion" || cmd.Name() == "help" {
			return
		}
		fn(cmd)
		for _, sub := range cmd.Commands() {
			walk(sub)
		}
	}
	walk(rootCommand(os.Stdout))
}

// arg returns the arguments of weft for a command.
func arg(cmd *cobra.Command, more ...string) []string {
	return append(strings.Fields(cmd.CommandPath())[1:], more...)
}

// helpOf returns what weft prints with arguments that ask for help, without a process.
func helpOf(t *testing.T, args ...string) string {
	t.Helper()
	var out strings.Builder
	root := rootCommand(&out)
	root.SetArgs(args)
	if err := root.Execute(); err != nil {
		t.Errorf("weft %s: %v", args, err)
	}
	return out.String()
}

// TestHelp: the help of every command fits two screens of 24 lines and 80 columns, with one line
// per flag; --help-all shows all flags.
func TestHelp(t *testing.T) {
	t.Parallel()
	everyCommand(func(cmd *cobra.Command) {
		name := cmd.CommandPath()
		if cmd.Name() == "kinds" {
			return // a topic: see TestHelpKinds
		}
		brief := helpOf(t, arg(cmd, "--help")...)
		all := brief
		if cmd.Flags().Lookup("help-all") != nil {
			all = helpOf(t, arg(cmd, "--help-all")...)
		}
		if n := strings.Count(brief, "\n"); n > 48 {
			t.Errorf("%s --help: %d lines", name, n)
		}
		for line := range strings.Lines(brief + all) {
			if n := len([]rune(strings.TrimSuffix(line, "\n"))); n > 80 {
				t.Errorf("%s: a line of %d columns: %s", name, n, line)
			}
		}
		for _, g := range flagGroups(cmd, true) {
			for _, o := range g.options {
				synopsis := o.synopsis()
				if !cmd.HasParent() { // which has them in one line
					synopsis = strings.TrimSpace(synopsis)
				}
				if !strings.Contains(all, synopsis) || strings.Contains(brief, synopsis) == o.advanced {
					t.Errorf("%s: --%s stands in the wrong help", name, o.name)
				}
				if o.help == "" || strings.Contains(o.help, "\n") || strings.HasSuffix(o.help, ".") {
					t.Errorf("%s: --%s: help %q, expected one line without a full stop", name, o.name, o.help)
				}
			}
		}
		if again := helpOf(t, append([]string{"help"}, arg(cmd)...)...); again != brief {
			t.Errorf("weft help %s: %s", name, again)
		}
	})
	golden.Equal(t, "testdata/help.txt", weftRun(t, "--help").stdout)
	golden.Equal(t, "testdata/help-crawl.txt", weftRun(t, "crawl", "--help").stdout)
	golden.Equal(t, "testdata/help-crawl-all.txt", weftRun(t, "crawl", "--help-all").stdout)
	golden.Equal(t, "testdata/help-fetch.txt", weftRun(t, "fetch", "--help").stdout)
}

// TestHelpSections: the help lists every command in one section, in the imperative, on one line.
func TestHelpSections(t *testing.T) {
	root := rootCommand(os.Stdout)
	help := weftRun(t, "--help").stdout
	if first := strings.Index(help, "\n  "); !strings.HasPrefix(help[first:], "\n  crawl ") {
		t.Errorf("crawl is not the first command: %s", help)
	}
	for _, cmd := range root.Commands() {
		if cmd.Hidden {
			continue
		}
		if n := strings.Count(help, "\n  "+cmd.Name()+" "); n != 1 || cmd.GroupID == "" {
			t.Errorf("%s is listed %d times, in section %q", cmd.Name(), n, cmd.GroupID)
		}
		if len(cmd.Short) > 60 || strings.HasSuffix(cmd.Short, ".") {
			t.Errorf("%s: %q", cmd.Name(), cmd.Short)
		}
	}
}

// TestMan: there is a page for each command, with its flags, that a formatter takes.
func TestMan(t *testing.T) {
	t.Parallel()
	e := weftRun(t, "man", "pages")
	if e.code != exitDone || e.stdout+e.stderr != "" {
		t.Fatalf("%+v", e)
	}
	everyCommand(func(cmd *cobra.Command) {
		page := e.file("pages/" + pageName(cmd) + ".1")
		cmd.LocalFlags().VisitAll(func(f *pflag.Flag) {
			if optionOf(f).group != "" && !f.Hidden && !strings.Contains(page, roff("--"+f.Name)) {
				t.Errorf("%s: nothing about --%s", pageName(cmd), f.Name)
			}
		})
	})
	if _, err := exec.LookPath("groff"); err != nil {
		t.Skip("groff is not installed")
	}
	pages, _ := filepath.Glob(filepath.Join(e.dir, "pages", "*.1"))
	for _, page := range pages {
		out, err := exec.CommandContext(t.Context(), "groff", "-man", "-ww", "-Tutf8", page).CombinedOutput()
		if err != nil || strings.Contains(string(out), "warning") {
			t.Errorf("%s: %v: %.500s", filepath.Base(page), err, out)
		}
	}
	if e := weftRun(t, "man", "/dev/null/pages"); e.code != exitUsage || !strings.Contains(e.stderr, "expected a folder") {
		t.Errorf("no folder: %+v", e)
	}
}

// TestComplete asks for completions as a shell does.
func TestComplete(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, path := range []string{"a.weft", "crawls/b.weft", "crawls/named/state", "crawls/other", "docs"} {
		if err := os.MkdirAll(filepath.Join(dir, path), 0o777); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "file.weft"), nil, 0o666); err != nil {
		t.Fatal(err)
	}
	const files, noFiles, noSpace, dirs = ":0", ":4", ":6", ":16"
	for _, c := range []struct{ args, want string }{
		{"status ", "a.weft " + noFiles},
		{"hosts a", "a.weft " + noFiles},
		{"urls crawls/", "crawls/b.weft crawls/named " + noFiles},
		{"why d", dirs},
		{"why a.weft ", noFiles},
		{"ctl ", "a.weft " + noFiles},
		{"ctl a.weft ", "pause resume stop set exclude add tasks " + noFiles},
		{"ctl a.weft re", "resume " + noFiles},
		{"ctl a.weft set ", "concurrency= delay= limit= max-time= per-host= rate-limit= " + noSpace},
		{"ctl a.weft set delay=2s per", "per-host= " + noSpace},
		{"ctl a.weft pause ", noFiles},
		{"crawl ", noFiles},
		{"crawl --job ", "a.weft " + noFiles},
		{"crawl --update crawls/n", "crawls/named " + noFiles},
		{"crawl --input ", files},
		{"crawl --limit ", noFiles},
		{"crawl --scope ", "page prefix host domain any " + noFiles},
		{"crawl --scope=p", "page prefix " + noFiles},
		{"crawl --format ", "jsonl urls csv " + noFiles},
		{"crawl --log-format ", "text json " + noFiles},
		{"crawl --duplicates ", "off same near " + noFiles},
		{"crawl --canon s", "strip-www sort-query " + noSpace},
		{"crawl --canon sort-query,s", "sort-query,strip-www " + noSpace},
		{"url --canon drop-t", "drop-tracking " + noSpace},
		{"urls --state re", "refused " + noFiles},
		{"fetch ", noFiles},
		{"links ", files},
		{"man ", dirs},
		{"robots ", "test " + noFiles},
		{"completion z", "zsh " + noFiles},
	} {
		args := append([]string{"__complete"}, strings.Split(c.args, " ")...)
		e := weftIn(t, dir, args...)
		var got []string
		for line := range strings.Lines(e.stdout) {
			word, _, _ := strings.Cut(strings.TrimSpace(line), "\t")
			got = append(got, word)
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%q: %q, expected %q", c.args, strings.Join(got, " "), c.want)
		}
	}
}

// TestMakers: a command is the same alone and among all others.
func TestMakers(t *testing.T) {
	whole := rootCommand(io.Discard)
	for _, m := range makers(new(configFlags)) {
		alone, _, err := rootCommand(io.Discard, m.name).Find([]string{m.name})
		among, _, wrong := whole.Find([]string{m.name})
		if err != nil || wrong != nil || alone.Name() != m.name || among.Name() != m.name || alone.UsageString() != among.UsageString() {
			t.Errorf("%s: %s alone, %s among others, %v", m.name, alone.Name(), among.Name(), errors.Join(err, wrong))
		}
	}
}
