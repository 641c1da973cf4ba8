package mirror

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/weftcrawl/weft"
	"github.com/weftcrawl/weft/internal/filename"
	"github.com/weftcrawl/weft/record"
	"github.com/weftcrawl/weft/results"
	"github.com/weftcrawl/weft/weburl"
)

// Options are those of a mirror.
type Options struct {
	Windows  bool               // new files have names that Windows allows
	Delete   bool               // own files of what is gone are removed
	Flat     bool               // see [Write]; a folder stays as its first mirror made it
	Temp     string             // a folder for what exceeds memory; "": that for temporary files
	Progress func(done, of int) // is told of each file, if not nil
}

// Report is the result of Write and Site.
type Report struct {
	Crawl   weft.Summary // of the crawl; zero if Site has made none
	Start   string       // the file of the first seed; "": it has none
	Files   int          // of the mirror
	Bytes   int64        // in them
	Written int          // of Files, those that are new or changed
	Removed int          // files of what is gone
	Gone    int          // of Files, those of what is gone
	Foreign []string     // names left alone, changed or made by somebody: the first few
	Left    int          // names that were left alone
	Unread  []error      // bodies that the job does not have: the first few
	Lost    int          // bodies that the job does not have
	Posts   int          // results of POST requests, which have no file: no link leads there
	Missing []string     // URLs that pages load and that have no file: the first few
	Misses  int          // mentions of such URLs

	record.ScriptCounts // of Files, the pages that look empty without scripts
}

// mostNamed bounds the lists of a report.
const mostNamed = 5

// isComplete reports whether all files of a visit of the job were written to a folder.
func isComplete(dir string, visit int) (bool, error) {
	d, err := open(dir)
	if err != nil {
		return false, err
	}
	return d.list.head.Complete && d.list.head.Visit == visit, d.close()
}

// Write writes what a job has fetched to a folder, and fetches nothing. Links are those of the job,
// by its canonical rules; the folder of a job may have lost its state, and then these.
//
// The files of each host are in a folder of its name. With Options.Flat, those of one host are in
// the mirror's folder itself: of the host that the first seed leads to.
func Write(ctx context.Context, job, dir string, o Options) (*Report, error) {
	return write(ctx, job, dir, 0, o)
}

// write is Write for the job of the folder, at a visit.
func write(ctx context.Context, job, dir string, visit int, o Options) (r *Report, err error) {
	s, err := status(ctx, job)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	canon, _ := weburl.ParseRules(s.Canon)
	bodies, err := results.OpenBodies(job)
	if err != nil {
		return nil, err
	}
	defer bodies.Close()
	if !bodies.Any() {
		return nil, fmt.Errorf("%s: %w", job, results.ErrNoBody)
	}
	d, err := open(dir)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, d.close()) }()
	m := &mirror{
		Options: o, canon: canon, folder: d, bodies: bodies, job: job,
		pages: make(map[string]*page), redirects: make(map[string]string), gone: make(map[string]bool),
	}
	if err := m.survey(ctx); err != nil {
		return nil, err
	}
	if m.pages[s.First] != nil || m.redirects[s.First] != "" { // else by another scheme, or not known
		m.start = s.First
	}
	m.flatten()
	n := names{list: d.list, root: d.Root}
	n.assign(m.pages)
	m.pages = nil
	if err := d.list.begin(visit); err != nil {
		return nil, err
	}
	if err := m.write(ctx); err != nil {
		return nil, err
	}
	m.settle()
	if m.report.Written > 0 {
		sync() // a power failure later takes nothing of what is complete
	}
	return &m.report, d.list.save(head{Visit: visit, Complete: true})
}

// mirror is a Write under way.
type mirror struct {
	Options
	*folder
	canon     weburl.RuleSet // of the job
	bodies    *results.Bodies
	job       string
	pages     map[string]*page
	redirects map[string]string // URLs to where they lead
	gone      map[string]bool   // URLs that had a page and have none
	start     string            // the URL of the first seed
	count     int
	report    Report
}

// survey reads what became of each URL.
func (m *mirror) survey(ctx context.Context) error {
	style := filename.Style{Windows: m.Windows}
	known := make(map[string]bool, len(m.list.urls))
	for r, err := range results.Last(ctx, m.job, 0, m.Temp) {
		if err != nil {
			return err
		}
		if r.Method == "POST" {
			if r.IsFetched() {
				m.report.Posts++
			}
			continue
		}
		m.report.CountScripts(r.URL, r.NeedsScripts)
		if r.Depth == 0 && m.start == "" && r.Role == "" {
			m.start = r.URL
		}
		if _, had := m.list.urls[r.URL]; had {
			known[r.URL] = true
		}
		switch {
		case taken(r):
			mediaType, digest := strings.ToLower(record.MediaType(r.Type())), r.SHA256
			if rendered := r.Rendered.Place(); rendered != nil {
				mediaType, digest = htmlType, rendered.SHA256
			}
			m.pages[r.URL] = &page{url: r.URL, wish: style.Of(r.URL, mediaType), digest: digest}
		case r.Redirect != "":
			m.redirects[r.URL] = r.Redirect
			m.gone[r.URL] = true
		case r.Change == record.ChangeGone, r.Status == 404, r.Status == 410:
			m.gone[r.URL] = true
		}
	}
	for url := range m.list.urls {
		if !known[url] {
			m.gone[url] = true
		}
	}
	if m.Delete { // before names are given: those of what is gone are free
		for url := range m.gone {
			if err := m.remove(url); err != nil {
				return naming(m.list.urls[url], err)
			}
		}
	}
	m.count = len(m.pages)
	return nil
}

