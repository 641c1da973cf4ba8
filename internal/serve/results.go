package serve

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/conditional"
	"github.com/weftcrawl/weft"
	"github.com/weftcrawl/weft/check"
	"github.com/weftcrawl/weft/export"
	"github.com/weftcrawl/weft/internal/crawls"
	"github.com/weftcrawl/weft/internal/regular"
	"github.com/weftcrawl/weft/internal/share"
	"github.com/weftcrawl/weft/internal/where"
	"github.com/weftcrawl/weft/read"
	"github.com/weftcrawl/weft/record"
	"github.com/weftcrawl/weft/results"
	"github.com/weftcrawl/weft/weburl"
)

// brought are the resources of what crawls have brought.
type brought struct{ *jobs }

const lookFor = time.Second // that long a request looks for entries of a list

func (s *brought) register(rs routes) {
	add(rs, route{"list-pages", http.MethodGet, "/v1/crawls/{id}/pages", "List the records of a crawl, in the order of fetching", Read, 0}, s.pagesOf)
	add(rs, route{"list-urls", http.MethodGet, "/v1/crawls/{id}/urls", "List the URLs that a crawl knows", Read, 0}, s.urls)
	add(rs, route{"list-errors", http.MethodGet, "/v1/crawls/{id}/errors", "List the URLs that have failed", Read, 0}, s.errors)
	add(rs, route{"list-hosts", http.MethodGet, "/v1/crawls/{id}/hosts", "List the hosts of a crawl", Read, 0}, s.hosts)
	add(rs, route{"explain-url", http.MethodGet, "/v1/crawls/{id}/why", "Explain what has become of a URL", Read, 0}, s.why)
	add(rs, route{"check-crawl", http.MethodGet, "/v1/crawls/{id}/check", "List the faults of links and pages", Read, 0}, s.check)
	add(rs, route{"list-files", http.MethodGet, "/v1/crawls/{id}/files", "List the files of a crawl: records, links, items, archives", Read, 0}, s.files)
	// A stream has no type that huma could see.
	rs.api.OpenAPI().Paths["/v1/crawls/{id}/check"].Get.Responses["200"].Content = map[string]*huma.MediaType{"application/json": {Schema: rs.schema(reflect.TypeFor[Checked]())}}
	rs.ofCrawl(raw{
		"get-file", "/v1/crawls/{id}/files/{name...}", "Get a file that files lists, or a range of it", []string{"application/jsonl", "application/gzip"},
		ranged, []*huma.Param{param("path", "name", "the name of the file, with its slashes")},
	}, s.file)
	rs.ofCrawl(raw{
		"export-crawl", "/v1/crawls/{id}/export", "Export a crawl for other tools", []string{"application/jsonl", "text/csv", "application/octet-stream"},
		[]int{http.StatusNotModified}, []*huma.Param{
			param("query", "format", "the format, as weft export --format takes it, but sqlite; default: jsonl"),
			param("query", "table", "the table, as weft export --table takes it; default: pages"),
			param("query", "fields", "names of fields, with commas between; default: all"),
			param("query", "where", "only rows that meet this condition"),
			param("query", "state", "only URLs in this state"),
		},
	}, s.export)
}

// tag names the state of what a crawl that has ended has brought: it is the same until the crawl
// goes on, by this server or by weft crawl. Other crawls have none.
func (s *brought) tag(name string) (string, error) {
	c, err := s.folder.Get(name)
	if err != nil || !c.State.Ended() {
		return "", err
	}
	all := []any{weft.Version, c.Ended, c.Visits}
	for _, file := range []string{results.Pages, filepath.Join("state", "last")} {
		if info, err := os.Lstat(filepath.Join(s.folder.Job(name), file)); err == nil {
			all = append(all, info.Size(), info.ModTime())
		}
	}
	return tagOf(all), nil
}

// Page is a record with the text of its page.
type Page struct {
	Record   record.Record `json:"record"`
	Markdown string        `json:"markdown,omitempty"`
	Text     string        `json:"text,omitempty"`
}

// Pages is a part of the pages.
type Pages struct {
	Pages []Page `json:"pages"`
	Next  string `json:"next" doc:"pass this as after to get the next part, which may come later while the crawl runs"`
	More  bool   `json:"more" doc:"whether there is a next part already"`
}

