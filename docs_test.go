package weft_test

import (
	"bytes"
	"context"
	"fmt"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/weftcrawl/weft"
	"github.com/weftcrawl/weft/aio"
	"github.com/weftcrawl/weft/extract"
	"github.com/weftcrawl/weft/links"
	"github.com/weftcrawl/weft/weburl"
)

// pages returns the documentation pages by path.
func pages(t *testing.T) map[string]string {
	t.Helper()
	all := make(map[string]string)
	for _, pattern := range []string{"*.md", "docs/*.md", "docs/adr/*.md", "docs/bench/*.md", "docs/proof/*.md", "examples/*.md"} {
		paths, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range paths {
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			all[path] = string(text)
		}
	}
	return all
}

// TestStalePages: make stale knows what code the figures of each page are of.
func TestStalePages(t *testing.T) {
	script, err := os.ReadFile("script/stale")
	if err != nil {
		t.Fatal(err)
	}
	for path := range pages(t) {
		page, ok := strings.CutPrefix(strings.TrimSuffix(path, ".md"), "docs/")
		figures := strings.HasPrefix(page, "bench/") || strings.HasPrefix(page, "proof/")
		if ok && figures && page != "bench/README" && !strings.Contains(string(script), "\n"+page+" ") {
			t.Errorf("script/stale has no row for %s", path)
		}
	}
}

// TestTargets: CONTRIBUTING.md has a row for each target that writes a page of figures.
func TestTargets(t *testing.T) {
	makefile, err := os.ReadFile("Makefile")
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range regexp.MustCompile(`(?m)^## ([\w-]+): .* into docs/`).FindAllStringSubmatch(string(makefile), -1) {
		if !strings.Contains(pages(t)["CONTRIBUTING.md"], "\n| `make "+m[1]+"` |") {
			t.Errorf("CONTRIBUTING.md has no row for make %s", m[1])
		}
	}
}

// TestRecordsPage checks that docs/records.md has a row for each JSON field of each exported struct
// that a job writes or a command prints, with the right type and the right "may be absent" column,
// and no other rows.
func TestRecordsPage(t *testing.T) {
	text := pages(t)["docs/records.md"]
	sections := make(map[string][][]string) // table rows by the struct that their section documents
	name := ""
	for line := range strings.Lines(text) {
		if m := regexp.MustCompile("Library: `weft\\.(\\w+)`").FindStringSubmatch(line); m != nil {
			name = m[1]
		}
		if strings.HasPrefix(line, "#") {
			name = ""
		}
		if cells := strings.Split(strings.TrimSpace(line), "|"); name != "" && len(cells) == 7 && strings.HasPrefix(cells[1], " `") {
			for i := range cells {
				cells[i] = strings.TrimSpace(cells[i])
			}
			sections[name] = append(sections[name], cells[1:6])
		}
	}
	for name, value := range map[string]any{ // by public name: some are aliases
		"Record": weft.Record{}, "LinkRecord": weft.LinkRecord{}, "Item": weft.Item{}, "Status": weft.Status{}, "HostStatus": weft.HostStatus{},
		"URLStatus": weft.URLStatus{}, "Known": weft.Known{}, "Why": weft.Why{}, "Step": weft.Step{}, "Referrers": weft.Referrers{}, "Referrer": weft.Referrer{}, "TaskStatus": weft.TaskStatus{},
	} {
		rows := make(map[string][]string)
		for _, row := range sections[name] {
			rows[strings.Trim(row[0], "`")] = row
		}
		of := reflect.TypeOf(value)
		for _, f := range jsonFields(of, name != "Why") {
			row := rows[f.name]
			switch {
			case row == nil:
				t.Errorf("%s: no row for field %s", of, f.name)
				continue
			case row[1] != f.kind:
				t.Errorf("%s: %s has type %q, the page says %q", of, f.name, f.kind, row[1])
			case row[4] == "" || (row[4] != "never") != f.optional:
				t.Errorf("%s: %s may be absent: %t, the page says %q", of, f.name, f.optional, row[4])
			case row[3] == "":
				t.Errorf("%s: the page does not say what %s means", of, f.name)
			}
			delete(rows, f.name)
		}
		for field := range rows {
			t.Errorf("%s has no field %s", of, field)
		}
	}
}

