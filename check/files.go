package check

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/weftcrawl/weft/archive"
	"github.com/weftcrawl/weft/guard"
	"github.com/weftcrawl/weft/results"

	"github.com/weftcrawl/weft/internal/appshell"
	"github.com/weftcrawl/weft/internal/charset"
	"github.com/weftcrawl/weft/links"
	"github.com/weftcrawl/weft/record"
	"github.com/weftcrawl/weft/weburl"
)

// fileTypes are the files that are read, by extension.
var fileTypes = map[string]string{
	".html": "text/html", ".htm": "text/html", ".xhtml": "application/xhtml+xml",
	".md": markdownType, ".markdown": markdownType,
}

// namedTypes are further files that links name elements of.
var namedTypes = map[string]string{".svg": "image/svg+xml"}

const markdownType = "text/markdown"

// indexFiles stand for their folder.
var indexFiles = []string{"index.html", "index.htm", "README.md", "readme.md", "index.md"}

// files checks files. Links to the Web are what the job in web says; without one, they are
// unchecked.
func files(ctx context.Context, paths []string, web string, o Options) (*Report, error) {
	o.ofJob(ctx, web)
	d := &disk{analysis: newAnalysis(ctx, strings.Join(paths, " "), o), files: make(map[string]*file), others: make(map[string]bool)}
	d.analysis.look = d.find
	d.analysis.count, d.analysis.name = d.countFinding, nameOf
	if web != "" {
		var err error
		if d.web, err = openTargets(ctx, web, o.Canon, o.Accept); err != nil {
			return nil, err
		}
		defer d.web.close()
	}
	for _, path := range paths {
		d.ended(d.walk(path))
	}
	for len(d.asked) > 0 && d.err == nil { // further files, for the fragments of links that lead there
		path := d.asked[0]
		d.asked = d.asked[1:]
		d.ended(d.read(path, path, false))
	}
	if d.web != nil {
		d.ended(d.ofWeb(web))
	}
	report, err := d.end()
	if err != nil {
		return nil, err
	}
	report.pages = d.rows
	return report, nil
}

// ofWeb takes in what became of the URLs of a job, and which names its pages have.
func (d *disk) ofWeb(dir string) error {
	b, err := results.OpenBodies(dir)
	if err != nil {
		return err
	}
	defer b.Close()
	return d.web.last(func(n *target, r *record.Record) error {
		if err := d.next(); err != nil {
			return err
		}
		o, err := d.web.look(n.key, d.options.Accept)
		d.requested(r, &o)
		if u, bad := weburl.Parse(r.URL); err == nil && bad == nil && d.options.ExternalFragments && r.IsPage() {
			err = d.anchors(b, n, u, r)
		}
		return err
	})
}

// offSite returns the links of files to the Web, each once, in the order of the files: what a job
// has to have for files. Links to ports that browsers block are none. Their number is bounded;
// after Options.Stop, they are those of the files that were read.
func offSite(ctx context.Context, paths []string, o Options) ([]string, error) {
	seen := make(map[string]bool)
	var all []string
	d := &disk{analysis: newAnalysis(ctx, "", o), files: make(map[string]*file)}
	d.analysis.look = func(u weburl.URL) (outcome, error) {
		to := u.Canonical()
		if url := to.String(); u.IsHTTP() && !seen[url] && len(all) < mostOffSite {
			seen[url] = true
			if !guard.BlocksPort(to.EffectivePort()) {
				all = append(all, url)
			}
		}
		return outcome{verdict: Unchecked}, nil
	}
	for _, path := range paths {
		d.ended(d.walk(path))
	}
	report, err := d.end()
	if err != nil {
		return nil, err
	}
	return all, report.Close()
}

const mostOffSite = 1_000_000

// disk is the check of files.
type disk struct {
	*analysis
	web    *targets         // or nil
	files  map[string]*file // that were read, by absolute path
	order  []*file
	others map[string]bool // documents that are not read, by path
	root   string          // the folder that is walked
	rooted bool            // the link that is looked at begins with a slash
	asked  []string        // files to read for their anchors
}

// file is one that was read.
type file struct{ row PageRow }

