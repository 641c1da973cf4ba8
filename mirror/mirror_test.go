package mirror_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/weftcrawl/weft"
	"github.com/weftcrawl/weft/mirror"
	"github.com/weftcrawl/weft/record"
)

// jobOf makes the job of a crawl that has found pages: a Content-Type and a body each, "→" and a
// URL, "gone" or "POST". Their order is any.
func jobOf(t *testing.T, pages map[string][2]string) string {
	t.Helper()
	dir := t.TempDir()
	urls := slices.Collect(maps.Keys(pages))
	rand.Shuffle(len(urls), func(i, j int) { urls[i], urls[j] = urls[j], urls[i] })
	var lines []byte
	err := os.MkdirAll(filepath.Join(dir, "bodies"), 0o777)
	for _, url := range urls {
		page := pages[url]
		r := record.Record{URL: url, Status: 200, ContentType: page[0], Tries: 1, Depth: 1}
		if strings.HasSuffix(url, ".test/") {
			r.Depth = 0
		}
		switch page[0] {
		case "→":
			r.Status, r.Redirect, r.ContentType = 301, page[1], ""
		case "gone":
			r.Status = 404
		case "POST":
			r.Method = "POST"
		default:
			sum := sha256.Sum256([]byte(page[1]))
			r.SHA256 = hex.EncodeToString(sum[:])
			path := filepath.Join(dir, "bodies", r.SHA256[:2], r.SHA256)
			err = errors.Join(err, os.MkdirAll(filepath.Dir(path), 0o777), os.WriteFile(path, []byte(page[1]), 0o666))
		}
		lines = append(lines, r.Line()...)
	}
	if err = errors.Join(err, os.WriteFile(filepath.Join(dir, "pages.jsonl"), lines, 0o666)); err != nil {
		t.Fatal(err)
	}
	return dir
}