// mostText bounds the texts in an answer, in bytes.
const mostText = 8 << 20

// pagesOf lists records with texts.
func (s *brought) pagesOf(ctx context.Context, in *struct {
	Named
	conditional.Params
	Part
	Format string `query:"format" enum:"markdown,text" doc:"add the text of each page; needs a crawl with the option bodies, warc or markdown"`
	Whole  bool   `query:"whole" doc:"convert whole pages, not only their main content"`
}) (*stable[Pages], error) {
	tag, err := s.tag(in.ID)
	if err = cmp.Or(err, unless(&in.Params, tag)); err != nil {
		return nil, problem(err)
	}
	leave, err := s.reading.Enter(ctx)
	if err != nil {
		return nil, problem(err)
	}
	defer leave()
	dir := s.folder.Job(in.ID)
	bodies, err := results.OpenBodies(dir)
	if err != nil && in.Format != "" {
		return nil, problem(err)
	}
	if err == nil {
		defer bodies.Close()
	}
	out := Pages{Pages: []Page{}}
	size, lacks, full := 0, false, error(nil)
	out.Next, out.More, err = crawls.Records(dir, in.After, func(r *record.Record, bytes int) bool {
		p := Page{Record: *r}
		if in.Format != "" && r.ErrorKind == "" && record.IsHTML(r.ContentType) {
			lacks = !p.fill(bodies, in.Format == "text", in.Whole) || lacks
		}
		out.Pages = append(out.Pages, p)
		bytes += len(p.Markdown) + len(p.Text)
		size += bytes
		full = share.Hold(ctx, inMemory*bytes)
		return full == nil && len(out.Pages) < in.Limit && size < mostText && ctx.Err() == nil
	})
	err = cmp.Or(full, err)
	if lacks && err == nil && !keepsBodies(dir) {
		err = wrong{fmt.Errorf("format %s: the crawl keeps no bodies, expected one with the option bodies, warc or markdown", in.Format)}
	}
	return &stable[Pages]{tag, out}, problem(err)
}

// keepsBodies reports whether a job has bodies by now.
func keepsBodies(dir string) bool {
	bodies, err := results.OpenBodies(dir)
	if err != nil {
		return true // as far as anybody knows
	}
	defer bodies.Close()
	return bodies.Any()
}

// fill adds the text of a page. It reports whether there is one: without its body there is none.
func (p *Page) fill(bodies *results.Bodies, plain, whole bool) bool {
	body, err := bodies.Read(&p.Record)
	if err != nil {
		return false
	}
	u, err := weburl.Parse(p.Record.URL)
	if err != nil {
		return false
	}
	one := read.One(read.Source{URL: u, ContentType: p.Record.ContentType, Body: body}, read.Options{Text: plain, Whole: whole, Seen: !whole})
	p.Markdown, p.Text = one.Markdown, one.Text
	return true
}

// URLs is a part of the URLs of a crawl.
type URLs struct {
	URLs []weft.URLStatus `json:"urls"`
	Next string           `json:"next,omitempty" doc:"pass this as after to get the next part; absent in the last part"`
}

func (s *brought) urls(ctx context.Context, in *struct {
	Named
	conditional.Params
	Part
	State string `query:"state" doc:"only URLs in this state, as weft urls --state takes it"`
	Error string `query:"error" doc:"only URLs that failed with this error kind, as weft kinds lists them"`
}) (*stable[URLs], error) {
	return s.someURLs(ctx, in.ID, &in.Params, in.Part, weft.URLFilter{State: weft.URLState(in.State), ErrorKind: in.Error})
}

func (s *brought) errors(ctx context.Context, in *struct {
	Named
	conditional.Params
	Part
}) (*stable[URLs], error) {
	return s.someURLs(ctx, in.ID, &in.Params, in.Part, weft.URLFilter{State: weft.URLFailed})
}

