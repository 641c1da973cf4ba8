package torture

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/weftcrawl/weft"
	"github.com/weftcrawl/weft/internal/frontier/store"
	"github.com/weftcrawl/weft/internal/refs"
	"github.com/weftcrawl/weft/internal/webtest"
)

// Left is the outcome of a job that ran with KeepLinks, and KeepBodies or Archive, perhaps with
// Extract.
type Left struct {
	Pages   string                 // pages.jsonl
	Records map[string]weft.Record // in it, by URL
	Links   map[string]string      // lines of links.jsonl, sorted, by their page
	Items   map[string]string      // lines of items.jsonl, by their page
	Leads   map[string]int         // number of targets in referrers.bin, by their page
	Pending map[string]bool        // URLs still to fetch
}

// Open opens the job in dir, which cuts its outputs to what was committed, and closes it. The error
// reports damage: a line that is cut, a second record of a URL, a record of an unfinished URL, a
// finished URL without a record, or links of a page without one.
func Open(files store.FS, dir string) (l Left, err error) {
	outputs := []string{"pages.jsonl", "links.jsonl", refs.File}
	if _, err := files.Stat(files.PathJoin(dir, itemsFile)); err == nil {
		outputs = append(outputs, itemsFile)
	}
	s, err := store.Open(dir, store.Options{FS: files, Outputs: outputs})
	if err != nil {
		return l, err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	if l, err = Read(files, dir); err != nil {
		return l, err
	}
	for from := range l.Links {
		if _, ok := l.Records[from]; !ok {
			return l, fmt.Errorf("links of %s, which has no record", from)
		}
	}
	for page := range l.Items {
		if _, ok := l.Records[page]; !ok {
			return l, fmt.Errorf("an item of %s, which has no record", page)
		}
	}
	for page := range l.Leads {
		if _, ok := l.Records[page]; !ok {
			return l, fmt.Errorf("targets of %s, which has no record", page)
		}
	}
	return l, l.against(s)
}

// against compares the outputs with the state.
func (l *Left) against(s *store.Store) error {
	finished := 0
	for _, state := range []store.State{store.Done, store.Refused} {
		for e, err := range s.URLs(state, "") {
			if err != nil {
				return err
			}
			if _, ok := l.Records[e.URL.URL.String()]; !ok {
				return fmt.Errorf("%s is %v but has no record", e.URL.URL, state)
			}
			finished++
		}
	}
	if finished != len(l.Records) {
		return fmt.Errorf("%d records, but %d finished URLs", len(l.Records), finished)
	}
	l.Pending = make(map[string]bool)
	for e, err := range s.URLs(store.Pending, "") {
		if err != nil {
			return err
		}
		u := e.URL.URL.String()
		if _, done := l.Records[u]; done {
			return fmt.Errorf("%s is pending but has a record", u)
		}
		l.Pending[u] = true
	}
	return nil
}

// Read reads the outputs as they are. Every line must be whole, and no URL may have two records.
func Read(files store.FS, dir string) (Left, error) {
	l := Left{Records: make(map[string]weft.Record), Links: make(map[string]string)}
	pages, err := readFile(files, files.PathJoin(dir, "pages.jsonl"))
	if err != nil {
		return l, err
	}
	l.Pages = string(pages)
	for line := range strings.Lines(l.Pages) {
		var r weft.Record
		if err := unmarshal(line, &r); err != nil {
			return l, fmt.Errorf("record %q: %w", line, err)
		}
		if _, twice := l.Records[r.URL]; twice {
			return l, fmt.Errorf("two records of %s", r.URL)
		}
		l.Records[r.URL] = r
	}
	links, err := readFile(files, files.PathJoin(dir, "links.jsonl"))
	if err != nil {
		return l, err
	}
	byPage := make(map[string][]string)
	for line := range strings.Lines(string(links)) {
		var r weft.LinkRecord
		if err := unmarshal(line, &r); err != nil {
			return l, fmt.Errorf("link %q: %w", line, err)
		}
		byPage[r.From] = append(byPage[r.From], line)
	}
	for from, lines := range byPage {
		slices.Sort(lines)
		l.Links[from] = strings.Join(lines, "")
	}
	if l.Items, err = readItems(files, dir); err != nil {
		return l, err
	}
	l.Leads, err = readLeads(files, dir)
	return l, err
}

const itemsFile = "items.jsonl"

// readItems reads the items; there may be none. No page may have two: the rules of these tests find
// one.
func readItems(files store.FS, dir string) (map[string]string, error) {
	items := make(map[string]string)
	path := files.PathJoin(dir, itemsFile)
	if _, err := files.Stat(path); err != nil {
		return items, nil
	}
	text, err := readFile(files, path)
	if err != nil {
		return nil, err
	}
	for line := range strings.Lines(string(text)) {
		var i weft.Item
		if err := unmarshal(line, &i); err != nil {
			return nil, fmt.Errorf("item %q: %w", line, err)
		}
		if items[i.URL] != "" {
			return nil, fmt.Errorf("two items of %s", i.URL)
		}
		items[i.URL] = line
	}
	return items, nil
}

// readLeads reads which pages lead to how many targets. No page may have two entries.
func readLeads(files store.FS, dir string) (map[string]int, error) {
	file, err := readFile(files, files.PathJoin(dir, refs.File))
	if err != nil {
		return nil, err
	}
	leads := make(map[string]int)
	var twice error
	_, err = refs.Entries(bytes.NewReader(file), func(page string, targets refs.Targets) {
		if _, known := leads[page]; known {
			twice = fmt.Errorf("two entries of %s", page)
		}
		leads[page] = targets.Len()
	})
	return leads, errors.Join(err, twice)
}

func unmarshal(line string, v any) error {
	if !strings.HasSuffix(line, "\n") {
		return errors.New("cut")
	}
	return json.Unmarshal([]byte(line), v)
}

func readFile(files store.FS, path string) ([]byte, error) {
	f, err := files.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(f)
}

// Whole checks that a finished crawl has exactly the records of the truth, their links, and if
// there are items, one of each page.
func (l Left) Whole(truth map[string]webtest.Fate, links map[string]string) error {
	for u, fate := range truth {
		r, ok := l.Records[u]
		if !ok {
			return fmt.Errorf("%s has no record", u)
		}
		if !Is(r, fate) {
			return fmt.Errorf("%s: status %d, error %q %q, expected %+v", u, r.Status, r.ErrorKind, r.Error, fate)
		}
		if r.IsPage() && r.Role == "" && r.ErrorKind == "" && len(l.Items) > 0 && l.Items[u] == "" {
			return fmt.Errorf("%s has no item", u)
		}
		if l.Links[u] != links[u] {
			return fmt.Errorf("links of %s: got\n%s\nexpected\n%s", u, l.Links[u], links[u])
		}
	}
	if len(l.Records) != len(truth) || len(l.Links) != len(links) || len(l.Pending) > 0 {
		return fmt.Errorf("%d records, expected %d; links of %d pages, expected %d; %d URLs pending", len(l.Records), len(truth), len(l.Links), len(links), len(l.Pending))
	}
	return nil
}

// Is reports whether a record states the fate of its URL. A response that fails after its header
// has a status; and a redirect may exceed the limit before the crawl finds a shorter way to it.
func Is(r weft.Record, fate webtest.Fate) bool {
	if r.Status != fate.Status && !(fate.Status == 0 && r.Status == 200) {
		return false
	}
	switch fate.Error {
	case webtest.ErrorStall:
		return strings.HasSuffix(r.ErrorKind, "timeout")
	case webtest.ErrorRobots:
		return r.ErrorKind == weft.KindRobots || r.ErrorKind == weft.KindNoRobots
	case "":
		return r.ErrorKind == "" || r.ErrorKind == weft.KindRedirects
	}
	return r.ErrorKind == fate.Error
}

// PolicyBeyond is the policy of weft that keeps to the host of the seed and fetches assets and
// checks links beyond it.
func PolicyBeyond(retries int) webtest.Policy {
	p := Policy(retries)
	p.Scope, p.Beyond = nil, true
	p.Elements = append(p.Elements, "img", "script")
	return p
}

// Policy is the policy of weft, for the ground truth.
func Policy(retries int) webtest.Policy {
	return webtest.Policy{
		Scope: webtest.Anywhere, Elements: []string{"a", "area", "frame", "iframe", "link", "meta", "header"},
		MaxRedirects: 10, Retries: retries, Robots: true, Agent: webtest.Agent,
	}
}
