package read

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/weftcrawl/weft/content"
	"github.com/weftcrawl/weft/internal/appshell"
	"github.com/weftcrawl/weft/internal/charset"
	"github.com/weftcrawl/weft/internal/unseen"
	"github.com/weftcrawl/weft/markdown"
	"github.com/weftcrawl/weft/weburl"
	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// Options select the parts and the form of a text. The zero value is Markdown of the main content
// of every page.
type Options struct {
	Text    bool // plain text rather than Markdown
	Whole   bool // the page as it is, with its menus and footers
	Seen    bool // without what people do not see: see Page.Unseen
	HTML    bool // the same as HTML, too
	Chunk   int  // characters of a chunk at most; 0: no chunks
	Overlap int  // of these, those that the chunk before has, too

	// Of a job, only pages
	Languages    []string // with one of these, such as "en", which includes "en-GB"; empty: all
	NoDuplicates bool     // each text once, and no page marked duplicate_of or near_duplicate_of
	Where        string   // for whose record the condition holds: see package where

	wanted func(url string) bool // of these pages alone; nil: all

	Temp string // folder for what does not fit into memory; "": that for temporary files
}

// Page is the text of a page. Its fields are those of a line of JSON.
type Page struct {
	URL         string     `json:"url"`
	Title       string     `json:"title,omitempty"`
	Author      string     `json:"author,omitempty"`
	Site        string     `json:"site,omitempty"`
	Description string     `json:"description,omitempty"`
	Date        *time.Time `json:"date,omitempty"` // it was published
	Modified    *time.Time `json:"modified,omitempty"`
	Language    string     `json:"language,omitempty"` // a BCP 47 tag
	File        string     `json:"file,omitempty"`     // in the folder
	Change      Change     `json:"change,omitempty"`
	Hash        string     `json:"hash,omitempty"` // SHA-256 of the text, hexadecimal
	Markdown    string     `json:"markdown,omitempty"`
	Text        string     `json:"text,omitempty"`
	HTML        string     `json:"-"`
	Chunks      []Chunk    `json:"-"` // lines of their own

	// NeedsScripts is the evidence that the page looks empty until its scripts run, as in
	// record.Record.
	NeedsScripts string `json:"needs_scripts,omitempty"`

	Unseen Unseen `json:"-"` // with Options.Seen

	Removed []Removal `json:"-"` // parts of the page that are not in the text
	Err     error     `json:"-"` // the reason why a part of the page was not read, or nil
}

// Removal is a part of a page that was left out.
type Removal struct {
	Rule  string `json:"rule"`            // "site" (boilerplate of the site), or a rule of content
	Path  string `json:"path"`            // of the element
	Text  string `json:"text"`            // its beginning
	Pages int    `json:"pages,omitempty"` // of the sample, that have it; of the site's boilerplate
	Of    int    `json:"of,omitempty"`    // pages in the sample
}

// Unseen counts the parts that Options.Seen has left out, as orders to models are hidden there from
// people: text that an attribute or a style hides, that is written in the color of its background,
// too small to be read or off the page, and characters without a shape.
type Unseen struct {
	Elements   int // and texts, with a word in them
	Characters int
}

// Source is a page to read.
type Source struct {
	URL         weburl.URL
	ContentType string
	Body        []byte
}

// One reads a page. Its site is not known, so nothing is left out because of it.
func One(s Source, o Options) Page { return oneOf(s, o, nil) }