func (d *disk) walk(path string) error {
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	d.root = path
	if !info.IsDir() {
		d.root = filepath.Dir(path)
		if fileTypes[strings.ToLower(filepath.Ext(path))] == "" {
			return fmt.Errorf("%s: expected a file of HTML or Markdown: .html or .md", path)
		}
		return d.read(path, path, true)
	}
	top := path + string(filepath.Separator) // or WalkDir would not enter a symbolic link
	return filepath.WalkDir(top, func(name string, e fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case name != top && strings.HasPrefix(e.Name(), "."), e.IsDir() && e.Name() == "node_modules":
			if e.IsDir() {
				return filepath.SkipDir
			}
			return nil
		case !e.Type().IsRegular():
			return nil
		case fileTypes[strings.ToLower(filepath.Ext(name))] == "":
			d.report.Totals.Files.Other++
			return nil
		}
		return d.read(name, plainName(name), true)
	})
}

// plainName returns the name of a file that does not look like a command of a CI server, ::error::.
func plainName(path string) string {
	if strings.HasPrefix(path, ":") {
		return "./" + path
	}
	return path
}

// read reads a file: its anchors, and if it is one of those to check, its links.
func (d *disk) read(path, name string, check bool) error {
	if err := d.next(); err != nil {
		return err
	}
	absolute, err := filepath.Abs(path)
	if err != nil {
		return err
	}
	if d.files[absolute] != nil {
		return nil
	}
	own := &file{PageRow{URL: name, Verdict: OK}}
	d.files[absolute] = own
	source, err := readFile(path)
	switch {
	case err != nil && check:
		return err
	case err != nil: // its anchors remain unknown
		return nil
	}
	base, err := fileURL(absolute)
	if err != nil {
		return nil // a name that no URL has: nothing leads there
	}
	extension := strings.ToLower(filepath.Ext(path))
	contentType := cmp.Or(fileTypes[extension], namedTypes[extension])
	page := &document{name: name, url: base, key: base.Fingerprint()}
	defer d.open(name)()
	doc := links.Document{Base: base, ContentType: contentType}
	whole := true
	if contentType == markdownType {
		doc.ContentType = "text/html"
		cut := -1
		doc.Body, cut, err = renderMarkdown(source)
		if whole = err == nil && cut < 0; !whole && check {
			d.notRead(page, source, cut, err)
		}
		if err != nil {
			return d.err
		}
		page.place = (&sourceOf{source: source}).place
	} else {
		doc.Body, doc.Charset = charset.UTF8(contentType, source)
	}
	facts := d.reader.Read(doc, nil, func(l links.Link) bool {
		if check {
			d.publish(&l)
			d.link(page, &l)
		}
		return d.err == nil
	})
	if contentType == markdownType {
		facts.Anchors = append(facts.Anchors, headingAnchors(doc.Body)...)
	}
	if whole {
		d.fail(d.joins.has(joinAnchor, page.key, facts.Anchors))
	}
	if check {
		own.row.Title, own.row.Bytes, own.row.LinksOut, own.row.ContentType = facts.Title, int64(len(source)), page.links, contentType
		d.order = append(d.order, own)
		d.report.Totals.Pages++
		if contentType == markdownType {
			d.report.Totals.Files.Markdown++
		} else {
			d.report.Totals.Files.HTML++
			d.scripts(name, appshell.Judge(doc.Body))
		}
		count(d.report.Totals.Sizes, own.row.Bytes)
		d.imagesOf(name, contentType, &facts)
	}
	return d.err
}

// notRead reports Markdown that is not read, or not beyond a place.
func (d *disk) notRead(page *document, source []byte, cut int, err error) {
	f := Finding{Rule: NotRead, Page: page.name}
	if f.Message = "this paragraph, and what follows, takes too long to parse"; err != nil {
		f.Message = err.Error()
	} else {
		f.Line, f.Column = (&sourceOf{source: source}).tell(cut)
	}
	d.found(f)
}

// publish makes of a link what it is when its file is on the Web: one that begins with two slashes
// leads to another host there, and with one, into the folder.
func (d *disk) publish(l *links.Link) {
	raw := strings.TrimSpace(l.Raw)
	d.rooted = strings.HasPrefix(raw, "/")
	if !strings.HasPrefix(raw, "//") || l.URL.IsHTTP() {
		return
	}
	if there, err := weburl.Parse("https:" + raw); err == nil {
		l.URL = there
	}
}

