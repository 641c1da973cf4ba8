package check

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/weftcrawl/weft/archive"

	"github.com/weftcrawl/weft/record"
	"github.com/weftcrawl/weft/weburl"
)

// key identifies a URL in canonical form, by the rules of the job.
type key [16]byte

// target is the part of a URL of a job that memory keeps: everything else is in its record.
type target struct {
	key         key
	offset      int64 // of its last record
	redirect    key   // its target; zero: none
	title       uint64
	description uint64
	text        uint64 // of a page
	in, out     uint32 // mentions
	errors      uint32 // findings
	warnings    uint32
	visit       uint32 // of its last record
	notes       uint32
	status      uint16
	flags       flags
}

type flags uint16

const (
	isPage       flags = 1 << iota // HTML that was received
	isRead                         // its links were read
	isLinked                       // by a page, another than itself
	inSitemap                      // a sitemap has it
	isNoIndex                      // it is not to be indexed
	isSeed                         // nothing led to it
	isMissing                      // it says that it is missing, with a status of 200
	hasIssue                       // its record alone does not say ok
	isExternal                     // it is not crawled, only links to it are checked
	isProbe                        // no link led to it: see record.RoleProbe
	mayBeSitemap                   // it is one, or nobody knows
	isNamed                        // a link names a place on it: see Job.unread
)

// targets are the URLs of a job, each by its last record.
type targets struct {
	ctx   context.Context
	canon weburl.RuleSet
	file  *os.File // pages.jsonl
	at    map[key]uint32
	all   []target

	seeds   map[string]bool // their hosts
	own     bool            // whoever checks owns these, and what the seeds redirect to: see openOwn
	missing map[uint64]bool // texts of answers with status 200 to a made-up URL: see textOf

	began, ended time.Time

	// Outcomes of look for targets that are not ok. Most links to such a target come from
	// many pages. Bounded by mostKnown.
	known map[key]outcome
	hops  int // of them, and they themselves
}

const mostKnown = 10_000 // hops

// maxRecord bounds a line of pages.jsonl, in bytes; longer ones are no records.
const maxRecord = 4 << 20

// openTargets reads pages.jsonl of a job.
func openTargets(ctx context.Context, dir string, canon weburl.RuleSet, accept []Range) (*targets, error) {
	f, err := archive.OpenRegular(filepath.Join(dir, "pages.jsonl"))
	if err != nil {
		return nil, err
	}
	t := &targets{ctx: ctx, canon: canon, file: f, at: make(map[key]uint32), known: make(map[key]outcome), missing: make(map[uint64]bool),
		seeds: make(map[string]bool)}
	err = t.each(func(offset int64, r *record.Record) error {
		u, err := weburl.Parse(r.URL)
		switch {
		case err != nil:
		case !isMadeUp(u):
			t.add(t.keyOf(u), offset, r, accept)
			if r.From == "" {
				t.seeds[u.Host()] = true
			}
		case r.IsPage():
			t.missing[textOf(r)] = true
		}
		return nil
	})
	if err != nil {
		f.Close()
		return nil, err
	}
	if len(t.missing) > 0 {
		t.mark()
	}
	return t, nil
}

func (t *targets) keyOf(u weburl.URL) key { return t.canon.Identity(u).Fingerprint() }