// oneOf reads a page of a site, which may be nil.
func oneOf(s Source, o Options, of *site) Page {
	text, _ := charset.UTF8(s.ContentType, s.Body)
	root, err := content.ParsePage(s.URL, text) // of a page that is too long, what was read counts
	base := baseOf(root, s.URL)
	var removed []Removal
	if of != nil && !o.Whole {
		removed = of.clear(root)
	}
	if hasPanels(text) {
		openTabs(root)
	}
	var hidden Unseen
	if o.Seen {
		hidden = Unseen(unseen.Remove(root))
	}
	c := content.Extract(content.Page{URL: s.URL, Root: root}, of.options(o))
	for _, r := range c.Removed {
		removed = append(removed, Removal{Rule: r.Rule, Path: r.Path, Text: r.Text})
	}
	d := markdown.Convert(c.Node, markdown.Options{Base: base, Text: o.Text, Page: root})
	p := Page{
		URL: s.URL.String(), Title: of.bare(line(c.Title, longestTitle)), Author: line(c.Author, 1000), Site: line(c.Site, 1000),
		Description: line(c.Description, 4000), Language: line(c.Language, 100),
		Date: timeOf(c.Date), Modified: timeOf(c.Modified), Removed: removed, Unseen: hidden,
	}
	if o.Seen {
		for _, said := range []*string{&p.Title, &p.Author, &p.Site, &p.Description, &p.Language} {
			*said, _ = unseen.Characters(*said) // structured data has some
		}
	}
	if o.HTML {
		p.HTML = htmlOf(c.Node)
	}
	if errors.Is(err, content.ErrTooLong) {
		p.Err = content.ErrTooLong
	}
	own := headingOf(root, p.Title)
	if own != "" && of.isNamed(titleOf(root), p.Title) {
		p.Title = own
	}
	head := cmp.Or(own, p.Title)
	if titled(&d, p.Title, head, o.Text) { // then its heading was not left out
		p.Removed = slices.DeleteFunc(p.Removed, func(r Removal) bool { return strings.EqualFold(r.Text, head) })
	}
	sum := sha256.Sum256([]byte(d.Text))
	p.Hash = hex.EncodeToString(sum[:])
	if len(d.Text) < shortText {
		p.NeedsScripts = string(appshell.Judge(text))
	}
	if o.Chunk > 0 {
		p.Chunks = chunks(&d, &p, o.Chunk, o.Overlap)
	}
	if p.Markdown = d.Text; o.Text {
		p.Markdown, p.Text = "", d.Text
	}
	return p
}

// htmlOf writes the elements in a tree, up to one that cannot be written.
func htmlOf(root *html.Node) string {
	var b strings.Builder
	for n := range root.ChildNodes() {
		if html.Render(&b, n) != nil {
			break
		}
	}
	return b.String()
}

// shortText is the length of a text below which its page may look empty without scripts.
const shortText = 2 << 10

// options are those of finding the content of a page, of which the boilerplate is gone.
func (s *site) options(o Options) content.Options {
	use := content.Options{Whole: o.Whole, Captions: !o.Text}
	if s.isKnown() {
		use.Solid, use.Main, use.Beside = true, s.isMain, s.isBeside
	}
	return use
}

func timeOf(t time.Time) *time.Time {
	if t.IsZero() || t.Year() < 0 || t.Year() > 9999 { // JSON has no others
		return nil
	}
	return &t
}

// titled puts a heading in front of a text that has none: no heading of the first level, and not
// the title or that heading itself as its first. It reports whether it did.
func titled(d *markdown.Document, title, heading string, plain bool) bool {
	for i, h := range d.Headings {
		if h.Level == 1 || i == 0 && (strings.EqualFold(h.Text, title) || strings.EqualFold(h.Text, heading)) {
			return false
		}
	}
	if heading == "" {
		return false
	}
	head := markdown.Heading{Level: 1, Text: heading}
	first := heading + "\n"
	if !plain {
		first = markdown.Title(heading) + "\n"
	}
	if d.Text != "" {
		first += "\n"
	}
	d.Text = first + d.Text
	for i := range d.Headings {
		d.Headings[i].Offset += len(first)
	}
	for i := range d.Blocks {
		d.Blocks[i] += len(first)
	}
	d.Headings = append([]markdown.Heading{head}, d.Headings...)
	d.Blocks = append([]int{0}, d.Blocks...)
	return true
}

// baseOf returns the URL that the links of a page are resolved against.
func baseOf(root *html.Node, url weburl.URL) weburl.URL {
	for n := range root.Descendants() {
		if n.Type != html.ElementNode || n.DataAtom != atom.Base {
			continue
		}
		for _, a := range n.Attr {
			if a.Key != "href" {
				continue
			}
			if u, err := url.Resolve(strings.TrimSpace(a.Val)); err == nil && u.IsHTTP() {
				return u
			}
			return url // the first with a URL counts, whatever that is
		}
	}
	return url
}
