package archive

import (
	"cmp"
	"encoding/json"
	"errors"
	"io"
	"iter"
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/weftcrawl/weft/warc"
	"github.com/weftcrawl/weft/weburl"
)

// Archive is a collection of captures.
type Archive struct {
	// Damage lists the failures to read while an index was made: the first hundred errors. Each
	// names file and offset.
	Damage []error

	sources []*source
}

const mostDamage = 100

// Capture is a capture as an index knows it.
type Capture struct {
	warc.Index
	source *source
}

// Open opens jobs, WACZ files, WARC and ARC files as one archive. Damage that leaves no capture of
// a file is an error.
func Open(paths ...string) (*Archive, error) {
	a := &Archive{}
	for _, path := range paths {
		s, err := openSource(path, func(err error) {
			if len(a.Damage) < mostDamage {
				a.Damage = append(a.Damage, err)
			}
		})
		if err != nil {
			return nil, errors.Join(err, a.Close())
		}
		a.sources = append(a.sources, s)
		if len(a.Damage) > 0 && s.index.size == 0 {
			return nil, errors.Join(a.Damage[0], a.Close())
		}
	}
	return a, nil
}

// Close closes the files.
func (a *Archive) Close() error {
	var errs []error
	for _, s := range a.sources {
		s.index.close()
		s.digests.close()
		errs = append(errs, s.close())
	}
	return errors.Join(errs...)
}

// The most captures of a URL that are listed, and bytes that they take.
const (
	mostCaptures = 10_000
	mostHeld     = 32 << 20
)

// size returns about the memory that a capture takes, in bytes.
func (c Capture) size() int {
	return 200 + len(c.Key) + len(c.URL) + len(c.MIME) + len(c.Digest) + len(c.Filename)
}

// Captures returns the captures of a URL by date. If there is none, it returns those of other
// spellings with the same key, such as http for https, that are no redirects: those mostly lead to
// the URL that was asked for.
func (a *Archive) Captures(url string) ([]Capture, error) {
	return a.find(warc.SURT(url), url, func(c Capture) bool { return c.Status/100 != 3 })
}

// Posted returns the captures of what a POST of a body to a URL has brought, as Captures does. A
// multipart body may have another boundary than the one that was archived.
func (a *Archive) Posted(url, contentType string, body io.Reader) ([]Capture, error) {
	text, err := io.ReadAll(io.LimitReader(body, warc.MaxPostBody))
	if err != nil {
		return nil, err
	}
	key, _ := warc.PostKey(url, contentType, text)
	return a.find(key, url, func(Capture) bool { return true })
}

// find returns the captures of a URL that have a key, by date. If there is none, it returns those
// of other spellings that may stand for them.
func (a *Archive) find(key, url string, may func(Capture) bool) ([]Capture, error) {
	want := canonical(url)
	var same, others []Capture
	held := 0
	for c, err := range a.prefixed(key + " ") {
		switch {
		case err != nil:
			return nil, err
		case canonical(c.URL) == want:
			same = append(same, c)
		case may(c):
			others = append(others, c)
		}
		held += c.size()
		if len(same) == mostCaptures || len(others) == mostCaptures || held > mostHeld {
			break
		}
	}
	if len(same) == 0 {
		same = others
	}
	slices.SortStableFunc(same, func(a, b Capture) int { // within a second, in the order of writing
		return cmp.Or(a.Date.Compare(b.Date), cmp.Compare(a.Filename, b.Filename), cmp.Compare(a.Offset, b.Offset))
	})
	return same, nil
}

// At returns the capture of a URL that is at a place in a file of the first source, as a record of
// a crawl names it. No index is searched; reading it is an error if there is none.
func (a *Archive) At(url, filename string, offset int64) Capture {
	return Capture{warc.Index{Key: warc.SURT(url), URL: url, Filename: filename, Offset: offset}, a.sources[0]}
}

// Nearest returns the capture nearest to a date, or that of the latest date for the zero time. Of
// several it is the last: the date of a link has seconds, in which a page may redirect to a gate
// and come back.
func Nearest(captures []Capture, at time.Time) Capture {
	nearest := captures[len(captures)-1]
	for _, c := range slices.Backward(captures) {
		if !at.IsZero() && c.Date.Sub(at).Abs() < nearest.Date.Sub(at).Abs() {
			nearest = c
		}
	}
	return nearest
}

// All yields the captures of all sources, one source after another, each in the order of its index.
// An error ends it.
func (a *Archive) All() iter.Seq2[Capture, error] { return a.prefixed("") }

// mostScanned is the most lines of an index that a search for similar URLs reads, for each prefix.
const mostScanned = 10_000

