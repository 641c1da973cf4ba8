package export

import (
	"bytes"
	"context"
	"encoding/csv"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/parquet-go/parquet-go"
	"github.com/weftcrawl/weft"
	"github.com/weftcrawl/weft/record"
)

// jobOf writes the files of a job.
func jobOf(t *testing.T, pages []record.Record, links []record.Link) string {
	t.Helper()
	dir := t.TempDir()
	var text []byte
	for i := range pages {
		text = append(text, pages[i].Line()...)
	}
	put(t, dir, "pages.jsonl", string(text))
	text = nil
	for _, l := range links {
		text = append(text, l.JSONLine()...)
	}
	if links != nil {
		put(t, dir, "links.jsonl", string(text))
	}
	return dir
}

func put(t *testing.T, dir, name, text string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
}

func export(dir string, o Options) (string, error) {
	e, err := New(o)
	if err != nil {
		return "", err
	}
	var out bytes.Buffer
	err = e.Write(context.Background(), dir, nil, &out)
	return out.String(), err
}

func exported(t *testing.T, dir string, o Options) string {
	t.Helper()
	text, err := export(dir, o)
	if err != nil {
		t.Fatalf("%+v: %v", o, err)
	}
	return text
}

// TestLatest: of every URL the last record counts, or that of a visit, as a map of all URLs finds
// it.
func TestLatest(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	var all []record.Record
	for n := range 1500 {
		visit := 1 + n/600
		p := record.Record{URL: fmt.Sprintf(`http://a.test/?%d&"é`, r.IntN(400)), Bytes: int64(n), Title: `,"visit":9}\`}
		if r.IntN(2) == 0 {
			p.URL = fmt.Sprintf("http://a.test/%d", r.IntN(400))
		}
		if visit > 1 {
			p.Visit = visit
		}
		all = append(all, p)
	}
	dir := jobOf(t, all, nil)
	for visit := range 4 {
		last := make(map[string]int64)
		for _, p := range all {
			if visit == 0 || max(p.Visit, 1) == visit {
				last[p.URL] = p.Bytes
			}
		}
		lines := strings.SplitAfter(exported(t, dir, Options{Format: "jsonl", Visit: visit}), "\n")
		if len(lines)-1 != len(last) {
			t.Errorf("visit %d: %d rows, expected %d", visit, len(lines)-1, len(last))
		}
		for _, line := range lines[:len(lines)-1] {
			var p record.Record
			if err := json.Unmarshal([]byte(line), &p); err != nil || last[p.URL] != p.Bytes {
				t.Fatalf("visit %d: %s: %v, expected %d", visit, line, err, last[p.URL])
			}
		}
	}
}

// site is two visits of a site, a retry, and what else a job may hold.
func site(t *testing.T) string {
	at := time.Date(2026, 11, 21, 15, 15, 0, 326e6, time.UTC)
	page := func(path string, status int) record.Record {
		return record.Record{URL: "http://a.test" + path, Status: status, ContentType: "text/html", Title: "=T" + path, Tries: 1, Started: at, TotalMS: 1.5, Robots: []string{"noindex", "x"}}
	}
	moved := page("/moved", 301)
	moved.Redirect = "http://a.test/b"
	down := record.Record{URL: "http://down.test:81/", ErrorKind: "connect", Error: "refused", Tries: 1, Started: at, From: "http://a.test/"}
	private := record.Record{URL: "http://a.test/private", ErrorKind: record.KindRobots, Error: "Disallow", Started: at}
	again := func(r record.Record, c record.Change) record.Record {
		r.Visit, r.Change = 2, c
		return r
	}
	same := again(page("/same", 304), record.ChangeUnchanged)
	same.UnchangedBy = record.SameNotModified
	return jobOf(t, []record.Record{
		page("/", 200), page("/same", 200), page("/b", 500), page("/gone", 200), moved, down, private,
		page("/b", 200), // asked again
		again(page("/", 200), record.ChangeChanged), same, again(page("/gone", 404), record.ChangeGone),
		again(page("/new?a&b", 200), record.ChangeNew), again(record.Record{URL: "http://a.test/b", ErrorKind: "timeout", Tries: 3, Started: at}, ""),
	}, []record.Link{
		{From: "http://a.test/", To: "http://a.test/same", Tag: "a", Kind: "page", Text: "old"},
		{From: "http://a.test/same", To: "http://a.test/b", Tag: "a", Kind: "page", Text: "<B>\x01 & co"},
		{From: "http://a.test/same", To: "http://a.test/b", Tag: "img", Kind: "image"},
		{From: "http://a.test/b", To: "http://x.test/", Tag: "a", Kind: "page"},
		{From: "http://a.test/gone", To: "http://a.test/", Tag: "a", Kind: "page"},
		{From: "http://a.test/", To: "http://a.test/new?a&b", Tag: "a", Kind: "page", Visit: 2},
	})
}

func TestRows(t *testing.T) {
	dir := site(t)
	for _, c := range []struct {
		name string
		o    Options
		want string
	}{
		{"all", Options{Fields: []string{"url", "status", "state", "host"}}, "url,status,state,host\nhttp://a.test/moved,301,done,a.test\nhttp://down.test:81/,,failed,down.test\nhttp://a.test/private,,refused,a.test\n" +
			"http://a.test/,200,done,a.test\nhttp://a.test/same,304,done,a.test\nhttp://a.test/gone,404,done,a.test\nhttp://a.test/new?a&b,200,done,a.test\nhttp://a.test/b,,failed,a.test\n"},
		{"a 304 keeps its title", Options{Fields: []string{"title", "content_type", "robots"}, Where: "status == 304"}, "title,content_type,robots\n'=T/same,text/html,\"noindex, x\"\n"},
		{"first visit", Options{Visit: 1, Fields: []string{"url", "status"}, Where: `url endsWith "b"`}, "url,status\nhttp://a.test/b,200\n"},
		{"failed", Options{State: weft.URLFailed, Fields: []string{"url"}}, "url\nhttp://down.test:81/\nhttp://a.test/b\n"},
		{"done", Options{State: weft.URLDone, Fields: []string{"url"}, Where: "depth == 0 && status == 0"}, "url\nhttp://down.test:81/\nhttp://a.test/b\n"},
		{"gone", Options{State: "gone", Fields: []string{"url"}}, "url\nhttp://a.test/gone\n"},
		{"redirects", Options{Table: "redirects", Fields: []string{"url", "redirect"}}, "url,redirect\nhttp://a.test/moved,http://a.test/b\n"},
		{"errors", Options{Table: "errors", Fields: []string{"url", "status", "error_kind"}, Where: `host == "a.test"`}, "url,status,error_kind\nhttp://a.test/private,,robots\nhttp://a.test/gone,404,\nhttp://a.test/b,,timeout\n"},
		{"links now", Options{Table: "links", Fields: []string{"from", "to"}}, "from,to\nhttp://a.test/same,http://a.test/b\nhttp://a.test/same,http://a.test/b\nhttp://a.test/b,http://x.test/\nhttp://a.test/,http://a.test/new?a&b\n"},
		{"links then", Options{Table: "links", Visit: 2, Fields: []string{"to"}}, "to\nhttp://a.test/new?a&b\n"},
		{"links by kind", Options{Table: "links", Fields: []string{"tag"}, Where: `kind == "image"`}, "tag\nimg\n"},
		{"edges", Options{Format: "edges"}, "http://a.test/same\thttp://a.test/b\nhttp://a.test/b\thttp://x.test/\nhttp://a.test/\thttp://a.test/new?a&b\n"},
		{"edges by kind", Options{Format: "edges", Where: `kind == "image"`}, "http://a.test/same\thttp://a.test/b\n"},
		{"JSON", Options{Format: "jsonl", Fields: []string{"robots", "total_ms", "pruned", "started", "url"}, Where: `status == 301`},
			`{"robots":["noindex","x"],"total_ms":1.5,"started":"2026-11-21T15:15:00.326Z","url":"http://a.test/moved"}` + "\n"},
		{"JSON of nothing", Options{Format: "jsonl", Fields: []string{"cut"}, Where: `status == 301`}, "{}\n"},
	} {
		if c.o.Format == "" {
			c.o.Format = "csv"
		}
		if got := exported(t, dir, c.o); got != c.want {
			t.Errorf("%s:\n%s\nexpected\n%s", c.name, got, c.want)
		}
	}
}

// TestAsCrawled: an export writes the CSV and JSON that the crawl wrote, for the same fields.
func TestAsCrawled(t *testing.T) {
	dir := site(t)
	inCSV, inJSON := record.NewStream(record.Form{Format: record.FormatCSV}, true), new(bytes.Buffer)
	text, err := os.ReadFile(filepath.Join(dir, "pages.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		var r record.Record
		if err := json.Unmarshal([]byte(line), &r); err != nil {
			t.Fatal(err)
		}
		if r.Visit == 2 {
			inCSV.Add(&r, nil)
			inJSON.WriteString(line)
		}
	}
	if got, want := exported(t, dir, Options{Format: "csv", Visit: 2, Fields: record.Columns()}), string(inCSV.Take()); got != want {
		t.Errorf("CSV\n%s\nexpected\n%s", got, want)
	}
	got := strings.Split(exported(t, dir, Options{Format: "jsonl", Visit: 2, Fields: record.Columns()}), "\n")
	for i, want := range strings.Split(inJSON.String(), "\n") {
		var a, b any
		if errA, errB := json.Unmarshal([]byte(got[i]), &a), json.Unmarshal([]byte(want), &b); errA == nil != (errB == nil) || !reflect.DeepEqual(a, b) {
			t.Errorf("JSON\n%s\nexpected\n%s", got[i], want)
		}
	}
}

// TestColumns: every field of a row is a column.
func TestColumns(t *testing.T) {
	for _, table := range tables {
		for _, c := range table.columns {
			if c.name == "" || len(table.columns) < 7 {
				t.Errorf("%s: %+v", table.name, c)
			}
		}
	}
	if pages := tables[0]; !slices.ContainsFunc(pages.columns, func(c column) bool { return c.name == "state" }) || pages.columns[0].name != "url" {
		t.Errorf("%+v", pages.columns)
	}
}

// TestParquet reads back what was written, in groups of rows.
func TestParquet(t *testing.T) {
	dir := site(t)
	text := exported(t, dir, Options{Format: "parquet"})
	f, err := parquet.OpenFile(strings.NewReader(text), int64(len(text)))
	if err != nil {
		t.Fatal(err)
	}
	type row struct {
		URL     string    `parquet:"url"`
		Status  *int64    `parquet:"status"`
		Title   *string   `parquet:"title"`
		Robots  []string  `parquet:"robots"`
		Started time.Time `parquet:"started,timestamp(microsecond)"`
		TotalMS float64   `parquet:"total_ms"`
		Pruned  bool      `parquet:"pruned"`
		State   string    `parquet:"state"`
	}
	rows := make([]row, 20)
	r := parquet.NewGenericReader[row](f)
	n, err := r.Read(rows)
	if err != nil && err != io.EOF || n != 8 {
		t.Fatalf("%d rows: %v", n, err)
	}
	if p := rows[0]; p.URL != "http://a.test/moved" || *p.Status != 301 || *p.Title != "=T/moved" || !slices.Equal(p.Robots, []string{"noindex", "x"}) || p.Started.UnixMilli() != 1795274100326 || p.TotalMS != 1.5 || p.State != "done" {
		t.Errorf("%+v", p)
	}
	if p := rows[1]; p.Status != nil || p.Title != nil || len(p.Robots) != 0 || p.State != "failed" {
		t.Errorf("%+v", p)
	}
	var names []string
	for _, c := range f.Schema().Fields() {
		names = append(names, c.Name())
	}
	if want := append(record.Columns(), "host", "state", "links_in"); !slices.Equal(names, want) {
		t.Errorf("columns %v, expected %v", names, want)
	}
}

// TestGraphML: well-formed, nodes before edges, and no edge without its nodes.
func TestGraphML(t *testing.T) {
	dir := site(t)
	for where, want := range map[string][2]int{"": {8, 2}, `status != 304`: {7, 1}, `depth > 0`: {0, 0}} {
		var g struct {
			XMLName xml.Name `xml:"http://graphml.graphdrawing.org/xmlns graphml"`
			Keys    []struct {
				ID  string `xml:"id,attr"`
				For string `xml:"for,attr"`
			} `xml:"key"`
			Graph struct {
				Directed string `xml:"edgedefault,attr"`
				Nodes    []struct {
					ID   string `xml:"id,attr"`
					Data []struct {
						Key  string `xml:"key,attr"`
						Text string `xml:",chardata"`
					} `xml:"data"`
				} `xml:"node"`
				Edges []struct {
					Source string `xml:"source,attr"`
					Target string `xml:"target,attr"`
				} `xml:"edge"`
			} `xml:"graph"`
		}
		text := exported(t, dir, Options{Format: "graphml", Where: where})
		if err := xml.Unmarshal([]byte(text), &g); err != nil {
			t.Fatalf("%s: %v\n%s", where, err, text)
		}
		if len(g.Graph.Nodes) != want[0] || len(g.Graph.Edges) != want[1] || len(g.Keys) != 6 || g.Graph.Directed != "directed" {
			t.Errorf("%q: %d nodes, %d edges: %s", where, len(g.Graph.Nodes), len(g.Graph.Edges), text)
		}
		nodes := make(map[string]bool)
		for _, n := range g.Graph.Nodes {
			nodes[n.ID] = true
			if n.Data[0].Text != n.ID {
				t.Errorf("%+v", n)
			}
		}
		for _, e := range g.Graph.Edges {
			if !nodes[e.Source] || !nodes[e.Target] {
				t.Errorf("an edge without nodes: %+v", e)
			}
		}
	}
}

// TestDamage: half a line at the end is none yet; any other damage is an error that names the line.
func TestDamage(t *testing.T) {
	good := string((&record.Record{URL: "http://a.test/"}).Line())
	for text, want := range map[string]string{
		"":                             "",
		good + good[:20]:               "",
		good + "\n" + good:             "pages.jsonl: line 2: unexpected end of JSON input",
		good + `{"url":"x",` + "\n":    "pages.jsonl: line 2: ",
		good + `{"url":7}` + "\n":      "pages.jsonl: line 2: ",
		good + "\x00\x00\x00\n" + good: "pages.jsonl: line 2: ",
		`{"url":"` + strings.Repeat("x", 600_000) + `"}` + "\n" + good: "",
	} {
		dir := jobOf(t, nil, nil)
		put(t, dir, "pages.jsonl", text)
		_, err := export(dir, Options{Format: "csv"})
		if want == "" && err != nil || want != "" && (err == nil || !strings.HasPrefix(err.Error(), want)) {
			t.Errorf("%.60q: %v, expected %q", text, err, want)
		}
	}
	dir := jobOf(t, nil, nil)
	put(t, dir, "pages.jsonl", strings.Repeat("x", 16<<20+1)+"\n")
	if _, err := export(dir, Options{Format: "csv"}); err == nil || !strings.Contains(err.Error(), "longer than") {
		t.Errorf("a long line: %v", err)
	}
}

func TestMistakes(t *testing.T) {
	for want, o := range map[string]Options{
		"format":  {Format: "xml"},
		"table":   {Format: "csv", Table: "page"},
		"fields":  {Format: "csv", Fields: []string{"statu"}},
		"where":   {Format: "csv", Where: "statu == 1"},
		"table ":  {Format: "sqlite", Table: "links"},
		"fields ": {Format: "graphml", Fields: []string{"url"}},
		"fields:": {Format: "csv", Fields: []string{"url", "url"}},
	} {
		_, err := New(o)
		var wrong *OptionError
		if !errors.As(err, &wrong) || wrong.Option != strings.TrimRight(want, " :") {
			t.Errorf("%+v: %v", o, err)
		}
	}
	dir := jobOf(t, nil, nil)
	for _, o := range []Options{{Format: "csv", Table: "links"}, {Format: "edges"}, {Format: "graphml"}} {
		if _, err := export(dir, o); !errors.Is(err, ErrNoLinks) {
			t.Errorf("%+v: %v", o, err)
		}
	}
}

// TestSQLiteInto: a database is written to an empty file, and one that is there stays as it is.
func TestSQLiteInto(t *testing.T) {
	path := filepath.Join(t.TempDir(), "db")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	e, err := New(Options{Format: "sqlite"})
	if err != nil {
		t.Fatal(err)
	}
	job := jobOf(t, []record.Record{{URL: "http://a.test/"}}, nil)
	if err := e.Write(t.Context(), job, nil, f); err != nil {
		t.Fatal(err)
	}
	before, _ := os.ReadFile(path)
	err = e.Write(t.Context(), job, nil, f)
	if after, _ := os.ReadFile(path); err == nil || !strings.Contains(err.Error(), path+": expected an empty file") || !bytes.Equal(before, after) {
		t.Errorf("again: %v, %d bytes, before %d", err, len(after), len(before))
	}
}

// TestCSVReaders: what is written is read as it was.
func TestCSVReaders(t *testing.T) {
	texts := []string{"a,b", `"q"`, "two\nlines", "=1+1", "'", "ü\x00", "\xff", " ", "@x", "-1"}
	var pages []record.Record
	for i, text := range texts {
		pages = append(pages, record.Record{URL: fmt.Sprint("http://a.test/", i), Title: text})
	}
	rows, err := csv.NewReader(strings.NewReader(exported(t, jobOf(t, pages, nil), Options{Format: "csv", Fields: []string{"title"}}))).ReadAll()
	if err != nil || len(rows) != len(texts)+1 {
		t.Fatalf("%d rows: %v", len(rows), err)
	}
	for i, text := range texts {
		if got := strings.TrimPrefix(rows[i+1][0], "'"); got != strings.ToValidUTF8(text, "\uFFFD") {
			t.Errorf("%q, expected %q", got, text)
		}
	}
}

// TestInterrupted: an export ends soon after its context does, whatever it does then.
func TestInterrupted(t *testing.T) {
	dir := jobOf(t, []record.Record{{URL: "http://a.test/"}}, []record.Link{{From: "http://a.test/", To: "http://a.test/b"}})
	ctx, cancel := context.WithCancel(t.Context())
	s := &source{ctx: ctx, dir: dir, o: &Options{Temp: t.TempDir()}}
	judged := 0
	err := s.sorted(func(all entries) error {
		defer cancel()
		return errors.Join(all.add(entry{line: 1}), all.add(entry{line: 2}))
	}, func(entry, bool) { judged++ })
	if !errors.Is(err, context.Canceled) || judged > 0 {
		t.Errorf("sorted: %v, %d lines", err, judged)
	}
	for _, format := range Formats() {
		out, err := os.Create(filepath.Join(t.TempDir(), "out"))
		if err != nil {
			t.Fatal(err)
		}
		e, err := New(Options{Format: format})
		if err == nil {
			err = e.Write(ctx, dir, nil, out)
		}
		if !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v", format, err)
		}
		out.Close()
	}
}

// TestItems: a column for each field, typed by its values, of the items that pages have now.
func TestItems(t *testing.T) {
	dir := jobOf(t, []record.Record{
		{URL: "http://a/1", Status: 200}, {URL: "http://a/2", Status: 200}, {URL: "http://a/1", Status: 200, Visit: 2, Change: record.ChangeChanged},
	}, nil)
	if _, err := export(dir, Options{Format: "csv", Table: "items"}); !errors.Is(err, ErrNoItems) {
		t.Errorf("without items: %v", err)
	}
	put(t, dir, "items.jsonl", `{"url":"http://a/1","type":"p","fields":{"price":9}}
{"url":"http://a/2","type":"p","fields":{"name":"=x","price":0,"tags":["a","b"],"by":{"n":1}},"missing":["sku"]}
{"url":"http://a/1","type":"p","fields":{"name":"new","url":"u","mixed":1},"visit":2}
{"url":"http://a/2","fields":{"mixed":"one"},"structured":{"meta":{"d":"<"}}}
`)
	want := `url,type,name,price,tags,by,field_url,mixed,missing,structured,notes,visit
http://a/2,p,'=x,0,"a, b","{""n"":1}",,,sku,,,
http://a/1,p,new,,,,u,1,,,,2
http://a/2,,,,,,,one,,"{""meta"":{""d"":""<""}}",,
`
	if got := exported(t, dir, Options{Format: "csv", Table: "items"}); got != want {
		t.Errorf("got\n%sexpected\n%s", got, want)
	}
	want = `{"price":0,"tags":["a","b"]}` + "\n{}\n{}\n"
	if got := exported(t, dir, Options{Format: "jsonl", Table: "items", Fields: []string{"price", "tags"}}); got != want {
		t.Errorf("got\n%sexpected\n%s", got, want)
	}
	want = `{"by":{"n":1}}
{"mixed":"1"}
{"mixed":"one","structured":{"meta":{"d":"<"}}}
`
	if got := exported(t, dir, Options{Format: "jsonl", Table: "items", Fields: []string{"by", "mixed", "structured"}}); got != want {
		t.Errorf("got\n%sexpected\n%s", got, want)
	}
	if got := exported(t, dir, Options{Format: "parquet", Table: "items"}); !strings.HasPrefix(got, "PAR1") {
		t.Errorf("parquet: %.20q", got)
	}
	for condition, urls := range map[string]string{`price < 1`: "http://a/2\n", `type == "p" && host == "a"`: "http://a/2\nhttp://a/1\n", `"sku" in missing`: "http://a/2\n"} {
		if got := exported(t, dir, Options{Format: "csv", Table: "items", Fields: []string{"url"}, Where: condition}); got != "url\n"+urls {
			t.Errorf("%s: %q, expected %q", condition, got, urls)
		}
	}
	_, err := export(dir, Options{Format: "csv", Table: "items", Where: "pric < 1"})
	var wrong *OptionError
	if !errors.As(err, &wrong) || wrong.Option != "where" || !strings.Contains(err.Error(), "did you mean price?") {
		t.Errorf("unknown field in a condition: %v", err)
	}
	_, err = export(dir, Options{Format: "csv", Table: "items", Fields: []string{"pric"}})
	if !errors.As(err, &wrong) || !strings.Contains(err.Error(), "did you mean price?") {
		t.Errorf("unknown field: %v", err)
	}
}
