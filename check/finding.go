package check

import "strings"

// Finding is the verdict of a rule on a link, or of a page: then URL is empty. Strings of the Web
// are as they are: who prints them escapes them.
type Finding struct {
	Rule    string `json:"rule"`
	Level   Level  `json:"level"`
	Page    string `json:"page"`             // its URL, or the path of a file
	Line    int    `json:"line,omitempty"`   // of the link or the element in the page, from 1
	Column  int    `json:"column,omitempty"` // in characters, from 1
	Tag     string `json:"tag,omitempty"`    // of the element; "header" for a field of the response
	Attr    string `json:"attr,omitempty"`
	Text    string `json:"text,omitempty"` // of a link
	URL     string `json:"url,omitempty"`  // of the link, with its fragment; as written, if it is none
	Message string `json:"message"`        // such as "404 Not Found"

	// Of a page that has the same title or description as others: their number, this page included,
	// and the first others, three at most.
	Same   int      `json:"same,omitempty"`
	Others []string `json:"others,omitempty"`

	Status    int    `json:"status,omitempty"` // of the URL, behind its redirects
	ErrorKind string `json:"error_kind,omitempty"`
	Error     string `json:"error,omitempty"`
	Redirects []Hop  `json:"redirects,omitempty"` // from URL on

	subject string // of its problem; "": see Finding.problem
}

// Bounds on the strings of a finding, in bytes. It has to fit into a line of a sorter, where JSON
// may take six bytes for one; and there may be as many findings as links.
const (
	longestURL  = 16 << 10 // no longer one is requested
	longestText = 4 << 10
	longestHop  = 2 << 10
)

// clip cuts strings that are too long.
func (f *Finding) clip() {
	f.Page, f.URL = clipped(f.Page, longestURL), clipped(f.URL, longestURL)
	for i, other := range f.Others {
		f.Others[i] = clipped(other, longestHop)
	}
	f.Message, f.Error, f.ErrorKind = clipped(f.Message, longestText), clipped(f.Error, longestText), clipped(f.ErrorKind, longestText)
}

// said is the message, with the other pages that it is about.
func (f *Finding) said() string {
	if len(f.Others) == 0 {
		return f.Message
	}
	text := f.Message + " (also " + strings.Join(f.Others, ", ")
	if more := f.Same - 1 - len(f.Others); more > 0 {
		text += ", and " + number(more) + " more"
	}
	return text + ")"
}

func clipped(s string, most int) string {
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:most], "") + "…"
}

// target is the subject of a finding: the URL, with a fragment only if that is missing.
func (f *Finding) target() string {
	if f.Rule == MissingFragment || f.Rule == InvalidURL || f.Rule == InvalidMail {
		return f.URL
	}
	url, _, _ := strings.Cut(f.URL, "#")
	return url
}

// group returns what findings stand under in an order, and what is said of each.
func (f *Finding) group(by Order) (head, rest string) {
	if by == ByTarget && f.URL != "" {
		return f.target(), f.Page
	}
	return f.Page, f.URL
}

// Hop is a redirect.
type Hop struct {
	Status int    `json:"status"`
	To     string `json:"to"`
}

// Order is the order of findings.
type Order string

// The orders.
const (
	ByProblem Order = "problem" // as ByPage; reports for people have problems: see Report.Problems
	ByPage    Order = "page"    // page, line, column
	ByTarget  Order = "target"  // URL, then page
)

// keyEnd separates what findings are sorted by from the finding. No URL has a line end.
var keyEnd = []byte("\n")

func oneLine(s string) string {
	b := []byte(s)
	for i, c := range b {
		if c < ' ' {
			b[i] = ' '
		}
	}
	return string(b)
}