// tree returns the files of a folder, but for what is hidden.
func tree(t *testing.T, dir string) map[string]string {
	t.Helper()
	files := make(map[string]string)
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if d.Name() == mirror.Hidden {
			return fs.SkipDir
		}
		if err == nil && !d.IsDir() {
			name, _ := filepath.Rel(dir, path)
			b, _ := os.ReadFile(path)
			files[name] = string(b)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// names returns those of files, in order.
func names(files map[string]string) string {
	return strings.Join(slices.Sorted(maps.Keys(files)), "\n")
}

const html = "text/html"

// TestNames: what clashes gets names that do not depend on the order of fetching, and a URL keeps
// its name when others come.
func TestNames(t *testing.T) {
	pages := map[string][2]string{
		"http://a.test/":           {html, "start"},
		"http://a.test/index.html": {html, "start"},
		"http://a.test/a":          {html, "a page"},
		"http://a.test/a.html":     {html, "another"},
		"http://a.test/A.html":     {html, "capital"},
		"http://a.test/b":          {"application/x", "a file"},
		"http://a.test/b/c":        {"application/x", "below"},
		"http://a.test/B/d":        {"application/x", "below a capital"},
		"http://a.test/x?1":        {html, "one"},
		"http://a.test/x?2":        {html, "two"},
		"https://a.test/x?2":       {html, "two"},
	}
	dir := t.TempDir()
	write(t, jobOf(t, pages), dir, mirror.Options{})
	want := `a.test/A.html
a.test/B/d
a.test/a~0babca87.html
a.test/a~e47e9389.html
a.test/b/c
a.test/b~d1bb2d7a
a.test/index.html
a.test/x@1.html
a.test/x@2.html
a.test/x@2~d8bc20a7.html`
	if got := names(tree(t, dir)); got != want {
		t.Errorf("\n%s\nwant\n%s", got, want)
	}
	for range 3 {
		again := t.TempDir()
		write(t, jobOf(t, pages), again, mirror.Options{})
		if got := names(tree(t, again)); got != want {
			t.Errorf("in another order:\n%s", got)
		}
	}
	pages["http://a.test/B/D"] = [2]string{"application/x", "late"}
	pages["http://a.test/x@1.html/y"] = [2]string{"application/x", "below a file"}
	pages["http://a.test/index.html"] = [2]string{html, "differs now"}
	write(t, jobOf(t, pages), dir, mirror.Options{})
	late := names(tree(t, dir))
	for name := range strings.SplitSeq(want, "\n") {
		if !strings.Contains(late, name) {
			t.Errorf("%s has another name:\n%s", name, late)
		}
	}
	if n := strings.Count(late, "\n") - strings.Count(want, "\n"); n != 3 {
		t.Errorf("%d more files, want 3:\n%s", n, late)
	}
}

// TestUpdate: only what has changed is written; what somebody else has changed is not; what is gone
// is removed on request.
func TestUpdate(t *testing.T) {
	pages := map[string][2]string{
		"http://a.test/":     {html, `<a href=same></a><a href=lost></a><a href=moves></a>`},
		"http://a.test/same": {html, "<p>same"}, "http://a.test/edit": {html, "<p>edit"}, "http://a.test/new": {html, "<p>old"},
		"http://a.test/lost": {html, "<p>lost"}, "http://a.test/dir/lost": {html, "<p>lost"}, "http://a.test/mine": {html, "<p>lost"},
		"http://a.test/moves": {html, "<p>moves"}, "http://a.test/form": {"POST", "<p>found"},
	}
	dir := t.TempDir()
	if r := write(t, jobOf(t, pages), dir, mirror.Options{}); r.Written != 8 || r.Files != 8 || r.Posts != 1 || r.Start != "a.test/index.html" {
		t.Errorf("%+v", r)
	}
	before := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for name := range tree(t, dir) {
		os.Chtimes(filepath.Join(dir, name), before, before)
	}
	for _, name := range []string{"edit.html", "mine.html", "other.txt"} {
		os.WriteFile(filepath.Join(dir, "a.test", name), []byte("by hand"), 0o666)
	}
	pages["http://a.test/new"] = [2]string{html, "<p>new"}
	pages["http://a.test/edit"] = [2]string{html, "<p>changed there, too"}
	pages["http://a.test/lost"], pages["http://a.test/dir/lost"], pages["http://a.test/mine"] = [2]string{"gone"}, [2]string{"gone"}, [2]string{"gone"}
	pages["http://a.test/moves"] = [2]string{"→", "http://a.test/same#there"}
	job := jobOf(t, pages)
	r := write(t, job, dir, mirror.Options{})
	if r.Written != 2 || r.Gone != 4 || r.Left != 1 || r.Removed != 0 {
		t.Errorf("%+v", r)
	}
	got := tree(t, dir)
	for name, want := range map[string]string{"edit": "by hand", "new": "new", "lost": "<p>lost", "index": `<a href="same.html#there">`} {
		if !strings.Contains(got["a.test/"+name+".html"], want) {
			t.Errorf("%s: %q, want %q", name, got["a.test/"+name+".html"], want)
		}
	}
	if info, err := os.Stat(filepath.Join(dir, "a.test/same.html")); err != nil || !info.ModTime().Equal(before) {
		t.Errorf("same.html was touched: %v", err)
	}
	r = write(t, job, dir, mirror.Options{Delete: true})
	if r.Removed != 3 || r.Gone != 0 || r.Left != 2 || r.Written != 1 {
		t.Errorf("%+v", r)
	}
	if got, want := names(tree(t, dir)), "a.test/edit.html\na.test/index.html\na.test/mine.html\na.test/new.html\na.test/other.txt\na.test/same.html"; got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
	if got := tree(t, dir)["a.test/index.html"]; !strings.Contains(got, `<a href="http://a.test/lost">`) {
		t.Errorf("a link to what is gone: %s", got)
	}
}

// TestHostile: nothing is written outside of the folder, through links neither, nor over what is
// there.
func TestHostile(t *testing.T) {
	dir, outside := t.TempDir(), t.TempDir()
	for _, err := range []error{
		os.MkdirAll(filepath.Join(dir, "a.test/theirs"), 0o777),
		os.WriteFile(filepath.Join(dir, "a.test/index.html"), []byte("mine"), 0o666),
		os.Symlink(outside, filepath.Join(dir, "a.test/out")),
		os.Symlink("theirs", filepath.Join(dir, "a.test/in")),
		os.Symlink(filepath.Join(outside, "file"), filepath.Join(dir, "a.test/file.html")),
		os.Symlink(outside, filepath.Join(dir, "b.test")),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	pages := make(map[string][2]string)
	long := strings.Repeat("long", 1000)
	for _, url := range []string{
		"http://a.test/", "http://a.test/out/x", "http://a.test/in/x", "http://a.test/file", "http://b.test/x", "http://../x", "http://.weft/files.jsonl",
		"http://a.test/..%2f..%2fetc/passwd", "http://a.test/%2e%2e/%2e%2e/y", "http://a.test/%00/nul", "http://a.test/a%5cb%5C..", "http://a.test/.htaccess", "http://a.test/" + long,
		"http://a.test/" + strings.Repeat("d/", 800), "http://a.test/con", "http://a.test/x./y.%20", "http://a.test/%E2%80%AEfdp.exe", "http://a.test/?" + long, "http://[::1]:80/x", "http://a.test/%ff%fe",
	} {
		pages[url] = [2]string{html, "of " + url}
	}
	r := write(t, jobOf(t, pages), dir, mirror.Options{Windows: true})
	if r.Files != len(pages) || r.Left > 0 {
		t.Errorf("%+v", r)
	}
	if left := names(tree(t, outside)) + names(tree(t, filepath.Join(dir, "a.test/theirs"))); left != "" {
		t.Errorf("outside: %s", left)
	}
	files := tree(t, dir)
	if files["a.test/index.html"] != "mine" {
		t.Error("a file that is not of the mirror has changed")
	}
	for name := range files {
		for part := range strings.SplitSeq(name, "/") {
			if len(part) > 255 || strings.ContainsAny(part, "\\:\x00\u202e") || part[0] == '.' || strings.HasSuffix(part, ".") {
				t.Errorf("%q", name)
			}
		}
	}
	// Links that come later: nothing goes through them.
	os.RemoveAll(filepath.Join(dir, "a.test/x%2E"))
	os.Symlink(outside, filepath.Join(dir, "a.test/x%2E"))
	if r := write(t, jobOf(t, pages), dir, mirror.Options{}); r.Left != 1 {
		t.Errorf("%+v", r)
	}
	if r := write(t, jobOf(t, map[string][2]string{"http://a.test/other": {html, ""}}), dir, mirror.Options{Delete: true}); r.Left != 1 || r.Removed != len(pages)-1 {
		t.Errorf("%+v", r)
	}
	if left := names(tree(t, outside)); left != "" {
		t.Errorf("outside: %s", left)
	}
}

// TestKilled: whatever file is the last, the next Write completes the mirror, and takes no file of
// its own for one that somebody has changed.
func TestKilled(t *testing.T) {
	pages, later := make(map[string][2]string), make(map[string][2]string)
	for i := range 5 {
		url := fmt.Sprintf("http://a.test/%d", i)
		pages[url], later[url] = [2]string{html, fmt.Sprint("<p>", i)}, [2]string{html, fmt.Sprint("<p>later ", i)}
	}
	for stop := 1; stop < 5; stop++ {
		dir := t.TempDir()
		if _, err := mirror.WriteVisit(t.Context(), jobOf(t, pages), dir, 1, mirror.Options{}); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		o := mirror.Options{Progress: func(done, _ int) {
			if done == stop {
				cancel()
			}
		}}
		job := jobOf(t, later)
		if _, err := mirror.WriteVisit(ctx, job, dir, 2, o); !errors.Is(err, context.Canceled) {
			t.Fatal(stop, err)
		}
		if done, err := mirror.Complete(dir, 2); done || err != nil {
			t.Errorf("%d: complete: %t, %v", stop, done, err)
		}
		// The last line of the list may have no file yet, and half a line may follow.
		log, _ := os.OpenFile(filepath.Join(dir, mirror.Hidden, "files.jsonl"), os.O_WRONLY|os.O_APPEND, 0)
		line, _ := json.Marshal(map[string]string{"url": "http://a.test/4", "file": "a.test/4.html", "sha256": strings.Repeat("0", 64)})
		fmt.Fprintf(log, "%s\n{\"url\":\"http", line)
		log.Close()
		r, err := mirror.WriteVisit(t.Context(), job, dir, 2, mirror.Options{})
		if err != nil {
			t.Fatal(err)
		}
		done, err := mirror.Complete(dir, 2)
		if r.Left != 0 || r.Files != 5 || !done || err != nil {
			t.Errorf("%d: %+v, %t, %v", stop, r, done, err)
		}
		for name, text := range tree(t, dir) {
			if !strings.Contains(text, "later") {
				t.Errorf("%d: %s: %q", stop, name, text)
			}
		}
	}
}

// TestErrors: one line says what is wrong.
func TestErrors(t *testing.T) {
	job, dir := jobOf(t, map[string][2]string{"http://a.test/": {html, ""}}), t.TempDir()
	write(t, job, dir, mirror.Options{})
	list := filepath.Join(dir, mirror.Hidden, "files.jsonl")
	for text, want := range map[string]string{
		"{}\n":                      ".weft/files.jsonl: line 1: expected the list of a mirror",
		"{\"weft_mirror\":1}\n{}\n": ".weft/files.jsonl: line 2: expected the list of a mirror",
		"{\"weft_mirror\":1}\n{\"url\":\"x\",\"file\":\"../x\"}\n": ".weft/files.jsonl: line 2: expected the list of a mirror",
	} {
		os.WriteFile(list, []byte(text), 0o666)
		if _, err := mirror.Write(t.Context(), job, dir, mirror.Options{}); err == nil || err.Error() != want {
			t.Errorf("%v, want %s", err, want)
		}
	}
	for name, want := range map[string]string{
		"files.jsonl": ".weft/files.jsonl: expected a file", "lock": ".weft/lock: is a directory", "part": ".weft/part: directory not empty",
	} {
		dir := t.TempDir()
		if err := os.MkdirAll(filepath.Join(dir, mirror.Hidden, name, "x"), 0o777); err != nil {
			t.Fatal(err)
		}
		if _, err := mirror.Write(t.Context(), job, dir, mirror.Options{}); err == nil || err.Error() != want {
			t.Errorf("%v, want %s", err, want)
		}
	}
	if _, err := mirror.Write(t.Context(), t.TempDir(), dir, mirror.Options{}); err == nil || !strings.HasSuffix(err.Error(), "no body, expected a job of weft crawl --warc or --bodies") {
		t.Error(err)
	}
}

// TestCharsets: what only the header said of a charset is in the file, and what the file says
// itself is not said twice.
func TestCharsets(t *testing.T) {
	dir := t.TempDir()
	write(t, jobOf(t, map[string][2]string{
		"http://a.test/koi":      {"text/html; charset=koi8-r", "<p>\xd0"},
		"http://a.test/own":      {"text/html; charset=koi8-r", "<meta charset=koi8-r><p>\xd0"},
		"http://a.test/other":    {"text/html; charset=utf-8", "<meta charset=koi8-r><p>é"},
		"http://a.test/wide":     {"text/html; charset=utf-16le", "<\x00p\x00>\x00\xe9\x00"},
		"http://a.test/user":     {"text/html; charset=x-user-defined", "<p>\xe9"},
		"http://a.test/text":     {"text/html; charset=utf-8", "é"},
		"http://a.test/none":     {"text/html", "<p>\xd0"},
		"http://a.test/a.css":    {"text/css; charset=koi8-r", "a{content:'\xd0'}"},
		"http://a.test/b.css":    {"text/css; charset=koi8-r", "a{}"},
		"http://a.test/a.js":     {"text/javascript; charset=utf-8", "'é'"},
		"http://a.test/a.svg":    {"image/svg+xml; charset=utf-8", "<svg>é</svg>"},
		"http://a.test/k.svg":    {"image/svg+xml; charset=koi8-r", "<svg>\xd0</svg>"},
		"http://a.test/feed.rss": {"application/rss+xml; charset=koi8-r", "<rss><link>http://a.test/koi</link>\xd0</rss>"},
		"http://a.test/data.xml": {"application/xml", "<a href='koi'/>"},
		"http://a.test/div.xml":  {"text/xml", "<a><b href='koi' xmlns='http://www.w3.org/1999/xhtml'/></a>"},
		"http://a.test/a.bin":    {"application/octet-stream; charset=koi8-r", "\xd0"},
	}), dir, mirror.Options{})
	const policy = `<meta http-equiv="Content-Security-Policy" content="default-src 'self' file: data: blob: 'unsafe-inline' 'unsafe-eval'" />` +
		`<script>new MutationObserver(() => document.querySelectorAll("script[type=speculationrules i]").forEach(s => s.remove()))` +
		`.observe(document, { childList: true, subtree: true })</script>`
	const inXML = `<head xmlns="http://www.w3.org/1999/xhtml">` + policy + `</head>`
	got := tree(t, dir)
	for name, want := range map[string]string{
		"koi.html": `<meta charset="koi8-r" />` + policy + "<p>\xd0", "own.html": policy + "<meta charset=koi8-r><p>\xd0",
		"other.html": `<meta charset="utf-8" />` + policy + "<meta charset=koi8-r><p>é", "wide.html": `<meta charset="utf-8" />` + policy + "<p>é",
		"user.html": `<meta charset="utf-8" />` + policy + "<p>\uf7e9",
		"text.html": `<meta charset="utf-8" />` + policy + "é", "none.html": policy + "<p>\xd0",
		"a.css": "\ufeffa{content:'п'}", "b.css": "a{}", "a.js": "\ufeff'é'", "a.svg": "<svg>" + inXML + "é</svg>", "k.svg": "\ufeff<svg>" + inXML + "п</svg>",
		"feed.rss": "\ufeff<rss><link>http://a.test/koi</link>п</rss>", "data.xml": "<a href='koi'/>", "div.xml": "<a>" + inXML + "<b href='koi' xmlns='http://www.w3.org/1999/xhtml'/></a>", "a.bin": "\xd0",
	} {
		if got["a.test/"+name] != want {
			t.Errorf("%s: %q, want %q", name, got["a.test/"+name], want)
		}
	}
}

// TestPolicy: the policy of a page stands in its head, whatever the page begins with. A browser
// ignores it in the body.
func TestPolicy(t *testing.T) {
	pages := make(map[string][2]string)
	for i, text := range []string{"text<head>", "\ufeff\ufeff<head>", "</br><head>", "<html>&nbsp;<head>", "<head></head>"} {
		pages[fmt.Sprintf("http://a.test/%d", i)] = [2]string{html, text + "<script>"}
	}
	pages["http://a.test/x"] = [2]string{"application/xhtml+xml", `<html xmlns="http://www.w3.org/1999/xhtml"><body/></html>`}
	dir := t.TempDir()
	write(t, jobOf(t, pages), dir, mirror.Options{})
	for name, text := range tree(t, dir) {
		before, _, found := strings.Cut(text, "<meta http-equiv=")
		if before = strings.TrimPrefix(before, "\ufeff"); !found || !slices.Contains([]string{"", "<html>", "<head>", `<html xmlns="http://www.w3.org/1999/xhtml"><head xmlns="http://www.w3.org/1999/xhtml">`}, before) {
			t.Errorf("%s: %q", name, text)
		}
	}
}

// TestFlat: a flat mirror has the files of the host that the first seed leads to in its own folder,
// however long that host takes, and stays so.
func TestFlat(t *testing.T) {
	second := make(chan bool)
	serve := func(wait bool) *httptest.Server {
		return httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path != "/" {
				http.NotFound(w, r)
				return
			}
			if wait {
				<-second
			} else {
				defer close(second)
			}
			fmt.Fprint(w, "<!doctype html><title>x</title><p>text")
		}))
	}
	slow, fast := serve(true), serve(false)
	defer slow.Close()
	defer fast.Close()
	dir := t.TempDir()
	r, err := mirror.Site(t.Context(), dir, mirror.SiteOptions{Options: mirror.Options{Flat: true}, Crawl: weft.Options{Seeds: []string{slow.URL + "/", fast.URL + "/"}}})
	if err != nil {
		t.Fatal(err)
	}
	other := strings.Replace(strings.TrimPrefix(fast.URL, "http://"), ":", "_", 1)
	for _, name := range []string{"index.html", other + "/index.html"} {
		if _, err := os.Stat(filepath.Join(dir, name)); err != nil {
			t.Error(err)
		}
	}
	if r.Start != "index.html" {
		t.Errorf("it starts with %q", r.Start)
	}
}
