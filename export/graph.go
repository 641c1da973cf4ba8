package export

import (
	"bufio"
	"encoding/xml"
	"fmt"
	"io"
	"reflect"

	"github.com/weftcrawl/weft/record"
)

// graphHead begins a GraphML file: http://graphml.graphdrawing.org/specification.html. Nodes are
// named by their URLs, which readers show.
const graphHead = xml.Header + `<graphml xmlns="http://graphml.graphdrawing.org/xmlns"
  xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance"
  xsi:schemaLocation="http://graphml.graphdrawing.org/xmlns http://graphml.graphdrawing.org/xmlns/1.0/graphml.xsd">
<key id="url" for="node" attr.name="url" attr.type="string"/>
<key id="status" for="node" attr.name="status" attr.type="int"/>
<key id="title" for="node" attr.name="title" attr.type="string"/>
<key id="depth" for="node" attr.name="depth" attr.type="int"/>
<key id="kind" for="edge" attr.name="kind" attr.type="string"/>
<key id="text" for="edge" attr.name="text" attr.type="string"/>
<graph id="links" edgedefault="directed">
`

// writeGraphML writes pages as nodes, and the links between them as edges.
func writeGraphML(s *source, r rows, to io.Writer) error {
	w := &graph{Writer: bufio.NewWriterSize(to, 256<<10)}
	w.string(graphHead)
	nodes := func(add func(string) error) error {
		r.columns = nil // but for what a node has
		return r.each(s, func(row reflect.Value) error {
			p := row.Addr().Interface().(*page)
			w.element(`<node id="`, p.URL, `"><data key="url">`, p.URL)
			if p.Status != 0 {
				w.string(fmt.Sprintf(`</data><data key="status">%d`, p.Status))
			}
			if p.Title != "" {
				w.element(`</data><data key="title">`, p.Title)
			}
			w.string(fmt.Sprintf("</data><data key=\"depth\">%d</data></node>\n", p.Depth))
			if w.err != nil {
				return w.err
			}
			return add(p.URL)
		})
	}
	err := s.eachEdge("", nodes, func(l *record.Link) error {
		w.element(`<edge source="`, l.From, `" target="`, l.To, `"><data key="kind">`, l.Kind)
		if l.Text != "" {
			w.element(`</data><data key="text">`, l.Text)
		}
		w.string("</data></edge>\n")
		return w.err
	})
	if err != nil {
		return err
	}
	w.string("</graph>\n</graphml>\n")
	if w.err == nil {
		w.err = w.Flush()
	}
	return w.err
}

// graph keeps the first error of writing.
type graph struct {
	*bufio.Writer
	err error
}

func (g *graph) string(s string) {
	if g.err == nil {
		_, g.err = g.WriteString(s)
	}
}

// element writes markup and texts in turns. What XML has no characters for becomes U+FFFD.
func (g *graph) element(parts ...string) {
	for i, part := range parts {
		if i%2 == 0 {
			g.string(part)
		} else if g.err == nil {
			g.err = xml.EscapeText(g.Writer, []byte(part))
		}
	}
}