// TestJSONKeys checks that every type of the library that is data, with all that it holds, becomes
// JSON with keys in snake case.
func TestJSONKeys(t *testing.T) {
	snakeCase := regexp.MustCompile(`^[a-z][a-z0-9]*(_[a-z0-9]+)*$`)
	var check func(of reflect.Type)
	check = func(of reflect.Type) {
		switch of.Kind() {
		case reflect.Pointer, reflect.Slice, reflect.Map:
			check(of.Elem())
		case reflect.Struct:
			if of == reflect.TypeFor[time.Time]() {
				return
			}
			for i := range of.NumField() {
				f := of.Field(i)
				key, _, _ := strings.Cut(f.Tag.Get("json"), ",")
				if f.IsExported() && !f.Anonymous && !snakeCase.MatchString(key) {
					t.Errorf("%s: %s has the key %q", of, f.Name, key)
				}
				check(f.Type)
			}
		}
	}
	for _, of := range []reflect.Type{
		reflect.TypeFor[weft.Record](), reflect.TypeFor[weft.LinkRecord](), reflect.TypeFor[weft.Item](), reflect.TypeFor[weft.Summary](), reflect.TypeFor[weft.Stats](),
		reflect.TypeFor[weft.Status](), reflect.TypeFor[weft.HostStatus](), reflect.TypeFor[weft.URLStatus](), reflect.TypeFor[weft.Why](),
		reflect.TypeFor[weft.TaskStatus](),
	} {
		check(of)
	}
}

// jsonField describes a struct field as JSON encodes it.
type jsonField struct {
	name, kind string
	optional   bool
}

// jsonFields returns the JSON fields of a struct, optionally with those of embedded structs.
func jsonFields(of reflect.Type, embedded bool) []jsonField {
	var all []jsonField
	for i := range of.NumField() {
		f := of.Field(i)
		tag, tagged := f.Tag.Lookup("json")
		if f.Anonymous && !tagged {
			if embedded {
				all = append(all, jsonFields(f.Type, true)...)
			}
			continue
		}
		if name, options, _ := strings.Cut(tag, ","); f.IsExported() && tag != "-" {
			all = append(all, jsonField{name, kindOf(f.Type), strings.HasPrefix(options, "omit")})
		}
	}
	return all
}

// kindOf returns the page's name of a type.
func kindOf(of reflect.Type) string {
	switch {
	case of == reflect.TypeFor[time.Time]():
		return "time"
	case of.Kind() == reflect.Pointer:
		return kindOf(of.Elem())
	case of.Kind() == reflect.Slice && of != reflect.TypeFor[weft.Fields]():
		return "list of " + kindOf(of.Elem()) + "s"
	case of == reflect.TypeFor[weft.Fields](), of.Kind() == reflect.Map, of.Kind() == reflect.Struct:
		return "object"
	case of.Kind() == reflect.String:
		return "string"
	case of.Kind() == reflect.Bool:
		return "boolean"
	case of.Kind() == reflect.Float64:
		return "number"
	}
	return "integer"
}

// TestRecordsPageCSV checks that the page lists the CSV columns in order.
func TestRecordsPageCSV(t *testing.T) {
	site := httptest.NewServer(http.NotFoundHandler())
	defer site.Close()
	var out bytes.Buffer
	c, err := weft.New(weft.Options{Seeds: []string{site.URL}, Output: &out, Format: weft.FormatCSV})
	if err == nil {
		_, err = c.Run(context.Background())
	}
	if err != nil {
		t.Fatal(err)
	}
	header, _, _ := strings.Cut(out.String(), "\n")
	_, columns, _ := strings.Cut(pages(t)["docs/records.md"], "```text\n")
	columns, _, _ = strings.Cut(columns, "\n```")
	if got := strings.ReplaceAll(columns, "\n", ""); got != strings.TrimSpace(header) {
		t.Errorf("the columns are\n%s\nthe page says\n%s", header, got)
	}
}