// Similar returns captures of URLs like one that is missing, one for each URL: other spellings,
// other queries, then HTML of the same folder, then of the same host.
func (a *Archive) Similar(url string, most int) ([]Capture, error) {
	var found []Capture
	for i, prefix := range prefixes(warc.SURT(url)) {
		scanned := 0
		for c, err := range a.prefixed(prefix) {
			if err != nil {
				return nil, err
			}
			known := func(other Capture) bool { return other.URL == c.URL }
			if c.Status < 400 && c.Method == "" && (i < sameFile || isHTML(c.MIME)) && !slices.ContainsFunc(found, known) {
				found = append(found, c)
			}
			if scanned++; len(found) == most || scanned == mostScanned {
				break
			}
		}
		if len(found) == most {
			break
		}
	}
	return found, nil
}

// sameFile is the number of prefixes of URLs that differ in spelling and query only.
const sameFile = 3

// prefixes returns what keys of similar URLs begin with, the most similar first.
func prefixes(key string) (all []string) {
	path, _, _ := strings.Cut(key, "?")
	all = append(all, key+" ", path+" ", path+"?")
	if folder := strings.LastIndexByte(path, '/'); folder >= 0 {
		all = append(all, path[:folder+1])
	}
	if host := strings.IndexByte(path, ')'); host >= 0 {
		all = append(all, path[:host+1])
	}
	return all
}

// prefixed yields the captures of all sources whose keys begin with a prefix, of [warc.SURT].
func (a *Archive) prefixed(prefix string) iter.Seq2[Capture, error] {
	return func(yield func(Capture, error) bool) {
		for _, s := range a.sources {
			for _, prefix := range spellings(prefix) {
				for line, err := range s.index.prefixed(prefix) {
					if !yield(Capture{line, s}, err) {
						return
					}
				}
			}
		}
	}
}

// spellings returns the keys that indexes have for one: in some, and in those of old jobs, the
// parts of an IPv4 address are not reversed.
func spellings(key string) []string {
	if end := strings.IndexAny(key, ":)"); end > 0 {
		parts := strings.Split(key[:end], ",")
		slices.Reverse(parts)
		if addr, err := netip.ParseAddr(strings.Join(parts, ".")); err == nil && addr.Is4() {
			return []string{key, addr.String() + key[end:]}
		}
	}
	return []string{key}
}

// canonical returns the form by which URLs are compared.
func canonical(url string) string {
	u, err := weburl.Parse(url)
	if err != nil {
		return url
	}
	return u.Canonical().String()
}

// Page is a page to begin with.
type Page struct {
	URL   string
	Title string    // "": none is known
	Date  time.Time // of the capture
}

// Bytes of a page that is listed.
const (
	mostURL   = 64 << 10
	mostTitle = 1 << 10
)

// Pages returns pages to begin with: those that a job or a WACZ file lists, otherwise HTML in the
// order of the index.
func (a *Archive) Pages(most int) (pages []Page, err error) {
	for _, s := range a.sources {
		listed, err := s.listed(most - len(pages))
		if err != nil {
			return nil, err
		}
		if len(listed) == 0 {
			if listed, err = s.html(most - len(pages)); err != nil {
				return nil, err
			}
		}
		pages = append(pages, listed...)
	}
	return pages, nil
}

// listed returns the pages of pages.jsonl that came as HTML: in a job's form, or in that of WACZ.
func (s *source) listed(most int) (pages []Page, err error) {
	if s.pages == nil {
		return nil, nil
	}
	f, err := s.pages()
	if err != nil {
		return nil, nil // the captures list its pages, too
	}
	defer f.Close()
	in := newLines(s.path+": pages", f)
	for len(pages) < most {
		line, err := in.next()
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, err
		}
		var p struct {
			URL         string `json:"url"`
			Title       string `json:"title"`
			Status      int    `json:"status"`
			ContentType string `json:"content_type"`
			Method      string `json:"method"`
			Started     string `json:"started"`
			TS          string `json:"ts"`
		}
		isPage := json.Unmarshal(line, &p) == nil && p.Method != "POST" && p.URL != "" && len(p.URL) <= mostURL && (p.Status == 0 || p.Status == 200) &&
			(p.ContentType == "" || isHTML(mediaType(p.ContentType)))
		at, err := time.Parse(time.RFC3339Nano, cmp.Or(p.Started, p.TS))
		if isPage && err == nil && (p.TS != "" || p.Status == 200) {
			pages = append(pages, Page{p.URL, p.Title[:min(len(p.Title), mostTitle)], at.UTC()})
		}
	}
	return pages, nil
}

// html returns the URLs of HTML in the index.
func (s *source) html(most int) (pages []Page, err error) {
	for c, err := range s.index.prefixed("") {
		if err != nil {
			return nil, err
		}
		if len(pages) == most {
			break
		}
		if n := len(pages); n > 0 && pages[n-1].URL == c.URL || c.Status != 200 || c.Method != "" || !isHTML(c.MIME) || len(c.URL) > mostURL {
			continue
		}
		pages = append(pages, Page{URL: c.URL, Date: c.Date})
	}
	return pages, nil
}

func isHTML(mediaType string) bool {
	return mediaType == "text/html" || mediaType == "application/xhtml+xml"
}