// imagesOf reports images without alt.
func (d *disk) imagesOf(name, contentType string, facts *Facts) {
	for _, i := range facts.Images {
		f := Finding{Rule: ImageAlt, Page: name, Line: i.Line, Column: i.Column, Tag: "img", URL: i.Source, Message: "no alt attribute"}
		if contentType == markdownType {
			f.Line, f.Column = 0, 0
		}
		d.found(f)
	}
	if facts.Title == "" && contentType != markdownType {
		d.found(Finding{Rule: MissingTitle, Page: name, Message: "no title"})
	}
}

func (d *disk) countFinding(f *Finding) {
	absolute, _ := filepath.Abs(f.Page)
	switch own := d.files[absolute]; {
	case own == nil:
	case f.Level == Error:
		own.row.Errors++
	case f.Level == Warning:
		own.row.Warnings++
	default:
		own.row.Notes++
	}
}

// find returns what became of a target: of a file, whether it is there.
func (d *disk) find(u weburl.URL) (outcome, error) {
	if u.Scheme() != "file" {
		if d.web == nil {
			return outcome{verdict: Unchecked}, nil
		}
		return d.web.look(d.web.keyOf(u), d.options.Accept)
	}
	path, err := url.PathUnescape(u.Path())
	if err != nil || strings.ContainsRune(path, 0) || u.Host() != "" {
		return outcome{verdict: Broken, message: "no name of a file"}, nil
	}
	path = filepath.Clean(path)
	info, err := os.Stat(path)
	if d.rooted || err != nil { // or its base begins with a slash
		if path, err = filepath.Abs(filepath.Join(d.root, path)); err == nil {
			info, err = os.Stat(path)
		}
	}
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, fs.ErrInvalid):
		return outcome{verdict: Broken, message: "no such file"}, nil
	case err != nil:
		return outcome{verdict: Unknown, message: "the file cannot be read", err: err.Error()}, nil
	}
	if info.IsDir() {
		for _, name := range indexFiles {
			if inside, err := os.Stat(filepath.Join(path, name)); err == nil && inside.Mode().IsRegular() {
				path, info = filepath.Join(path, name), inside
				break
			}
		}
	}
	d.document(path, info)
	if _, fragment := fragmentOf(u.Fragment()); fragment && info.Mode().IsRegular() {
		path = d.ask(path)
	}
	to, err := fileURL(path)
	if err != nil {
		return outcome{verdict: OK}, nil
	}
	return outcome{verdict: OK, end: to.Fingerprint()}, nil
}

// document counts a file that is a document whose text is not read, once.
func (d *disk) document(path string, info fs.FileInfo) {
	r := record.Record{URL: path, Status: http.StatusOK}
	if !info.Mode().IsRegular() || r.Document() == "" {
		return
	}
	if real, err := filepath.EvalSymlinks(path); err == nil && !d.others[real] {
		d.others[real] = true
		d.report.Totals.Documents.Count(&r)
	}
}

// ask has the anchors of a file read, if they are not known, and returns its path: without symbolic
// links, or one file would have as many paths as one wants.
func (d *disk) ask(path string) string {
	extension := strings.ToLower(filepath.Ext(path))
	if d.files[path] != nil || fileTypes[extension]+namedTypes[extension] == "" {
		return path
	}
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real
	}
	if d.files[path] == nil && !slices.Contains(d.asked[max(0, len(d.asked)-100):], path) {
		d.asked = append(d.asked, path)
	}
	return path
}

func (d *disk) rows(yield func(PageRow, error) bool) {
	for _, f := range d.order {
		if !yield(f.row, nil) {
			return
		}
	}
}

// nameOf returns the path of a file from here, with its fragment, and other URLs as they are.
func nameOf(u weburl.URL) string {
	path, err := url.PathUnescape(u.Path())
	if u.Scheme() != "file" || err != nil {
		return u.String()
	}
	if here, err := filepath.Abs("."); err == nil {
		if short, err := filepath.Rel(here, path); err == nil && len(short) < len(path) {
			path = short
		}
	}
	if fragment := u.Fragment(); fragment != "" {
		path += "#" + fragment
	}
	return plainName(path)
}

// fileURL returns the URL of a file.
func fileURL(absolute string) (weburl.URL, error) {
	return weburl.Parse((&url.URL{Scheme: "file", Path: filepath.ToSlash(absolute)}).String())
}

// readFile reads the beginning of a regular file.
func readFile(path string) ([]byte, error) {
	f, err := archive.OpenRegular(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, results.MaxBody))
}