func (s *brought) someURLs(ctx context.Context, name string, known *conditional.Params, p Part, f weft.URLFilter) (*stable[URLs], error) {
	tag, err := s.tag(name)
	if err = cmp.Or(err, unless(known, tag)); err != nil {
		return nil, problem(err)
	}
	out := URLs{URLs: []weft.URLStatus{}}
	err = s.inJob(ctx, name, func(job *weft.Job) error {
		urls, next, err := job.SomeURLs(ctx, f, p.list())
		out.URLs, out.Next = append(out.URLs, urls...), next
		return err
	})
	return &stable[URLs]{tag, out}, problem(err)
}

// list returns the part of a list of a job.
func (p Part) list() weft.ListPart {
	return weft.ListPart{After: p.After, AtMost: p.Limit, Within: lookFor}
}

// Hosts is a part of the hosts of a crawl.
type Hosts struct {
	Hosts []weft.HostStatus `json:"hosts"`
	Next  string            `json:"next,omitempty" doc:"pass this as after to get the next part; absent in the last part"`
}

func (s *brought) hosts(ctx context.Context, in *struct {
	Named
	Part
}) (*answer[Hosts], error) {
	out := Hosts{Hosts: []weft.HostStatus{}}
	err := s.inJob(ctx, in.ID, func(job *weft.Job) error {
		hosts, next, err := job.SomeHosts(ctx, in.Part.list())
		out.Hosts, out.Next = append(out.Hosts, hosts...), next
		return err
	})
	return &answer[Hosts]{out}, problem(err)
}

func (s *brought) why(ctx context.Context, in *struct {
	Named
	URL string `query:"url" required:"true" maxLength:"16384"`
}) (*answer[weft.Why], error) {
	if _, err := weft.ReadSeed(in.URL); err != nil {
		return nil, problem(wrong{err})
	}
	var why weft.Why
	err := s.inJob(ctx, in.ID, func(job *weft.Job) (err error) {
		why, err = job.Why(ctx, in.URL)
		return err
	})
	return &answer[weft.Why]{why}, problem(err)
}

// Checked is a report of weft check, which is written as it comes.
type Checked struct {
	Subject  string          `json:"subject"`
	Part     string          `json:"part,omitempty" doc:"why the report is of a part of the crawl"`
	Totals   check.Totals    `json:"totals"`
	Problems []check.Problem `json:"problems"`
	Findings []check.Finding `json:"findings"`
}

func (s *brought) check(ctx context.Context, in *struct {
	Named
	Rules string `query:"rules" doc:"names of rules, as weft check --rules takes them; default: those for links"`
}) (*huma.StreamResponse, error) {
	o := check.Options{}
	if in.Rules != "" {
		rules, err := check.ParseRules(in.Rules)
		if err != nil {
			return nil, problem(wrong{err})
		}
		o.Rules = rules
	}
	json, err := check.FormatOf("json", "")
	if err != nil {
		return nil, problem(err)
	}
	leave, err := s.reading.Enter(ctx)
	if err != nil {
		return nil, problem(err)
	}
	dir := s.folder.Job(in.ID)
	report, err := check.Job(ctx, dir, o)
	if err != nil {
		leave()
		return nil, problem(err)
	}
	report.Subject = filepath.Base(dir) // where it is on the disk is the operator's affair
	return &huma.StreamResponse{Body: func(to huma.Context) {
		defer leave()
		defer report.Close()
		to.SetHeader("Content-Type", "application/json")
		if err := json.Write(to.BodyWriter(), report, check.Style{}); err != nil {
			panic(http.ErrAbortHandler) // who asked must not take a part for the whole
		}
	}}, nil
}

// File is a file of a crawl.
type File struct {
	Name  string    `json:"name"`
	Bytes int64     `json:"bytes"`
	Time  time.Time `json:"time" doc:"the time of the last change"`
}

// lists are the files of a job with lines of JSON.
var lists = []string{results.Pages, "links.jsonl", "items.jsonl"}

const archives = "archive"

// Files are the files of a crawl.
type Files struct {
	Files []File `json:"files"`
}

