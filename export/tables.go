package export

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/weftcrawl/weft"
	"github.com/weftcrawl/weft/internal/near"
	"github.com/weftcrawl/weft/internal/where"
	"github.com/weftcrawl/weft/record"
	"github.com/weftcrawl/weft/results"
)

// page is a row of the table pages: a record, and what follows from it.
type page struct {
	record.Record
	Host  string        `json:"host,omitempty"` // name, without port
	State weft.URLState `json:"state"`

	LinksIn int `json:"links_in,omitempty"` // other pages that link to it
}

// redirect is a row of the table redirects.
type redirect struct {
	URL      string    `json:"url"`
	Status   int       `json:"status,omitempty"`
	Redirect string    `json:"redirect"`
	From     string    `json:"from,omitempty"`
	Depth    int       `json:"depth"`
	Visit    int       `json:"visit,omitempty"`
	Started  time.Time `json:"started"`
}

// fault is a row of the table errors.
type fault struct {
	URL       string    `json:"url"`
	Status    int       `json:"status,omitempty"`
	ErrorKind string    `json:"error_kind,omitempty"`
	Error     string    `json:"error,omitempty"`
	From      string    `json:"from,omitempty"`
	Depth     int       `json:"depth"`
	Tries     int       `json:"tries"`
	Visit     int       `json:"visit,omitempty"`
	Started   time.Time `json:"started"`
}

// host is a row of the table hosts: an origin.
type host struct {
	Origin      string    `json:"origin"`
	Host        string    `json:"host"` // name, without port
	Done        int       `json:"done"`
	Pending     int       `json:"pending"`
	InFlight    int       `json:"in_flight"`
	TookMS      float64   `json:"took_ms,omitempty"`
	Pace        int       `json:"pace,omitempty"`
	DelayMS     float64   `json:"delay_ms,omitempty"`
	Asked       time.Time `json:"asked,omitzero"`
	Robots      string    `json:"robots"`
	RobotsUntil time.Time `json:"robots_until,omitzero"`
	Traps       []string  `json:"traps,omitempty"`
}

// table is one of the tables of a job.
type table struct {
	name    string
	columns []column
	rows    func(s *source, condition string) (iter.Seq2[reflect.Value, error], error)

	// ofJob returns the table of a job whose columns only the job knows; nil: it is this one.
	ofJob func(s *source) (*table, error)
}

// tables are those of a job.
var tables = []table{
	tableOf("pages", slices.Concat(record.Columns(), []string{"host", "state", linksIn}), (*source).pages),
	tableOf("links", nil, (*source).links),
	{name: "items", ofJob: (*source).items},
	tableOf("hosts", nil, (*source).hosts),
	tableOf("redirects", nil, func(s *source) iter.Seq2[*redirect, error] {
		return chosen(s.pages(), func(p *page) (*redirect, bool) {
			return &redirect{p.URL, p.Status, p.Redirect, p.From, p.Depth, p.Visit, p.Started}, p.Redirect != ""
		})
	}),
	tableOf("errors", nil, func(s *source) iter.Seq2[*fault, error] {
		return chosen(s.pages(), func(p *page) (*fault, bool) {
			f := fault{p.URL, p.Status, p.ErrorKind, p.Error, p.From, p.Depth, p.Tries, p.Visit, p.Started}
			return &f, p.ErrorKind != "" || p.Status >= 400
		})
	}),
}

// Tables returns the names of the tables.
func Tables() (names []string) {
	for _, t := range tables {
		names = append(names, t.name)
	}
	return names
}

func tableNamed(name string) (*table, error) {
	at := slices.IndexFunc(tables, func(t table) bool { return t.name == cmp.Or(name, "pages") })
	if at < 0 {
		return nil, &OptionError{"table", name, errors.New("expected one of " + strings.Join(Tables(), ", "))}
	}
	return &tables[at], nil
}

// tableOf is a table whose rows are of type T.
func tableOf[T any](name string, first []string, rows func(*source) iter.Seq2[*T, error]) table {
	return table{name: name, columns: columnsOf(reflect.TypeFor[T](), first), rows: func(s *source, condition string) (iter.Seq2[reflect.Value, error], error) {
		filter, err := compile[T](condition)
		if err != nil {
			return nil, err
		}
		return func(yield func(reflect.Value, error) bool) {
			for row, err := range rows(s) {
				if err == nil {
					err = s.ctx.Err()
				}
				holds := false
				if err == nil {
					holds, err = matches(filter, condition, row)
				}
				if err != nil {
					yield(reflect.Value{}, err)
					return
				}
				if holds && !yield(reflect.ValueOf(row).Elem(), nil) {
					return
				}
			}
		}, nil
	}}
}

// only returns the named columns, in the order of the names.
func (t *table) only(names []string) ([]column, error) {
	if len(names) == 0 {
		return t.columns, nil
	}
	var chosen []column
	for _, name := range names {
		at := slices.IndexFunc(t.columns, func(c column) bool { return c.name == name })
		if at < 0 {
			return nil, &OptionError{"fields", name, unknownField(name, t.columns)}
		}
		if slices.ContainsFunc(chosen, func(c column) bool { return c.name == name }) {
			return nil, &OptionError{"fields", name, errors.New("named twice")}
		}
		chosen = append(chosen, t.columns[at])
	}
	return chosen, nil
}