// TestPagesGo checks that each Go snippet in the README and in docs/library.md is, apart from
// indentation, part of a test or an example, and therefore compiles.
func TestPagesGo(t *testing.T) {
	var sources []string
	for _, pattern := range []string{"*_test.go", "aio/*_test.go", "check/example_test.go", "mirror/example_test.go", "examples/*/main.go"} {
		paths, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range paths {
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			sources = append(sources, flush(string(text)))
		}
	}
	for _, path := range []string{"README.md", "docs/library.md"} {
		for _, piece := range regexp.MustCompile("(?ms)^```go\n(.*?)^```$").FindAllStringSubmatch(pages(t)[path], -1) {
			if !slices.ContainsFunc(sources, func(s string) bool { return strings.Contains(s, flush(piece[1])) }) {
				t.Errorf("%s: no test contains this snippet:\n%s", path, piece[1])
			}
		}
	}
}

// flush returns text without the leading white space of its lines.
func flush(text string) string {
	return regexp.MustCompile(`(?m)^[\t ]+`).ReplaceAllString(text, "")
}

// TestPagesLayout checks that the README fits on two screens, that no line outside tables and
// transcripts is longer than 100 characters, and that no link inside the repository is broken.
func TestPagesLayout(t *testing.T) {
	t.Parallel()
	all := pages(t)
	if n := strings.Count(all["README.md"], "\n"); n > 80 {
		t.Errorf("README.md has %d lines, expected 80 at most", n)
	}
	transcripts := regexp.MustCompile("(?ms)^```console$.*?^```$")
	// Those of docs/engine.md are code of the lab: see bench/lab/engine_test.go.
	blocks := regexp.MustCompile("(?ms)^```.*?^```$|^!\\[.*$")
	for path, text := range all {
		text = transcripts.ReplaceAllString(text, "")
		if path == "docs/engine.md" {
			text = blocks.ReplaceAllString(text, "")
		}
		for line := range strings.Lines(text) {
			if line = strings.TrimSpace(line); !strings.HasPrefix(line, "|") && utf8.RuneCountInString(line) > 100 {
				t.Errorf("%s: line longer than 100 characters: %s", path, line)
			}
		}
		for _, link := range regexp.MustCompile("[\\w`]\\]\\(([^)\\s:|]+)\\)").FindAllStringSubmatch(text, -1) {
			file, anchor, _ := strings.Cut(link[1], "#")
			to := path
			if file != "" {
				to = filepath.Join(filepath.Dir(path), file)
			}
			if _, err := os.Stat(to); err != nil {
				t.Errorf("%s: the link to %s is broken", path, link[1])
			} else if page, is := all[to]; is && anchor != "" && !slices.Contains(anchors(page), anchor) {
				t.Errorf("%s: %s has no heading #%s", path, to, anchor)
			}
		}
	}
}

// anchors returns the link anchors of a page's headings.
func anchors(page string) []string {
	var all []string
	for _, h := range regexp.MustCompile(`(?m)^#+ (.*)$`).FindAllStringSubmatch(page, -1) {
		anchor := strings.ReplaceAll(strings.ToLower(h[1]), " ", "-")
		all = append(all, regexp.MustCompile(`[^\p{L}\p{N}_-]`).ReplaceAllString(anchor, ""))
	}
	return all
}

// The examples below are the Go snippets of the pages. They are compiled but never run.