func (s *brought) files(_ context.Context, in *Named) (*answer[Files], error) {
	out := answer[Files]{Files{[]File{}}}
	names := slices.Clone(lists)
	// A job without an archive has no such folder.
	all, _ := os.ReadDir(filepath.Join(s.folder.Job(in.ID), archives))
	for _, f := range all {
		names = append(names, archives+"/"+f.Name())
	}
	for _, name := range names {
		info, err := os.Lstat(filepath.Join(s.folder.Job(in.ID), name))
		if err == nil && info.Mode().IsRegular() && isListed(name) {
			out.Body.Files = append(out.Body.Files, File{name, info.Size(), info.ModTime()})
		}
	}
	return &out, nil
}

// isListed reports whether a file of a job may be read as it is.
func isListed(name string) bool {
	if slices.Contains(lists, name) {
		return true
	}
	base, ok := strings.CutPrefix(name, archives+"/")
	return ok && !strings.ContainsAny(base, "/\\") && (strings.HasSuffix(base, ".warc.gz") || strings.HasSuffix(base, ".cdxj"))
}

// file serves a file, whole or in ranges.
func (s *brought) file(w http.ResponseWriter, r *http.Request, c crawls.Crawl) {
	name := r.PathValue("name")
	if !isListed(name) {
		refuse(w, huma.Error404NotFound("there is no such file"))
		return
	}
	file, err := regular.OpenIn(s.folder.Job(c.Name), filepath.FromSlash(name))
	if err != nil {
		refuse(w, huma.Error404NotFound("there is no such file"))
		return
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		refuse(w, problem(err))
		return
	}
	kind := "application/gzip"
	if strings.HasSuffix(name, ".jsonl") {
		kind = "application/jsonl"
	}
	w.Header().Set("Content-Type", kind)
	w.Header().Set("ETag", fmt.Sprintf(`"%x-%x"`, info.Size(), info.ModTime().UnixNano()))
	http.ServeContent(w, r, "", info.ModTime(), file)
}

// export writes a crawl in a format of other tools, as it comes.
func (s *brought) export(w http.ResponseWriter, r *http.Request, c crawls.Crawl) {
	q, err := url.ParseQuery(r.URL.RawQuery) // what is left out of it would be exported, too
	o := export.Options{Format: q.Get("format"), Table: q.Get("table"), Where: q.Get("where"), State: weft.URLState(q.Get("state"))}
	if fields := q.Get("fields"); fields != "" {
		o.Fields = strings.Split(fields, ",")
	}
	if o.Format == "" {
		o.Format = "jsonl"
	}
	if err == nil && o.Format == "sqlite" {
		err = errors.New("format sqlite: it takes a file, which weft export writes")
	}
	if err == nil {
		if err = where.Bounded(o.Where); err != nil {
			err = fmt.Errorf("where: %w", err)
		}
	}
	if err != nil {
		refuse(w, problem(wrong{err}))
		return
	}
	e, err := export.New(o)
	if err != nil {
		refuse(w, problem(wrong{err}))
		return
	}
	tag, err := s.tag(c.Name)
	if err != nil {
		refuse(w, problem(err))
		return
	}
	if tag != "" {
		w.Header().Set("ETag", tag)
		if strings.Contains(r.Header.Get("If-None-Match"), tag) {
			w.WriteHeader(http.StatusNotModified)
			return
		}
	}
	w.Header().Set("Content-Disposition", `attachment; filename="`+c.Name+"."+o.Format+`"`)
	kind := map[string]string{"csv": "text/csv; charset=utf-8", "jsonl": "application/jsonl"}[o.Format]
	if kind == "" {
		kind = "application/octet-stream"
	}
	w.Header().Set("Content-Type", kind)
	out := &counted{Writer: w}
	err = s.inJob(r.Context(), c.Name, func(job *weft.Job) error {
		return e.Write(r.Context(), s.folder.Job(c.Name), job, out)
	})
	switch {
	case err == nil:
	case out.n == 0:
		w.Header().Del("Content-Disposition")
		w.Header().Del("ETag")
		refuse(w, problem(err))
	default:
		panic(http.ErrAbortHandler) // who asked must not take a part for the whole
	}
}

// counted counts the bytes that are written.
type counted struct {
	io.Writer
	n int64
}

func (c *counted) Write(b []byte) (int, error) {
	n, err := c.Writer.Write(b)
	c.n += int64(n)
	return n, err
}