func unknownField(name string, columns []column) error {
	var names []string
	for _, c := range columns {
		names = append(names, c.name)
	}
	if meant := near.Word(name, names); meant != "" {
		return fmt.Errorf("unknown field: did you mean %s?", meant)
	}
	return fmt.Errorf("unknown field, expected one of %s", strings.Join(names, ", "))
}

// chosen yields what pick makes of the values that it accepts.
func chosen[A, B any](values iter.Seq2[*A, error], pick func(*A) (*B, bool)) iter.Seq2[*B, error] {
	return func(yield func(*B, error) bool) {
		for v, err := range values {
			if err != nil {
				yield(nil, err)
				return
			}
			if b, ok := pick(v); ok && !yield(b, nil) {
				return
			}
		}
	}
}

// source is a job that is exported.
type source struct {
	ctx    context.Context
	dir    string
	job    *weft.Job // nil: the folder has no state
	o      *Options
	old    results.Set // lines of pages.jsonl that later ones of the same URLs replace
	marked bool        // old is known
	visits bool        // the job has more than one
	in     []uint32    // pages that link to those of the lines that are not in old; nil: not counted
}

// pages yields the last record of each URL, or the URLs that wait.
func (s *source) pages() iter.Seq2[*page, error] {
	if s.o.State == weft.URLPending || s.o.State == weft.URLLeased {
		return s.waiting
	}
	return s.recorded
}

// ErrNoState is returned for hosts, and for URLs without a record, of a folder that has results
// only.
var ErrNoState = errors.New("has results and no state, expected the folder that a crawl was made in")

// waiting yields the URLs that have no record yet.
func (s *source) waiting(yield func(*page, error) bool) {
	if s.job == nil {
		yield(nil, ErrNoState)
		return
	}
	for u, err := range s.job.URLs(s.ctx, weft.URLFilter{State: s.o.State}) {
		if err != nil {
			yield(nil, err)
			return
		}
		p := page{Record: record.Record{URL: u.URL, Depth: u.Depth, From: u.From, Tries: u.Tries, Status: u.Status, ErrorKind: u.ErrorKind, Error: u.Error, Started: u.At}, State: u.State}
		p.Host = where.Host(p.URL)
		if !yield(&p, nil) {
			return
		}
	}
}

// recorded yields the last record of each URL.
func (s *source) recorded(yield func(*page, error) bool) {
	if err := s.mark(); err != nil {
		yield(nil, err)
		return
	}
	n := -1
	for r, err := range results.Each[record.Record](s.ctx, s.dir, results.Pages, s.old) {
		if err != nil {
			yield(nil, err)
			return
		}
		n++
		p := page{Record: *r, Host: where.Host(r.URL), State: stateOf(r), LinksIn: s.linksInOf(n)}
		if s.selects(&p) && !yield(&p, nil) {
			return
		}
	}
}

// stateOf returns the state of a URL that has a record.
func stateOf(r *record.Record) weft.URLState {
	switch {
	case r.IsRefused():
		return weft.URLRefused
	case r.ErrorKind != "":
		return weft.URLFailed
	}
	return weft.URLDone
}

// selects reports whether a record is of the visit and in the state that are asked for.
func (s *source) selects(p *page) bool {
	state := s.o.State
	return (s.o.Visit == 0 || max(p.Visit, 1) == s.o.Visit) &&
		(state == "" || p.State == state || state == weft.URLDone && p.State == weft.URLFailed ||
			weft.URLState(p.Change) == state)
}

// hosts yields the origins.
func (s *source) hosts() iter.Seq2[*host, error] {
	if s.job == nil {
		return func(yield func(*host, error) bool) { yield(nil, ErrNoState) }
	}
	return chosen(pointers(s.job.Hosts(s.ctx)), func(h *weft.HostStatus) (*host, bool) {
		return &host{
			h.Host, where.Host(h.Host), h.Done, h.Pending, h.InFlight, h.TookMS, h.Pace, h.DelayMS,
			h.Asked, h.Robots, h.RobotsUntil, h.Traps,
		}, true
	})
}

func pointers[T any](values iter.Seq2[T, error]) iter.Seq2[*T, error] {
	return func(yield func(*T, error) bool) {
		for v, err := range values {
			if !yield(&v, err) {
				return
			}
		}
	}
}

// ErrNoLinks is returned for a job that keeps no links.
var ErrNoLinks = errors.New("the job has no links, expected a job of weft crawl --links")

// links yields the links that pages have, or had at the visit that is asked for.
func (s *source) links() iter.Seq2[*record.Link, error] {
	return func(yield func(*record.Link, error) bool) {
		old, err := s.oldLinks()
		if err != nil {
			yield(nil, err)
			return
		}
		orNone(results.Each[record.Link](s.ctx, s.dir, linksFile, old), ErrNoLinks)(yield)
	}
}

const linksFile = "links.jsonl"

// each calls do with each row.
func (r *rows) each(s *source, do func(reflect.Value) error) error {
	all, err := r.table.rows(s, r.where)
	if err == nil {
		err = s.countsLinksIn(r)
	}
	if err != nil {
		return err
	}
	for row, err := range all {
		if err == nil {
			err = do(row)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