func (t *targets) add(k key, offset int64, r *record.Record, accept []Range) {
	i, ok := t.at[k]
	visit := uint32(max(r.Visit, 1))
	if ok && r.Role == record.RoleExternal && t.all[i].flags&isExternal == 0 && t.all[i].visit == visit {
		return // it was crawled, too: see results.Superseded
	}
	if !ok {
		i = uint32(len(t.all))
		t.at[k] = i
		t.all = append(t.all, target{})
	}
	n := target{key: k, offset: offset, status: uint16(r.Status), visit: visit}
	if record.IsRedirect(r.Status) && r.Redirect != "" && len(accept) > 0 && accepts(accept, r.Status) {
		r.Redirect = "" // accepted as it is
	}
	if r.Redirect != "" {
		if to, err := weburl.Parse(r.Redirect); err == nil {
			n.redirect = t.keyOf(to)
		}
	}
	if r.IsPage() && r.Role == "" {
		n.flags |= isPage
		n.text = textOf(r)
	}
	switch r.Role {
	case record.RoleProbe:
		n.flags |= isExternal | isProbe
	case record.RoleExternal:
		n.flags |= isExternal
	}
	if r.From == "" {
		n.flags |= isSeed
	}
	if r.Sitemap != "" || r.UnchangedBy != "" || r.ErrorKind != "" || r.Cut != "" {
		n.flags |= mayBeSitemap
	}
	if v, _, _ := judge(r, accept); v != OK || r.Redirect != "" {
		n.flags |= hasIssue
	}
	t.all[i] = n
	if !r.Started.IsZero() {
		if t.began.IsZero() || r.Started.Before(t.began) {
			t.began = r.Started
		}
		if end := r.Started.Add(time.Duration(r.TotalMS * float64(time.Millisecond))); end.After(t.ended) {
			t.ended = end
		}
	}
}

// openOwn makes the hosts of the seeds, and of what these redirect to within the scope, the own
// ones.
func (t *targets) openOwn() error {
	t.own = true
	for i := range t.all {
		n := &t.all[i]
		if n.flags&isSeed == 0 {
			continue
		}
		for range maxChain {
			if n = t.find(n.redirect); n == nil {
				break
			}
			r, err := t.record(n)
			if err != nil {
				return err
			}
			if u, err := weburl.Parse(r.URL); err == nil && r.Role == "" {
				t.seeds[u.Host()] = true
			}
		}
	}
	return nil
}

// each calls use for each record of the file, with its offset, until it returns an error. What is
// no record is passed over, as is half a line at the end of a job that runs.
func (t *targets) each(use func(offset int64, r *record.Record) error) error {
	in := bufio.NewReaderSize(io.NewSectionReader(t.file, 0, 1<<62), 64<<10)
	for at := int64(0); ; {
		line, n, err := readLine(in)
		if err == io.EOF {
			return nil
		}
		if t.ctx.Err() != nil {
			return t.ctx.Err()
		}
		if err != nil {
			return fmt.Errorf("pages.jsonl: offset %d: %w", at, err)
		}
		var r record.Record
		if line != nil && json.Unmarshal(line, &r) == nil && r.URL != "" {
			if err := use(at, &r); err != nil {
				return err
			}
		}
		at += n
	}
}

// readLine returns a line and its length in the file; nil for one that is too long. Without its
// end, a line is none yet.
func readLine(in *bufio.Reader) (line []byte, n int64, err error) {
	for {
		part, err := in.ReadSlice('\n')
		n += int64(len(part))
		if n <= maxRecord {
			line = append(line, part...)
		}
		if err == bufio.ErrBufferFull {
			continue
		}
		if n > maxRecord {
			line = nil
		}
		return line, n, err
	}
}

// last calls use for the last record of each URL, in the order of the file.
func (t *targets) last(use func(n *target, r *record.Record) error) error {
	return t.each(func(offset int64, r *record.Record) error {
		u, err := weburl.Parse(r.URL)
		if err != nil {
			return nil
		}
		if n := t.find(t.keyOf(u)); n != nil && n.offset == offset {
			return use(n, r)
		}
		return nil
	})
}

// find returns the target with a key; nil: the job has none.
func (t *targets) find(k key) *target {
	if i, ok := t.at[k]; ok {
		return &t.all[i]
	}
	return nil
}

// record reads the last record of a target.
func (t *targets) record(n *target) (r record.Record, err error) {
	line, _, err := readLine(bufio.NewReaderSize(io.NewSectionReader(t.file, n.offset, maxRecord), 4<<10))
	if err == nil {
		err = json.Unmarshal(line, &r)
	}
	return r, err
}