// flatten has the files of one host wish for names without its folder, if the mirror is flat.
func (m *mirror) flatten() {
	h := &m.list.head
	if h.Version == 0 && m.Flat {
		at := m.start
		for range len(m.redirects) {
			if to, leads := m.redirects[at]; leads {
				at = to
			}
		}
		h.Home, _, _ = strings.Cut(filename.Style{Windows: m.Windows}.Of(at, ""), "/")
	}
	if h.Home == "" {
		return
	}
	for _, p := range m.pages {
		p.wish = strings.TrimPrefix(p.wish, h.Home+"/")
	}
}

// taken reports whether a record is that of a page.
func taken(r *record.Record) bool {
	return r.IsFetched() && r.ErrorKind == "" && r.Method == "" && r.Role != record.RoleExternal
}

// remove removes the own file of a URL that is gone.
func (m *mirror) remove(url string) error {
	name, had := m.list.urls[url]
	if !had {
		return nil
	}
	if m.list.own[name].uses == 1 {
		removed, err := m.take(name)
		if err != nil {
			return err
		}
		if !removed {
			m.leave(name)
		} else {
			m.report.Removed++
		}
	}
	m.list.drop(url)
	return nil
}

// leave notes a file that is not touched.
func (m *mirror) leave(name string) {
	if m.report.Left++; len(m.report.Foreign) < mostNamed {
		m.report.Foreign = append(m.report.Foreign, name)
	}
}

// write writes the pages, in the order in which they were fetched.
func (m *mirror) write(ctx context.Context) error {
	done := make(map[string]bool) // files that several URLs share
	n := 0
	for r, err := range results.Last(ctx, m.job, 0, m.Temp) {
		if err != nil {
			return err
		}
		name := m.list.urls[r.URL]
		if !taken(r) || name == "" {
			continue
		}
		if n++; m.Progress != nil {
			m.Progress(n, m.count)
		}
		shared := m.list.own[name].uses > 1
		if shared && done[name] {
			continue
		}
		done[name] = shared
		if err := m.page(r, name); err != nil {
			return err
		}
	}
	return nil
}

// htmlType is the type of what a browser has rendered, whatever it was.
const htmlType = "text/html"

// page writes the file of a page.
func (m *mirror) page(r *record.Record, name string) error {
	body, err := m.bodies.Read(r)
	if err != nil {
		if m.report.Lost++; len(m.report.Unread) < mostNamed {
			m.report.Unread = append(m.report.Unread, err)
		}
		return nil
	}
	at, contentType, policy := r.URL, r.Type(), offline
	if r.Rendered.Place() != nil {
		at, contentType, policy, body = cmp.Or(r.Rendered.URL, at), htmlType, still, renderedOf(body)
	}
	base, err := weburl.Parse(at)
	if err != nil {
		return fmt.Errorf("%s: %w", at, err)
	}
	text := document(base, contentType, body, policy, &neighbours{m, name})
	switch came, err := m.put(r.URL, name, text); {
	case err != nil:
		return naming(name, err)
	case came == foreign:
		m.leave(name)
	case came == written:
		m.report.Written++
	}
	return nil
}

// neighbours are the other files as one sees them.
type neighbours struct {
	*mirror
	name string
}

func (n *neighbours) to(u weburl.URL) string {
	name, fragment := n.file(u)
	if name == "" {
		return ""
	}
	to := relative(n.name, name)
	if fragment != "" {
		to += "#" + fragment
	}
	return to
}

func (n *neighbours) misses(u weburl.URL) {
	n.report.Misses++
	if url := u.String(); len(n.report.Missing) < mostNamed && !slices.Contains(n.report.Missing, url) {
		n.report.Missing = append(n.report.Missing, url)
	}
}

// mostRedirects is the most redirects that a link is followed through.
const mostRedirects = 10

// file returns the file of a URL, or of where it redirects to, and the fragment to show; "" if
// there is none.
func (m *mirror) file(u weburl.URL) (name, fragment string) {
	fragment = u.Fragment()
	for range mostRedirects {
		key := m.canon.Apply(u).String()
		next, leads := m.redirects[key]
		if !leads {
			return m.list.urls[key], fragment
		}
		var err error
		if u, err = weburl.Parse(next); err != nil {
			return "", ""
		}
		fragment = cmp.Or(fragment, u.Fragment())
	}
	return "", ""
}

// settle counts the files.
func (m *mirror) settle() {
	for url := range m.list.urls {
		if m.gone[url] {
			m.report.Gone++
		}
	}
	if u, err := weburl.Parse(m.start); err == nil {
		m.report.Start, _ = m.file(u)
	}
	for _, own := range m.list.own {
		if own.SHA256 != "" {
			m.report.Files++
			m.report.Bytes += own.Bytes
		}
	}
}
