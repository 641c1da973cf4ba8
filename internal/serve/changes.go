package serve

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/weftcrawl/weft"
	"github.com/weftcrawl/weft/internal/crawls"
	"github.com/weftcrawl/weft/internal/regular"
	"github.com/weftcrawl/weft/internal/share"
)

// Reporter writes the changes of a visit, by their file, in formats for people.
type Reporter struct {
	Formats []string
	Write   func(to io.Writer, changes, format string) error
}

// changes are the resources of what has changed from visit to visit.
type changes struct {
	folder  *crawls.Folder
	report  Reporter
	reading *share.Room
}

func (s *changes) register(rs routes) {
	add(rs, route{"list-changes", http.MethodGet, "/v1/crawls/{id}/changes", "Count what has changed from visit to visit", Read, 0}, s.list)
	rs.ofCrawl(raw{
		"get-changes", "/v1/crawls/{id}/changes/{visit}", "Get the changes of a visit", []string{"application/jsonl", "text/html", "text/markdown", "text/plain"}, ranged,
		[]*huma.Param{param("path", "visit", "the number of the visit"), param("query", "format", "json (default), html, markdown, mail or text")},
	}, s.visit)
	rs.ofCrawl(raw{
		"get-feed", "/v1/crawls/{id}/changes.atom", "Get the last changes as an Atom feed", []string{"application/atom+xml"}, ranged, nil,
	}, s.feed)
}

// Compared are the visits of a crawl whose changes are kept.
type Compared struct {
	Changes []crawls.Changes `json:"changes" doc:"the changes of each visit since the one before, of visits whose changes are kept"`
}

func (s *changes) list(ctx context.Context, in *Named) (*answer[Compared], error) {
	leave, err := s.reading.Enter(ctx)
	if err != nil {
		return nil, problem(err)
	}
	defer leave()
	all, err := s.folder.ListChanges(in.ID)
	return &answer[Compared]{Compared{append([]crawls.Changes{}, all...)}}, problem(err)
}

// forms are the formats of changes with their media types.
var forms = map[string]string{
	"html": "text/html; charset=utf-8", "markdown": "text/markdown; charset=utf-8", "mail": "text/plain; charset=utf-8", "text": "text/plain; charset=utf-8",
}

// visit gives the changes of a visit.
func (s *changes) visit(w http.ResponseWriter, r *http.Request, c crawls.Crawl) {
	format := r.URL.Query().Get("format")
	kind := ""
	if format != "" && format != "json" {
		if kind = forms[format]; kind == "" || !slices.Contains(s.report.Formats, format) {
			refuse(w, problem(wrong{fmt.Errorf("format %.40q, expected one of json, text, html, markdown, mail", format)}))
			return
		}
	}
	n, err := strconv.Atoi(r.PathValue("visit"))
	path := s.folder.ChangesFile(c.Name, n)
	var file *os.File
	if err == nil {
		file, err = regular.Open(path)
	}
	if err != nil {
		refuse(w, huma.Error404NotFound("the changes of this visit are not known, or no longer kept"))
		return
	}
	defer file.Close()
	if kind == "" {
		info, err := file.Stat()
		if err != nil {
			refuse(w, problem(err))
			return
		}
		w.Header().Set("Content-Type", "application/jsonl")
		http.ServeContent(w, r, "", info.ModTime(), file)
		return
	}
	leave, err := s.reading.Enter(r.Context())
	if err != nil {
		refuse(w, problem(err))
		return
	}
	defer leave()
	w.Header().Set("Content-Type", kind)
	// It has texts of others: nothing of it runs, or asks for anything.
	w.Header().Set("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'; img-src data:; sandbox; frame-ancestors 'none'")
	out := &counted{Writer: w}
	switch err := s.report.Write(out, path, format); {
	case err == nil:
	case out.n == 0:
		refuse(w, problem(err))
	default:
		panic(http.ErrAbortHandler) // who asked must not take a part for the whole
	}
}

