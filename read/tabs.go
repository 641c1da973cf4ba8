package read

import (
	"slices"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// openTabs shows all panels of tabs, one below the other, each under its name: a browser shows one at a
// time, and in documentation the others hold the same code for another language or system. Tabs are
// those of ARIA, PyMdown (MkDocs) and sphinx-design.
func openTabs(root *html.Node) {
	var sets []*tabSet
	var panels []*html.Node
	names := make(map[string]string) // of tabs, by their ids and those of their panels
	of := make(map[*html.Node]string)
	var used []*html.Node
	for n := range root.Descendants() {
		switch tabRole(n) {
		case tabList:
			sets = append(sets, new(tabSet))
		case tabName:
			name := line(textIn(n), longestTab)
			for _, key := range []string{"id", "aria-controls"} {
				if id := valueOf(n, key); id != "" {
					names[id] = name
				}
			}
			if len(sets) > 0 {
				s := sets[len(sets)-1]
				s.names = append(s.names, name)
			}
			used = append(used, n)
		case tabPanel:
			panels = append(panels, n)
			if len(sets) > 0 {
				s := sets[len(sets)-1]
				if s.panels < len(s.names) {
					of[n] = s.names[s.panels]
				}
				s.panels++
			}
		default:
			if n.DataAtom == atom.Input && tabRole(n.Parent) == tabList { // by which a browser without scripts switches
				used = append(used, n)
			}
		}
	}
	for _, n := range panels {
		n.Attr = slices.DeleteFunc(n.Attr, func(a html.Attribute) bool { return a.Key == "hidden" || a.Key == "aria-hidden" })
		name := of[n]
		for _, id := range []string{valueOf(n, "aria-labelledby"), valueOf(n, "id")} {
			if names[id] != "" {
				name = names[id]
				break
			}
		}
		if name != "" {
			entitle(n, name)
		}
	}
	if len(panels) > 0 {
		for _, n := range used {
			detach(n)
		}
	}
}

// longestTab bounds the name of a tab, in bytes.
const longestTab = 100

// tabSet is the tabs of a list, and how many of their panels have come.
type tabSet struct {
	names  []string
	panels int
}

// tabPart is the part that an element plays in tabs.
type tabPart uint8

const (
	noTab tabPart = iota
	tabList
	tabName
	tabPanel
)

func tabRole(n *html.Node) tabPart {
	switch valueOf(n, "role") {
	case "tablist":
		return tabList
	case "tab":
		return tabName
	case "tabpanel":
		return tabPanel
	}
	class := strings.Fields(valueOf(n, "class"))
	has := func(names ...string) bool {
		return slices.ContainsFunc(names, func(name string) bool { return slices.Contains(class, name) })
	}
	switch {
	case has("tabbed-set", "sd-tab-set"):
		return tabList
	case has("tabbed-block", "sd-tab-content"):
		return tabPanel
	case n.DataAtom == atom.Label && (has("sd-tab-label") || n.Parent != nil && strings.HasPrefix(valueOf(n.Parent, "class"), "tabbed-labels")):
		return tabName
	}
	return noTab
}

// entitle puts a name above the content of a panel.
func entitle(panel *html.Node, name string) {
	p := &html.Node{Type: html.ElementNode, Data: "p", DataAtom: atom.P}
	strong := &html.Node{Type: html.ElementNode, Data: "strong", DataAtom: atom.Strong}
	strong.AppendChild(&html.Node{Type: html.TextNode, Data: name})
	p.AppendChild(strong)
	panel.InsertBefore(p, panel.FirstChild)
}

// detach removes an element, and those around it that are empty then.
func detach(n *html.Node) {
	for parent := n.Parent; parent != nil; n, parent = parent, parent.Parent {
		parent.RemoveChild(n)
		if parent.FirstChild != nil || parent.Parent == nil {
			return
		}
	}
}

// textIn returns the beginning of the text of an element.
func textIn(n *html.Node) string {
	var b strings.Builder
	for d := range n.Descendants() {
		if d.Type == html.TextNode && b.Len() <= longestTab {
			b.WriteString(d.Data)
		}
	}
	return b.String()
}

func valueOf(n *html.Node, key string) string {
	for _, a := range n.Attr {
		if a.Key == key {
			return a.Val
		}
	}
	return ""
}
