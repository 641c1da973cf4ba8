package content

import (
	"strings"
	"time"

	"github.com/weftcrawl/weft/internal/blocks"
	"github.com/weftcrawl/weft/weburl"
	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// Page is a page to extract from.
type Page struct {
	URL      weburl.URL
	Root     *html.Node // of Parse; it is read only
	Language string     // of the header Content-Language, or ""
}

// Options are the caller's choices. The zero value means the main content.
type Options struct {
	Whole bool             // everything that has text or can be seen
	Drop  func(Block) bool // reports whether a block is no content, or nil

	// Captions keeps the captions of pictures that stand in the content. Plain text needs none.
	Captions bool

	// Solid keeps all of the element that is mostly content: headings and lists of links in it,
	// too. It is for a page from which the boilerplate of its site was taken before.
	Solid bool

	// Main reports whether an element at a place is the content of other pages of the site, as
	// their Trunk says; nil: not known.
	Main func(place uint64) bool

	// Beside reports whether an element at a place is hardly ever content on the pages of the site
	// that have it, as their Beside says; nil: not known.
	Beside func(place uint64) bool
}

// Content is the main content of a page, and what the page says about it. What a page does not say
// is "" or the zero time.
type Content struct {
	Title       string
	Author      string
	Site        string
	Description string
	Kind        string // by the page itself: article, product, forum, collection or ""
	Language    string // a BCP 47 tag
	Date        time.Time
	Modified    time.Time

	// Node is a copy of the body that has only the main content. It is never nil, and has text if
	// the page has any. It belongs to the caller.
	Node *html.Node

	// Trunk, with Solid, are the elements that hold most of the page, from the body inwards; Beside
	// are those right in them that hold less.
	Trunk, Beside []Part

	// Removed lists the parts of the body that were left out, in document order.
	Removed []Removal
}

// Removal is an element that was left out, or its own text.
type Removal struct {
	Rule string // its name
	Path string // of the element, see Path
	Text string // its beginning
}

// Extract returns the main content of a page.
func Extract(p Page, o Options) Content {
	about := describe(p)
	c := about.content
	body := find(p.Root, atom.Body)
	if body == nil {
		if body = unframed(p.Root); body != nil {
			o.Whole = true
		} else {
			body = p.Root
		}
	}
	page := blocks.New(body, blocks.About{Kind: about.kind, Title: c.Title, Description: c.Description})
	s := selection{page: page, keep: make([]bool, len(page.Index)), why: make([]string, len(page.Index))}
	s.mark(o.Drop)
	switch {
	case o.Whole:
		s.all()
	case o.Main != nil && s.fillMains(o.Main, o.Beside):
		s.unite()
	default:
		s.choose()
		if c.Kind == "" {
			s.fillManual(about.manual)
		}
		if o.Solid {
			c.Trunk, c.Beside = s.fill(o.Beside)
		}
		s.unite()
	}
	s.drop()
	s.sum()
	if o.Captions {
		s.captions()
	}
	c.Node = s.copy(body, o.Whole)
	if !o.Whole && s.words() < fewWords && len(about.text) > 0 {
		c.Node = paragraphs(about.text)
	}
	c.Removed = s.removals()
	c.Language = language(p, about.language, c.Node)
	return c
}

// fewWords is the number of words below which a body is less than its page says: a script would
// have shown the text that the page holds for search engines.
const fewWords = 40

// selection is the choice of the blocks of a page that are kept.
type selection struct {
	page *blocks.Page
	keep []bool   // for each block
	why  []string // the rule that left the block out once it was chosen, or ""
	kept []int32  // words kept in each element
}

// choose chooses block by block, without what stands beside an article, each text once.
func (s *selection) choose() {
	s.keep = s.page.Choose(s.page.Scores(&blocks.Shipped))
	s.beside()
	s.repeats()
}

const boilerplate = "boilerplate"

// removals lists the outermost elements of which nothing is kept, and the text right in others.
func (s *selection) removals() []Removal {
	var removed []Removal
	block := 0
	for i := int32(0); i < int32(len(s.page.All)); {
		e := &s.page.All[i]
		if e.Words == 0 {
			i = e.End
			continue
		}
		whole := s.kept[i] == 0
		if whole || e.Own > 0 && !s.keep[block] {
			removed = append(removed, s.removal(i, block, whole))
		}
		if whole {
			for block < len(s.page.Index) && s.page.Index[block] < e.End {
				block++
			}
			i = e.End
			continue
		}
		if e.Own > 0 {
			block++
		}
		i++
	}
	return removed
}

// removal describes an element whose first block is the given one. The longest block in it stands
// for all.
func (s *selection) removal(i int32, block int, whole bool) Removal {
	e := &s.page.All[i]
	r := Removal{Path: Path(e.Node)}
	longest := block
	if whole {
		r.Text = beginning(e.Node)
		for k := block; k < len(s.page.Index) && s.page.Index[k] < e.End; k++ {
			if s.page.All[s.page.Index[k]].Own > s.page.All[s.page.Index[longest]].Own {
				longest = k
			}
		}
	} else {
		r.Text = cut(Block{Node: e.Node}.Text())
	}
	r.Rule = s.why[longest]
	if r.Rule == "" {
		r.Rule = s.page.Reason(longest, blocks.Shipped.Weights)
	}
	return r
}

const mostText = 80 // bytes of a removal's text

func cut(text string) string {
	if len(text) <= mostText {
		return text
	}
	return strings.ToValidUTF8(text[:mostText], "")
}

// beginning is the beginning of the text of an element.
func beginning(n *html.Node) string {
	var text strings.Builder
	walk(n, func(m *html.Node) bool {
		if m.Type == html.TextNode && text.Len() <= mostText {
			for word := range strings.FieldsSeq(m.Data) {
				if text.Len() > mostText {
					break
				}
				if text.Len() > 0 {
					text.WriteByte(' ')
				}
				text.WriteString(word)
			}
		}
		return m == n || m.Type == html.ElementNode && !blocks.Textless(m)
	})
	return cut(text.String())
}

// paragraphs makes a body of a text.
func paragraphs(text string) *html.Node {
	body := &html.Node{Type: html.ElementNode, Data: "body", DataAtom: atom.Body}
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line != "" {
			p := &html.Node{Type: html.ElementNode, Data: "p", DataAtom: atom.P}
			p.AppendChild(&html.Node{Type: html.TextNode, Data: line})
			body.AppendChild(p)
		}
	}
	return body
}
