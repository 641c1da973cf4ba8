package read

import (
	"bytes"
	"slices"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// openTabs shows all panels of tabs, one below the other, each under its name: a browser shows one
// at a time, and in documentation the others hold the same code for another language or system.
// Tabs are those of ARIA, PyMdown (MkDocs) and sphinx-design.
func openTabs(root *html.Node) {
	var sets []*tabSet
	var panels []*html.Node
	names := make(map[string]string) // of tabs, by their ids and those of their panels
	of := make(map[*html.Node]string)
	var used []*html.Node
	for n := range root.Descendants() {
		if n.Type != html.ElementNode {
			continue
		}
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
			if n.DataAtom == atom.Input && tabRole(n.Parent) == tabList {
				// A browser without scripts switches by these.
				used = append(used, n)
			}
		}
	}
	around := make(map[*html.Node]bool) // a panel
	for i, n := range panels {
		n.Attr = slices.DeleteFunc(n.Attr, func(a html.Attribute) bool { return a.Key == "hidden" || a.Key == "aria-hidden" })
		name := of[n]
		for _, id := range []string{valueOf(n, "aria-labelledby"), valueOf(n, "id")} {
			if names[id] != "" {
				name = names[id]
				break
			}
		}
		if name != "" && i < mostPanels && !inTab(n) {
			entitle(n, name)
		}
		for p := n.Parent; p != nil && !around[p]; p = p.Parent {
			around[p] = true
		}
	}
	if len(panels) > 0 {
		for _, n := range used {
			if !around[n] {
				detach(n)
			}
		}
	}
}

// hasPanels reports whether a page may have panels of tabs: no other is walked for them.
func hasPanels(body []byte) bool {
	return slices.ContainsFunc(panelMarks, func(mark []byte) bool { return bytes.Contains(body, mark) })
}

// panelMarks are the classes by which tabRole knows a panel.
var panelMarks = [][]byte{[]byte("tabpanel"), []byte("tabbed-block"), []byte("sd-tab-content")}

// Bounds of the names of tabs.
const (
	longestTab = 100  // bytes
	largestTab = 64   // nodes
	mostPanels = 1000 // of a page have a name
)

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
	own := valueOf(n, "class")
	if n.DataAtom != atom.Label && !strings.Contains(own, "tab") {
		return noTab
	}
	class := strings.Fields(own)
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

// inTab reports whether a panel stands in its tab, and so below its name.
func inTab(panel *html.Node) bool {
	for n := panel.Parent; n != nil; n = n.Parent {
		switch tabRole(n) {
		case tabName:
			return true
		case tabList, tabPanel:
			return false
		}
	}
	return false
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
	nodes := 0
	for d := range n.Descendants() {
		if nodes++; nodes > largestTab || b.Len() > longestTab {
			break
		}
		if d.Type == html.TextNode {
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
