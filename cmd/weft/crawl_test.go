package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/weftcrawl/weft/internal/wefttest"
)

// many answers with links to a number of pages.
func many(pages int) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		var paths []string
		for i := range pages {
			paths = append(paths, fmt.Sprintf("/%d", i))
		}
		wefttest.HTML(w, paths...)
	}
}

func TestCrawlCommand(t *testing.T) {
	s := wefttest.NewAsked(t, false, many(5))
	e := weftRun(t, "crawl", "-c", "2", s.URL)
	if e.code != exitDone || e.stdout != "" {
		t.Fatalf("%+v", e)
	}
	jobs, _ := filepath.Glob(filepath.Join(e.dir, "127.0.0.1_*.weft"))
	if len(jobs) != 1 {
		t.Fatalf("job folders: %v", jobs)
	}
	b, err := os.ReadFile(filepath.Join(jobs[0], "pages.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	lines := 0
	for line := range strings.Lines(string(b)) {
		lines++
		var r struct{ URL string }
		if err := json.Unmarshal([]byte(line), &r); err != nil || !strings.HasPrefix(r.URL, s.URL) {
			t.Errorf("record %q: %v", line, err)
		}
	}
	if lines != 6 || !strings.Contains(e.stderr, "6 URLs in") {
		t.Errorf("%d records; report:\n%s", lines, e.stderr)
	}

	again, stderr := weftCommand(t, "crawl", s.URL)
	again.Dir = e.dir
	if code := exitCode(again.Run()); code != exitDone || len(s.Got()) != 6 || !strings.Contains(stderr.String(), " recrawls it, --fresh starts over") {
		t.Errorf("a second crawl into the same folder: exit %d, %d requests in all: %q", code, len(s.Got()), stderr)
	}
}

// TestStream: with -o -, standard output holds records only; a reader that leaves ends the crawl.
func TestStream(t *testing.T) {
	s := wefttest.NewAsked(t, false, wefttest.Star)
	e := weftRun(t, "crawl", "-o", "-", s.URL)
	if left, _ := os.ReadDir(e.dir); e.code != exitDone || strings.Count(e.stdout, "\n") != 4 || len(left) > 0 || !strings.Contains(e.stderr, "4 URLs in") {
		t.Errorf("%+v, left behind: %v", e, left)
	}
	endless := wefttest.NewAsked(t, false, func(w http.ResponseWriter, r *http.Request) { wefttest.HTML(w, r.URL.Path+"a", r.URL.Path+"b") })
	cmd, stderr := weftCommand(t, "crawl", "-o", "-", endless.URL)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := out.Read(make([]byte, 1)); err != nil {
		t.Fatal(err)
	}
	out.Close()
	if code := exitCode(cmd.Wait()); code != exitPipe || stderr.String() != "" {
		t.Errorf("exit %d: %s", code, stderr)
	}
}

// TestFullOutput: after a partial write, the file holds whole records.
func TestFullOutput(t *testing.T) {
	t.Parallel()
	s := wefttest.NewAsked(t, false, many(100))
	for _, format := range []string{"jsonl", "csv", "urls"} {
		// The limit counts blocks of 512 bytes.
		cmd := exec.CommandContext(t.Context(), "sh", "-c", "ulimit -f 2; "+os.Args[0]+" crawl --format "+format+" -o out "+s.URL)
		cmd.Env, cmd.Dir = append(os.Environ(), "WEFT_TEST_MAIN=1"), t.TempDir()
		printed, err := cmd.CombinedOutput()
		b, _ := os.ReadFile(filepath.Join(cmd.Dir, "out"))
		if exitCode(err) != exitError || !strings.Contains(string(printed), "file too large") || len(b) == 0 || b[len(b)-1] != '\n' {
			t.Errorf("%s: %v, %s; written: %q", format, err, printed, b)
		}
	}
}

// TestNobodyListens: a crawl continues when standard error is closed.
func TestNobodyListens(t *testing.T) {
	s := wefttest.NewAsked(t, false, many(20))
	cmd := exec.CommandContext(t.Context(), "sh", "-c", os.Args[0]+" crawl -v --job job "+s.URL+" 2>&- >&-")
	cmd.Env, cmd.Dir = append(os.Environ(), "WEFT_TEST_MAIN=1"), t.TempDir()
	err := cmd.Run()
	b, _ := os.ReadFile(filepath.Join(cmd.Dir, "job/pages.jsonl"))
	if n := strings.Count(string(b), "\n"); err != nil || n != 21 {
		t.Errorf("%v, %d records", err, n)
	}
}

// TestSeedList: a list is read as a stream, from a file or standard input.
func TestSeedList(t *testing.T) {
	s := wefttest.NewAsked(t, false, wefttest.Star)
	cmd, stderr := weftCommand(t, "crawl", "--scope", "page", "-i", "-", "-o", "-", "--format", "urls", s.URL+"/first")
	cmd.Stdin = strings.NewReader("# seeds\n\n  " + s.URL + "/one  \nnot a URL\x1b\n" + strings.Repeat("x", maxLine+1) + "\r\n" + s.URL + "/two\r\n" + s.URL + "/last")
	out, err := cmd.Output()
	if got := s.Paths(); err != nil || got != "/first /last /one /two" || strings.Count(string(out), "\n") != 4 {
		t.Errorf("%v: requested %s, wrote %s", err, got, out)
	}
	for _, want := range []string{"standard input:4: ", `\x1b`, "standard input:5: longer than"} {
		if !strings.Contains(stderr.String(), want) {
			t.Errorf("no warning with %q: %s", want, stderr)
		}
	}
}

// TestMistakes: a mistake prints one line that names the flag and what was expected, and writes no
// files.
func TestMistakes(t *testing.T) {
	const u = "http://127.0.0.1:1/"
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		return path
	}
	bad, empty := write("bad", "# list\nnonsense\n"+u), write("empty", "# nothing\n\n")
	for name, c := range map[string]struct {
		args []string
		want []string
	}{
		"no URL":             {[]string{"crawl"}, []string{"no URL given", "https://example.org/"}},
		"no job":             {[]string{"crawl", "--job", "nosuch"}, []string{"crawl: no URL given, expected one such as https://example.org/, or the folder of a job\n"}},
		"empty URL":          {[]string{"crawl", " "}, []string{`""`, "empty, expected"}},
		"port as scheme":     {[]string{"fetch", "host:x"}, []string{"host:x", "expected http or https"}},
		"flag of curl":       {[]string{"crawl", "--data", "q=1", "http://127.0.0.1/"}, []string{"--data", "did you mean --post-data?"}},
		"no such command":    {[]string{"crwl"}, []string{"crwl", "did you mean crawl?"}},
		"command unlike any": {[]string{"frobnicate"}, []string{"frobnicate", "weft --help"}},
		"help for nothing":   {[]string{"help", "crawls"}, []string{"crawls", "did you mean crawl?"}},
		"completion":         {[]string{"completion", "tcsh"}, []string{"tcsh", "expected one"}},
		"URL as command":     {[]string{u}, []string{u, "weft crawl URL"}},
		"no such shorthand":  {[]string{"crawl", "-Z", u}, []string{"'Z'", "weft crawl --help"}},
		"flag twice wrong":   {[]string{"crawl", "--=3", u}, []string{"--=3"}},
		"no such flag":       {[]string{"crawl", "--dept", "3", u}, []string{"--dept"}},
		"no scheme":          {[]string{"crawl", "intranet"}, []string{`"intranet"`, "no scheme, expected"}},
		"other scheme":       {[]string{"crawl", "ftp://example.org/"}, []string{"ftp", "expected http or https"}},
		"bad host":           {[]string{"crawl", "http://a b/"}, []string{"http://a b/"}},
		"escape in URL":      {[]string{"crawl", "foo\x1b[2J"}, []string{`\x1b`}},
		"second URL":         {[]string{"crawl", u, "//example.net"}, []string{`"//example.net"`}},
		"not a number":       {[]string{"crawl", "-c", "many", u}, []string{`"many"`, "--concurrency", "expected a whole number, 1 or more"}},
		"zero workers":       {[]string{"crawl", "-c", "0", u}, []string{"--concurrency", "1 or more"}},
		"too many workers":   {[]string{"crawl", "-c", "99999999", u}, []string{`--concurrency "99999999"`, "expected at most", "ulimit -n"}},
		"negative depth":     {[]string{"crawl", "--depth=-1", u}, []string{"--depth", "0 or more"}},
		"negative limit":     {[]string{"crawl", "--limit=-5", u}, []string{"--limit", "1 or more"}},
		"negative host":      {[]string{"crawl", "--limit-per-host=-5", u}, []string{"--limit-per-host", "1 or more"}},
		"per host":           {[]string{"crawl", "--per-host=0", u}, []string{"--per-host", "1 or more"}},
		"negative retries":   {[]string{"crawl", "--retries=-1", u}, []string{"--retries", "0 or more"}},
		"negative redirects": {[]string{"crawl", "--max-redirects=-1", u}, []string{"--max-redirects", "0 or more"}},
		"negative delay":     {[]string{"crawl", "--delay=-1s", u}, []string{"--delay", "expected a time"}},
		"rate":               {[]string{"crawl", "--rate-limit", "NaN", u}, []string{"--rate-limit", "above 0"}},
		"no timeout":         {[]string{"crawl", "--timeout=0s", u}, []string{"--timeout", "above 0"}},
		"no unit":            {[]string{"crawl", "--idle-timeout=30", u}, []string{"--idle-timeout", "30s"}},
		"max time":           {[]string{"crawl", "--max-time", "soon", u}, []string{"--max-time", "expected a time"}},
		"size":               {[]string{"crawl", "--max-body", "16 apples", u}, []string{"--max-body", "16MiB"}},
		"no size":            {[]string{"crawl", "--min-rate", "0", u}, []string{"--min-rate", "above 0"}},
		"expression":         {[]string{"crawl", "--include", "a(b", u}, []string{"--include", "missing closing )", "expected a regular expression"}},
		"other expression":   {[]string{"crawl", "--exclude", "[", u}, []string{"--exclude", "expected a regular expression"}},
		"scope":              {[]string{"crawl", "--scope", "site", u}, []string{"--scope", "page, prefix, host, domain, any"}},
		"format":             {[]string{"crawl", "--format", "xml", "-o", "-", u}, []string{"--format", "jsonl, urls, csv"}},
		"end of a file":      {[]string{"crawl", "-o", "x.parquet", u}, []string{`--output "x.parquet": expected FILE.jsonl or FILE.csv, or --format`, "weft export"}},
		"format of nothing":  {[]string{"crawl", "--format", "csv", u}, []string{"--format", "-o -"}},
		"log format":         {[]string{"crawl", "--log-format", "xml", u}, []string{"--log-format", "text, json"}},
		"quiet and verbose":  {[]string{"crawl", "-q", "-v", u}, []string{"--quiet", "--verbose", "expected one"}},
		"header":             {[]string{"crawl", "-H", "Accept", u}, []string{"--header", "NAME: VALUE"}},
		"header's name":      {[]string{"crawl", "-H", "a b: c", u}, []string{"--header", "expected a name"}},
		"header's value":     {[]string{"crawl", "-H", "A: b\r\nC: d", u}, []string{"--header"}},
		"user agent":         {[]string{"crawl", "-A", "a\nb", u}, []string{"--user-agent"}},
		"override":           {[]string{"crawl", "--resolve", "example.org", u}, []string{"--resolve", "HOST:PORT:ADDR"}},
		"name server":        {[]string{"crawl", "--dns", "dns.example.org", u}, []string{"--dns", "192.0.2.53"}},
		"no certificates":    {[]string{"crawl", "--ca", "missing.pem", u}, []string{"--ca", "missing.pem"}},
		"no PEM":             {[]string{"crawl", "--ca", empty, u}, []string{"--ca", "PEM"}},
		"no list":            {[]string{"crawl", "-i", "missing.txt"}, []string{"--input", "missing.txt"}},
		"list is a folder":   {[]string{"crawl", "-i", dir}, []string{"--input", "directory"}},
		"empty list":         {[]string{"crawl", "-i", empty}, []string{"--input", "no URL in it"}},
		"list names an URL":  {[]string{"crawl", "--strict", "-i", bad, u}, []string{"--input", "bad:2", "no scheme"}},
		"no name of a list":  {[]string{"crawl", "-i", "", u}, []string{`--input "": expected a FILE`}},
		"standard input":     {[]string{"crawl", "-i", "-"}, []string{"--input standard input: no URL in it, expected one per line"}},
		"list of something":  {[]string{"crawl", "--strict", "-i", bad}, []string{"--input", "bad:2", "nonsense"}},
		"folder in a file":   {[]string{"crawl", "--job", empty + "/job", u}, []string{`--job "`, "not a directory, expected a new folder"}},
		"folder's name":      {[]string{"crawl", "--job", strings.Repeat("a", 300), u}, []string{`--job "`, "file name too long, expected a new folder"}},
		"folder in /proc":    {[]string{"crawl", "--job", "/proc/job", u}, []string{`--job "/proc/job": `, "no such file or directory"}},
		"folder of a host":   {[]string{"crawl", "http://" + strings.Repeat("a.", 130) + "test/"}, []string{"test.weft: file name too long, expected a new folder"}},
		"folder there":       {[]string{"crawl", "--job", dir, u}, []string{`--job "`, "already exists, and is not that of a job, expected a new folder: name another"}},
		"no folder":          {[]string{"crawl", "--job=", u}, []string{`--job "": expected a folder`}},
		"output":             {[]string{"crawl", "-o", "no/such", u}, []string{"--output", "no/such"}},
		"output is a folder": {[]string{"crawl", "-o", dir, u}, []string{"--output", "directory"}},
		"output in a file":   {[]string{"crawl", "-o", empty + "/out", u}, []string{`--output "`, "not a directory, expected a file"}},
		"output, bad URL":    {[]string{"crawl", "-o", "new.jsonl", "ftp://example.org"}, []string{"example.org"}},
		"fetch: no URL":      {[]string{"fetch"}, []string{"expected one"}},
		"fetch: bad URL":     {[]string{"fetch", "example"}, []string{"example", "expected"}},
		"fetch: redirects":   {[]string{"fetch", "--max-redirects", "3", u}, []string{"--max-redirects", "--follow"}},
		"fetch: output":      {[]string{"fetch", "-o", "no/such", u}, []string{"--output", "no/such"}},
		"fetch: head, body":  {[]string{"fetch", "-I", "-o", "-", u}, []string{"--head", "--output"}},
		"fetch: two things":  {[]string{"fetch", "--json", "-o", "-", u}, []string{"--json", "--output"}},
		"links: no file":     {[]string{"links", "missing.html"}, []string{"missing.html", "expected a file, - for standard input, or a URL"}},
		"links: base":        {[]string{"links", "--base", "docs/", empty}, []string{"--base", "docs/"}},
		"links: a folder":    {[]string{"links", dir}, []string{"directory, expected a file"}},
		"sitemap: no file":   {[]string{"sitemap", "missing.xml"}, []string{`sitemap: "missing.xml"`, "expected a file, - for standard input, or a URL"}},
		"sitemap: base":      {[]string{"sitemap", "--base", "docs/", empty}, []string{"--base", "docs/"}},
		"sitemap: two":       {[]string{"sitemap", "a", "b"}, []string{"2 sitemaps given, expected one FILE or URL"}},
		"sitemap: URL":       {[]string{"sitemap", "http://[/"}, []string{"http://["}},
		"demo: argument":     {[]string{"demo", "now"}, []string{"now", "expected none"}},
		"demo: seed":         {[]string{"demo", "--seed", "x"}, []string{"--seed", "expected a whole number"}},
		"demo: folder":       {[]string{"demo", "--job", dir}, []string{"--job", "expected a new folder"}},
		"robots: argument":   {[]string{"robots", "tset"}, []string{"tset", "weft robots --help", "did you mean test?"}},
		"demo: no pages":     {[]string{"demo", "--pages", "0"}, []string{"--pages", "1 or more"}},
		"version: argument":  {[]string{"version", "now"}, []string{"now"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := weftRun(t, c.args...)
			if e.code != exitUsage || e.stdout != "" || strings.Count(e.stderr, "\n") != 1 || strings.Contains(e.stderr, "\x1b") {
				t.Errorf("exit %d, %q, %q; expected exit %d and one line", e.code, e.stdout, e.stderr, exitUsage)
			}
			for _, want := range c.want {
				if !strings.Contains(e.stderr, want) {
					t.Errorf("%q, expected it to say %q", e.stderr, want)
				}
			}
			if left, _ := os.ReadDir(e.dir); len(left) > 0 {
				t.Errorf("left behind: %v", left)
			}
		})
	}
}

// TestOutputKept: the output file is not emptied for a crawl that does not start.
func TestOutputKept(t *testing.T) {
	path := filepath.Join(t.TempDir(), "out")
	if err := os.WriteFile(path, []byte("kept"), 0o666); err != nil {
		t.Fatal(err)
	}
	weftRun(t, "crawl", "-o", path, "ftp://example.org")
	if b, _ := os.ReadFile(path); string(b) != "kept" {
		t.Errorf("it has %q", b)
	}
	s := wefttest.NewAsked(t, false, wefttest.Star)
	weftRun(t, "crawl", "-o", path, s.URL)
	if b, _ := os.ReadFile(path); !strings.HasPrefix(string(b), "{") {
		t.Errorf("after a crawl it has %q", b)
	}
}

func TestNothingFetched(t *testing.T) {
	e := weftRun(t, "crawl", "--retries", "0", "--job", "job", "http://127.0.0.1:1/")
	if e.code != exitError || !strings.Contains(e.stderr, "no seed could be fetched: http://127.0.0.1:1/") || !strings.Contains(e.stderr, "connection refused") {
		t.Errorf("exit %d: %s", e.code, e.stderr)
	}
}

// TestNothingFetchedSaysOnce: the error of the only seed is printed once, those of several are all
// in the report, and none a second time because its host was given up.
func TestNothingFetchedSaysOnce(t *testing.T) {
	t.Parallel()
	const absent, refuses = "http://nosuch.invalid/", "http://127.0.0.1:1/"
	one := weftRun(t, "crawl", "--job", "job", absent)
	if one.code != exitError || strings.Count(one.stderr, "no such host") != 1 {
		t.Errorf("exit %d: %s", one.code, one.stderr)
	}
	two := weftRun(t, "crawl", "--retries", "0", "--job", "job", absent, refuses)
	if two.code != exitError || !strings.Contains(two.stderr, "  "+absent+": ") || !strings.Contains(two.stderr, "  "+refuses+": ") || strings.Contains(two.stderr, "given up") {
		t.Errorf("exit %d: %s", two.code, two.stderr)
	}
}

// TestFewDescriptors: a concurrency beyond the descriptors is a usage error; the default adapts to
// them.
func TestFewDescriptors(t *testing.T) {
	t.Parallel()
	s := wefttest.NewAsked(t, false, many(200))
	sh := func(args string) (int, string) {
		cmd := exec.CommandContext(t.Context(), "sh", "-c", "ulimit -n 64; exec "+os.Args[0]+" crawl --job job "+args+" "+s.URL)
		cmd.Env, cmd.Dir = append(os.Environ(), "WEFT_TEST_MAIN=1"), t.TempDir()
		out, err := cmd.CombinedOutput()
		return exitCode(err), string(out)
	}
	if code, out := sh("-c 1000"); code != exitUsage || !strings.Contains(out, "descriptor") {
		t.Errorf("1,000 workers with 64 descriptors: exit %d: %s", code, out)
	}
	if code, out := sh(""); code != exitDone || !strings.Contains(out, "201 URLs in") {
		t.Errorf("the default with 64 descriptors: exit %d: %s", code, out)
	}
}

// TestFullDisk: a record that cannot be written ends the crawl with an error; the file holds whole
// lines.
func TestFullDisk(t *testing.T) {
	t.Parallel()
	s := wefttest.NewAsked(t, false, many(100))
	// The limit counts blocks of 512 bytes.
	cmd := exec.CommandContext(t.Context(), "sh", "-c", "ulimit -f 8; exec "+os.Args[0]+" crawl --job job "+s.URL)
	cmd.Env, cmd.Dir = append(os.Environ(), "WEFT_TEST_MAIN=1"), t.TempDir()
	dir := cmd.Dir
	out, err := cmd.CombinedOutput()
	b, _ := os.ReadFile(filepath.Join(cmd.Dir, "job/pages.jsonl"))
	if code := exitCode(err); code != exitError || strings.Count(string(out), "file too large") != 1 ||
		!strings.Contains(string(out), ", an error ended the crawl; the same command resumes it\n") {
		t.Errorf("exit %d: %s", code, out)
	}
	if len(b) > 0 && b[len(b)-1] != '\n' {
		t.Errorf("the records end with %q", b[max(0, len(b)-40):])
	}
	cmd = exec.CommandContext(t.Context(), os.Args[0], "crawl", "--job", "job", s.URL)
	cmd.Env, cmd.Dir = append(os.Environ(), "WEFT_TEST_MAIN=1"), dir
	if out, err := cmd.CombinedOutput(); err != nil || !strings.Contains(string(out), "101 URLs in") {
		t.Errorf("it does not go on: %v\n%s", err, out)
	}
	b, _ = os.ReadFile(filepath.Join(cmd.Dir, "job/pages.jsonl"))
	if n := strings.Count(string(b), "\n"); n != 101 {
		t.Errorf("in the end there are %d records, want 101", n)
	}
}

// TestDepthZero: 0 is no limit, as weft.Reach.Depth has it, and the command says so: some expect it
// to be none.
func TestDepthZero(t *testing.T) {
	s := wefttest.NewAsked(t, false, func(w http.ResponseWriter, r *http.Request) {
		if len(r.URL.Path) < 5 {
			wefttest.HTML(w, r.URL.Path+"a")
		}
	})
	const hint = "weft: --depth 0: no limit, as without it; --scope page fetches only the given URLs\n"
	e := weftRun(t, "crawl", "-d", "0", "-o", "-", "--format", "urls", s.URL)
	if e.code != exitDone || strings.Count(e.stdout, "\n") != 5 || !strings.HasPrefix(e.stderr, hint) {
		t.Errorf("exit %d: %s%s", e.code, e.stdout, e.stderr)
	}
	e = weftRun(t, "crawl", "--scope", "page", "-o", "-", "--format", "urls", s.URL)
	if e.code != exitDone || e.stdout != s.URL+"/\n" || strings.Contains(e.stderr, "--depth") {
		t.Errorf("exit %d: %s%s", e.code, e.stdout, e.stderr)
	}
}
