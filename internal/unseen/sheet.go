package unseen

import (
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

const (
	longestStyle = 256 << 10 // bytes of the styles of a page that are read
	mostRules    = 20_000    // for a selector each
)

// sheet has the declarations of rules for one class or id: ".x", "#x".
type sheet struct {
	rules   map[string]style
	styled  bool                       // the page has styles, here or elsewhere
	doubted map[string]map[string]bool // properties that a rule for another state may set
}

// sheetOf reads the <style> elements of a page.
func sheetOf(root *html.Node) sheet {
	s := sheet{rules: make(map[string]style), doubted: make(map[string]map[string]bool)}
	read, rules := 0, 0
	for n := range root.Descendants() {
		switch {
		case n.DataAtom == atom.Link && strings.Contains(strings.ToLower(attr(n, "rel")), "stylesheet"):
			s.styled = true
		case n.DataAtom == atom.Style && n.FirstChild != nil:
			s.styled = true
			if read += len(n.FirstChild.Data); read <= longestStyle {
				s.read(plain(n.FirstChild.Data), &rules)
			}
		}
	}
	for key, properties := range s.doubted {
		for p := range properties {
			delete(s.rules[key], p)
		}
	}
	return s
}

// read reads a style sheet without comments. What stands in a rule of media and the like is for
// another state.
func (s *sheet) read(css string, rules *int) {
	depth := 0
	for css != "" && *rules < mostRules {
		at := strings.IndexAny(css, "{};")
		if at < 0 {
			return
		}
		head, mark := strings.TrimSpace(css[:at]), css[at]
		css = css[at+1:]
		switch {
		case mark == '}':
			depth = max(0, depth-1)
		case mark == ';': // @import
		case strings.HasPrefix(head, "@"):
			depth++
		default:
			block, after, _ := strings.Cut(css, "}")
			if css = after; strings.Contains(block, "{") {
				return // nested rules
			}
			set := make(style)
			set.declare(block)
			if len(set) == 0 {
				continue
			}
			for selector := range strings.SplitSeq(head, ",") {
				if *rules++; *rules > mostRules {
					return
				}
				s.add(strings.TrimSpace(selector), set, depth > 0)
			}
		}
	}
}

func (s *sheet) add(selector string, set style, doubtful bool) {
	names := namesIn(selector)
	if len(names) == 1 && names[0] == selector && !doubtful {
		if s.rules[selector] == nil {
			s.rules[selector] = make(style)
		}
		for property, value := range set {
			s.rules[selector][property] = value
		}
		return
	}
	for _, name := range names {
		if s.doubted[name] == nil {
			s.doubted[name] = make(map[string]bool)
		}
		for property := range set {
			s.doubted[name][property] = true
		}
	}
}

// namesIn returns the classes and ids of a selector: ".x", "#x".
func namesIn(selector string) (names []string) {
	for i := 0; i < len(selector); i++ {
		if selector[i] != '.' && selector[i] != '#' {
			continue
		}
		end := i + 1
		for end < len(selector) && (selector[end] == '-' || selector[end] == '_' || selector[end] >= '0' && selector[end] <= '9' || selector[end] >= 'a' && selector[end] <= 'z' || selector[end] >= 0x80) {
			end++
		}
		if end > i+1 {
			names = append(names, selector[i:end])
		}
		i = end - 1
	}
	return names
}

// styleOf returns the style of an element; nil: it has none.
func (s *sheet) styleOf(n *html.Node) style {
	var all style
	join := func(key string) {
		set := s.rules[strings.ToLower(key)]
		if len(set) > 0 && all == nil {
			all = make(style)
		}
		for property, value := range set {
			all[property] = value
		}
	}
	inline := ""
	for _, a := range n.Attr {
		switch a.Key {
		case "class":
			if len(s.rules) > 0 {
				for name := range strings.FieldsSeq(a.Val) {
					join("." + name)
				}
			}
		case "id":
			join("#" + a.Val)
		case "style":
			inline = a.Val
		}
	}
	if inline != "" && len(inline) <= longestStyle {
		if all == nil {
			all = make(style)
		}
		all.declare(inline)
	}
	return all
}

func attr(n *html.Node, key string) string {
	for _, a := range n.Attr {
		if a.Key == key {
			return a.Val
		}
	}
	return ""
}