func Example_readme() {
	ctx := context.Background()
	for page, err := range weft.Crawl(ctx, weft.Options{Seeds: []string{"https://example.org/"}}) {
		if err != nil {
			log.Print(err) // a URL that failed: the crawl continues
			continue
		}
		if page.IsPage() { // no 404, no style sheet
			fmt.Println(page.URL, page.Title, len(page.Links))
		}
	}
}

func Example_libraryCrawl() {
	_ = func(ctx context.Context) error {
		for page, err := range weft.Crawl(ctx, weft.Options{Seeds: []string{"https://example.org/"}}) {
			if err != nil {
				log.Print(err) // a URL that failed: the crawl continues
				continue
			}
			if !page.IsPage() { // a 404, a style sheet
				continue
			}
			doc, err := page.Document() // parsed by goquery
			if err != nil {
				return err
			}
			fmt.Println(page.URL, doc.Find("h1").Text())
		}
		return nil
	}
}

func Example_libraryOptions() {
	options := weft.Options{
		Seeds: []string{"https://example.org/"},
		Reach: weft.Reach{Depth: 2},
		Pace:  weft.Pace{PerHost: 2},
		HTTP:  weft.HTTP{Timeout: 10 * time.Second},
	}
	_ = options
}

func Example_libraryRun() {
	_ = func(ctx context.Context) error {
		crawler, err := weft.New(weft.Options{
			Seeds:  []string{"https://example.org/"},
			Job:    "example.org.weft", // keep records and state; an existing job resumes
			Limits: weft.Limits{Limit: 1000},
		})
		if err != nil {
			return err
		}
		summary, err := crawler.Run(ctx)
		fmt.Println(summary.Pages, "pages,", summary.Pending, "URLs left")
		return err
	}
}

func Example_libraryHooks() {
	hooks := weft.Hooks{
		OnLink: func(from weburl.URL, link links.Link) weft.Verdict {
			if link.Kind == links.KindFeed {
				return weft.Verdict{Decision: weft.Follow, Priority: 10} // feeds first
			}
			return weft.Verdict{} // as the scope says
		},
		OnPage: func(ctx context.Context, page *weft.Page) error {
			return os.WriteFile(page.SHA256+".html", page.Body, 0o644)
		},
	}
	_ = hooks
}

func Example_libraryFields() {
	options := weft.Options{
		Seeds: []string{"https://example.org/"},
		Keep: weft.Keep{Extract: []extract.Rule{{URLs: "^/product/", Fields: []extract.Field{
			{Name: "name", Select: "h1", Required: true},
			{Name: "price", Select: ".price", Type: extract.Number},
		}}}},
	}
	options.Hooks.OnItem = func(ctx context.Context, item *weft.Item) error {
		fmt.Println(item.URL, item.Fields.Text("name"), item.Fields.Text("price"))
		return nil
	}
	_ = options
}

func Example_libraryJob() {
	_ = func(ctx context.Context) error {
		job, err := weft.OpenJob(ctx, "example.org.weft")
		if err != nil {
			return err
		}
		defer job.Close()
		for u, err := range job.URLs(ctx, weft.URLFilter{State: weft.URLFailed}) {
			if err != nil {
				return err
			}
			fmt.Println(u.URL, u.ErrorKind)
		}
		order, err := weft.ParseOrder("set", "delay=2s")
		if err == nil && job.Running() {
			_, err = job.Do(ctx, order)
		}
		return err
	}
}

func Example_libraryLoop() {
	ctx, addresses := context.Background(), []string{"127.0.0.1:7"}
	err := aio.Run(ctx, func(t *aio.Task) error {
		return t.Group(func(g *aio.Group) error { // waits for its tasks; an error cancels the rest
			for _, address := range addresses {
				g.Go(address, func(t *aio.Task) error {
					return t.Timeout(time.Second, func(t *aio.Task) error {
						c, err := aio.Dial(t, "tcp", address)
						if err != nil {
							return err
						}
						return c.Close()
					})
				})
			}
			return nil
		})
	})
	_ = err
}
