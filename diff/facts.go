package diff

import (
	"errors"
	"fmt"
	"strings"

	"github.com/cespare/xxhash/v2"
	"github.com/weftcrawl/weft/content"
	"github.com/weftcrawl/weft/extract"
	"github.com/weftcrawl/weft/internal/blocks"
	"github.com/weftcrawl/weft/internal/charset"
	"github.com/weftcrawl/weft/internal/fingerprint"
	"github.com/weftcrawl/weft/internal/unseen"
	"github.com/weftcrawl/weft/record"
	"github.com/weftcrawl/weft/warc"
	"github.com/weftcrawl/weft/weburl"
	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// factsOf reads a page with its body.
func factsOf(r *record.Record, from *response) *facts {
	f := &facts{title: r.Title}
	f.headers(r, from.header)
	switch {
	case record.IsHTML(r.Type()):
		f.html(r, from.body)
	case strings.HasPrefix(record.MediaType(r.Type()), "text/"):
		text, _ := charset.UTF8(r.Type(), from.body)
		for part := range strings.SplitSeq(string(text), "\n\n") {
			f.add(Text, "", oneLine(part))
		}
	default:
		f.add(Body, "", bodyInWords(record.MediaType(r.Type()), from.body))
	}
	return f
}

// factsOfRecord reads a page from its record: its body was not kept.
func factsOfRecord(r *record.Record) *facts {
	f := &facts{title: r.Title}
	f.headers(r, nil)
	f.add(Title, "", r.Title)
	f.add(Description, "", r.Description)
	f.add(Heading, "", r.H1)
	f.add(Canonical, "", r.Canonical)
	for _, directive := range r.Robots {
		f.add(Robots, "", directive)
	}
	switch {
	case r.TextHash != "":
		f.add(Body, "", wordsInWords(r.Words)+", hash "+r.TextHash)
	case r.Words > 0:
		f.add(Body, "", wordsInWords(r.Words))
	case r.SHA256 != "" && !record.IsHTML(r.Type()):
		f.add(Body, "", "SHA-256 "+r.SHA256)
	}
	return f
}

// briefRecord is the record of a page, with what a crawl of today would add to it from the body.
func briefRecord(r *record.Record, from *response) record.Record {
	whole := factsOf(r, from)
	brief := *r
	brief.Title = whole.title
	brief.Robots = nil
	for i := range whole.all {
		switch one := &whole.all[i]; one.field {
		case Description:
			brief.Description = one.text
		case Canonical:
			brief.Canonical = one.text
		case Heading:
			if brief.H1 == "" {
				brief.H1 = one.text
			}
		case Robots:
			brief.Robots = append(brief.Robots, one.text)
		}
	}
	if hash, words, err := textOf(r, func() (*response, error) { return from, nil }); err == nil && hash != 0 {
		brief.TextHash, brief.Words = fmt.Sprintf("%016x", hash), words
	}
	return brief
}

// html reads a page of HTML.
func (f *facts) html(r *record.Record, body []byte) {
	url, err := weburl.Parse(r.URL)
	if err != nil {
		return
	}
	text, _ := charset.UTF8(r.Type(), body)
	root, _ := content.ParsePage(url, text) // of a page that is too long, its beginning counts
	for _, item := range structured.Tree(url, root, nil, nil) {
		f.structured(item.Structured)
	}
	unseen.Remove(root)
	f.title = ""
	p := pageReader{facts: f, to: new(weburl.Resolver), links: make(map[string]bool)}
	p.to.Reset(baseOf(root, url))
	p.elements(root)
	content.Blocks(root, func(b content.Block) bool {
		field := Text
		if b.Node.DataAtom == atom.H1 {
			field = Heading
		}
		f.addAt(fact{field: field, text: ownText(b.Node), place: placeAt(Text, placeOfNode(b.Node)), node: b.Node})
		return len(f.all) < mostFacts
	})
}

// ownText is the text of a block: of the element and the inline ones in it, across which words go
// on.
func ownText(block *html.Node) string {
	var b strings.Builder
	for n := block.FirstChild; n != nil; {
		inside := n.Type == html.ElementNode && blocks.Inline(n) && !blocks.Textless(n)
		switch {
		case n.Type == html.TextNode:
			b.WriteString(n.Data)
		case n.DataAtom == atom.Br || n.Type == html.ElementNode && !inside:
			b.WriteByte(' ')
		}
		if inside && n.FirstChild != nil {
			n = n.FirstChild
			continue
		}
		for n != block && n.NextSibling == nil {
			n = n.Parent
		}
		if n == block {
			break
		}
		n = n.NextSibling
	}
	return oneLine(b.String())
}

// structured finds structured data.
var structured = func() *extract.Extractor {
	x, err := extract.New(nil, true)
	if err != nil {
		panic(err) // there are no rules
	}
	return x
}()

// pageReader reads the elements of a page.
type pageReader struct {
	*facts
	to    *weburl.Resolver
	links map[string]bool // the URLs of the page, each once
}

func (p *pageReader) elements(root *html.Node) {
	for n := range root.Descendants() {
		if n.Type != html.ElementNode || n.Namespace != "" {
			continue
		}
		switch n.DataAtom {
		case atom.Html:
			p.add(Language, "", strings.TrimSpace(attr(n, "lang")))
		case atom.Title:
			if p.title == "" && n.FirstChild != nil {
				p.title = oneLine(n.FirstChild.Data)
				p.add(Title, "", p.title)
			}
		case atom.Meta:
			p.meta(n)
		case atom.Link:
			p.link(n)
		case atom.A, atom.Area:
			p.leads(Link, n, attr(n, "href"))
		case atom.Img:
			p.leads(Image, n, attr(n, "src"))
		case atom.Iframe, atom.Frame:
			p.leads(Link, n, attr(n, "src"))
		}
	}
}

// meta reads an element that structured data does not cover.
func (p *pageReader) meta(n *html.Node) {
	content := oneLine(attr(n, "content"))
	switch name := strings.ToLower(strings.TrimSpace(attr(n, "name"))); name {
	case "description":
		p.add(Description, "", content)
	case "robots", "googlebot":
		for directive := range strings.SplitSeq(strings.ToLower(content), ",") {
			if name == "robots" {
				name = ""
			}
			p.add(Robots, name, strings.TrimSpace(directive))
		}
	case "author", "keywords":
		p.add(Data, "meta."+name, content)
	}
}

func (p *pageReader) link(n *html.Node) {
	for rel := range strings.FieldsSeq(strings.ToLower(attr(n, "rel"))) {
		to, err := p.to.ResolveString(strings.TrimSpace(attr(n, "href")))
		if err != nil {
			return
		}
		switch language := attr(n, "hreflang"); {
		case rel == "canonical":
			p.add(Canonical, "", to.Canonical().String())
		case rel == "alternate" && language != "":
			p.add(Alternate, strings.ToLower(language), to.Canonical().String())
		}
	}
}

// leads adds a URL that an element names.
func (p *pageReader) leads(field Field, n *html.Node, ref string) {
	ref = strings.TrimSpace(ref)
	if ref == "" || ref[0] == '#' || len(ref) > MaxText {
		return
	}
	url := ref
	scheme, _, _ := strings.Cut(strings.ToLower(ref), ":")
	switch scheme {
	case "mailto", "tel":
	case "javascript", "data", "blob", "about":
		return
	default:
		to, err := p.to.ResolveString(ref)
		if err != nil || !to.IsHTTP() {
			return
		}
		url = stable(to.Canonical().String())
	}
	if key := string(field) + url; !p.links[key] {
		p.links[key] = true
		p.addAt(fact{field: field, text: url, place: placeAt(field, placeOfNode(n)), node: n})
	}
}

// placeOfNode hashes the place of an element: its name, and those up to the first around it that
// has a class or an id, or is a part of the page such as nav. So a block has the same place on
// pages of several templates. Names with digits do not count: many systems number pages with them.
func placeOfNode(n *html.Node) uint64 {
	var d xxhash.Digest
	d.Reset()
	for depth := 0; n != nil && n.Type == html.ElementNode && n.DataAtom != atom.Body && depth < content.MaxDepth; n, depth = n.Parent, depth+1 {
		d.WriteString(n.Data)
		named := landmarks[n.DataAtom]
		for _, a := range n.Attr {
			if a.Key != "class" && a.Key != "id" {
				continue
			}
			for name := range strings.FieldsSeq(a.Val) {
				if !strings.ContainsAny(name, "0123456789") {
					d.WriteString("\x00")
					d.WriteString(name)
					named = true
				}
			}
		}
		if d.WriteString("\x01"); named {
			break
		}
	}
	return d.Sum64()
}

// landmarks are the parts of a page.
var landmarks = map[atom.Atom]bool{
	atom.Nav: true, atom.Main: true, atom.Header: true, atom.Footer: true, atom.Aside: true, atom.Article: true, atom.Section: true, atom.Form: true, atom.Table: true,
}

// baseOf returns the URL that those of a page are relative to.
func baseOf(root *html.Node, url weburl.URL) weburl.URL {
	for n := range root.Descendants() {
		if n.Type != html.ElementNode || n.DataAtom != atom.Base || attr(n, "href") == "" {
			continue
		}
		if u, err := url.Resolve(strings.TrimSpace(attr(n, "href"))); err == nil && u.IsHTTP() {
			return u
		}
		return url
	}
	return url
}

func attr(n *html.Node, name string) string {
	for _, a := range n.Attr {
		if a.Key == name && a.Namespace == "" {
			return a.Val
		}
	}
	return ""
}

// textOf returns the hash of the main text of a page, and the number of its words.
func textOf(r *record.Record, read func() (*response, error)) (hash uint64, words int, err error) {
	from, err := read()
	if err != nil {
		return 0, 0, err
	}
	text, _ := charset.UTF8(r.Type(), from.body)
	reader := fingerprint.Reader{HashOnly: true}
	print := reader.Read(r.Type(), text)
	return print.Hash, print.Words, nil
}

// errUnread is returned for a page whose body is not there.
var errUnread = errors.New("no body")

// compared are the header fields that are facts. Others differ at each response, or matter to
// nobody who reads a page.
var compared = setOf(`content-type content-language content-disposition x-robots-tag link
	content-security-policy content-security-policy-report-only strict-transport-security x-frame-options
	referrer-policy permissions-policy access-control-allow-origin cross-origin-opener-policy cross-origin-resource-policy
	x-content-type-options www-authenticate refresh`)

// headers adds header fields: those of the response, or those of the record.
func (f *facts) headers(r *record.Record, header warc.Header) {
	if header == nil {
		f.add(Header, "content-type", strings.ToLower(r.ContentType))
		for name, values := range r.Headers {
			if compared[name] && name != "content-type" {
				for _, value := range values {
					f.header(name, value)
				}
			}
		}
		return
	}
	for _, field := range header {
		if name := strings.ToLower(field.Name); compared[name] {
			f.header(name, field.Value)
		}
	}
}

func (f *facts) header(name, value string) {
	switch name {
	case "link":
		for one := range strings.SplitSeq(value, ",") {
			if one = oneLine(one); !isHint(one) {
				f.add(Header, name, one)
			}
		}
	case "content-security-policy", "content-security-policy-report-only":
		for one := range strings.SplitSeq(value, ";") {
			words := strings.Fields(one)
			for i, word := range words {
				if strings.HasPrefix(word, "'nonce-") {
					words[i] = "'nonce-…'"
				}
			}
			f.add(Header, name, strings.Join(words, " "))
		}
	case "content-type":
		f.add(Header, name, strings.ToLower(oneLine(value)))
	default:
		f.add(Header, name, oneLine(value))
	}
}

// isHint reports whether a link of a header only names what to load early.
func isHint(link string) bool {
	lower := strings.ToLower(link)
	for _, rel := range []string{"preload", "preconnect", "dns-prefetch", "modulepreload", "prefetch"} {
		if strings.Contains(lower, "rel="+rel) || strings.Contains(lower, `rel="`+rel) {
			return true
		}
	}
	return false
}