// atom is a feed (RFC 4287).
type atom struct {
	XMLName xml.Name `xml:"http://www.w3.org/2005/Atom feed"`
	Title   string   `xml:"title"`
	ID      string   `xml:"id"`
	Updated string   `xml:"updated"`
	Author  string   `xml:"author>name"`
	Links   []link   `xml:"link"`
	Entries []entry  `xml:"entry"`
}

type entry struct {
	Title   string `xml:"title"`
	ID      string `xml:"id"`
	Updated string `xml:"updated"`
	Links   []link `xml:"link"`
	Content string `xml:"content"`
}

type link struct {
	Rel  string `xml:"rel,attr"`
	Type string `xml:"type,attr,omitempty"`
	Href string `xml:"href,attr"`
}

const (
	mostEntries = 20 // of a feed: visits that have changed anything
	mostListed  = 50 // changes of an entry
)

// feed gives the changes of the last visits as a feed.
func (s *changes) feed(w http.ResponseWriter, r *http.Request, c crawls.Crawl) {
	text, updated, err := s.atom(r.Context(), &c)
	if err != nil {
		refuse(w, problem(err))
		return
	}
	w.Header().Set("Content-Type", "application/atom+xml; charset=utf-8")
	http.ServeContent(w, r, "", updated, bytes.NewReader(text))
}

// atom is the text of a feed, and the time of its last entry.
func (s *changes) atom(ctx context.Context, c *crawls.Crawl) (text []byte, updated time.Time, err error) {
	leave, err := s.reading.Enter(ctx)
	if err != nil {
		return nil, updated, err
	}
	defer leave()
	all, err := s.folder.ListChanges(c.Name)
	if err != nil {
		return nil, updated, err
	}
	path := "/v1/crawls/" + url.PathEscape(c.Name) + "/changes"
	updated = c.Created
	out := atom{Title: "Changes of " + weft.WithoutSecrets(c.First), ID: urn(c, 0), Author: "Weft", Links: []link{{"self", "application/atom+xml", path + ".atom"}}}
	for _, of := range slices.Backward(all) {
		if !of.Differ() || len(out.Entries) == mostEntries {
			continue
		}
		e := entry{Title: of.InWords(), ID: urn(c, of.Visit), Updated: of.Time.UTC().Format(time.RFC3339), Content: s.listed(c.Name, of)}
		if slices.Contains(s.report.Formats, "html") {
			e.Links = []link{{"alternate", "text/html", path + "/" + strconv.Itoa(of.Visit) + "?format=html"}}
		}
		if out.Entries = append(out.Entries, e); len(out.Entries) == 1 {
			updated = of.Time
		}
	}
	out.Updated = updated.UTC().Format(time.RFC3339)
	if text, err = xml.MarshalIndent(out, "", " "); err == nil {
		err = share.Hold(ctx, inMemory*len(text))
	}
	return append([]byte(xml.Header), text...), updated, err
}

// urn is the identity of a feed or of an entry, for good and wherever the server is.
func urn(c *crawls.Crawl, visit int) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%s %d %d", c.Name, c.Created.UnixNano(), visit))
	sum[6], sum[8] = sum[6]&0xf|0x80, sum[8]&0x3f|0x80 // RFC 9562, version 8
	return fmt.Sprintf("urn:uuid:%x-%x-%x-%x-%x", sum[:4], sum[4:6], sum[6:8], sum[8:10], sum[10:16])
}

// listed lists the first changes of a visit.
func (s *changes) listed(name string, of crawls.Changes) string {
	some, err := s.folder.SomeChanges(name, of.Visit, mostListed, 1<<20)
	if err != nil {
		return "" // they are no longer kept
	}
	var text strings.Builder
	for _, line := range some {
		var c struct{ Kind, URL, Title string }
		if json.Unmarshal(line, &c) == nil {
			fmt.Fprintf(&text, "%s: %s %.200s\n", c.Kind, c.URL, c.Title)
		}
	}
	if len(some) == mostListed {
		text.WriteString("…\n")
	}
	return text.String()
}