// outcome is the end of a target, behind its redirects.
type outcome struct {
	url       string // of the target, unless it is ok
	verdict   Verdict
	rule      string // of a finding; "": the usual one of the verdict
	message   string
	status    int
	kind, err string
	chain     []Hop
	permanent bool // the first redirect is
	own       bool // unknown, and the target's host is to blame, which is one of the seeds
	end       key  // the target behind the redirects

	// The fragment of the last redirect that has one, in place of the link's: RFC
	// 9110, section 10.2.2. An empty fragment names nothing.
	fragment    string
	hasFragment bool
}

// maxChain bounds the redirects that are followed.
const maxChain = 50

// look returns what became of the URL with a key.
func (t *targets) look(k key, accept []Range) (outcome, error) {
	n := t.find(k)
	switch {
	case n == nil:
		return outcome{verdict: Unchecked, end: k}, nil
	case n.flags&hasIssue == 0:
		return outcome{verdict: OK, status: int(n.status), end: k}, nil
	}
	if o, ok := t.known[k]; ok {
		return o, nil
	}
	o, err := t.follow(n, accept)
	if err != nil {
		return o, err
	}
	if t.hops += 1 + len(o.chain); t.hops > mostKnown {
		clear(t.known)
		t.hops = 1 + len(o.chain)
	}
	t.known[k] = o
	return o, nil
}

// follow follows the redirects of a target.
func (t *targets) follow(n *target, accept []Range) (o outcome, err error) {
	var passed []key
	for {
		r, err := t.record(n)
		if err != nil {
			return o, err
		}
		o.end, o.status, o.kind, o.err = n.key, r.Status, r.ErrorKind, r.Error
		o.url = cmp.Or(o.url, r.URL)
		if n.redirect == (key{}) || r.ErrorKind == record.KindRedirects {
			// This is the end, or the last that is followed.
			o.verdict, o.rule, o.message = judge(&r, accept)
			if n.flags&isMissing != 0 && o.verdict == OK {
				o.verdict, o.rule, o.message = Broken, Soft404, "the page says what the site says of pages that do not exist"
			}
			if o.verdict == Unknown && blames(&r) {
				u, err := weburl.Parse(r.URL)
				o.own = err == nil && t.own && t.seeds[u.Host()]
			}
			return o, nil
		}
		if len(passed) == 0 {
			o.permanent = r.Status == 301 || r.Status == 308
		}
		passed = append(passed, n.key)
		o.chain = append(o.chain, Hop{r.Status, clipped(r.Redirect, longestHop)})
		if _, fragment, found := strings.Cut(r.Redirect, "#"); found {
			o.fragment, o.hasFragment = fragment, true
		}
		if slices.Contains(passed, n.redirect) || len(passed) > maxChain {
			o.verdict, o.rule, o.message = Broken, RedirectLoop, "redirects in a circle"
			return o, nil
		}
		o.end = n.redirect
		if n = t.find(n.redirect); n == nil {
			o.verdict = Unchecked
			return o, nil
		}
	}
}

// row returns a page of the report.
func (t *targets) row(n *target, r *record.Record, accept []Range) (PageRow, error) {
	o, err := t.look(n.key, accept)
	return PageRow{
		URL: r.URL, Status: r.Status, ErrorKind: r.ErrorKind, Redirect: r.Redirect, ContentType: r.Type(), Title: r.Title, Depth: r.Depth,
		Bytes: int64(r.BodyBytes), TotalMS: r.TotalMS, LinksIn: int(n.in), LinksOut: int(n.out),
		Errors: int(n.errors), Warnings: int(n.warnings), Notes: int(n.notes), Verdict: o.verdict,
	}, err
}

func (t *targets) close() error { return t.file.Close() }

// outcomeName returns the name of an outcome in totals: its status, or its error kind.
func outcomeName(r *record.Record) string {
	return cmp.Or(clipped(r.ErrorKind, 64), fmt.Sprint(r.Status))
}
