package links

import (
	"fmt"
	"strings"
	"testing"
)

// recorder writes down what it receives, and passes over elements with one of the given names or a
// role.
type recorder struct {
	passes string
	got    strings.Builder
}

func (t *recorder) Text(body []byte, pieces []Piece, plain bool) {
	for _, p := range pieces {
		if !plain {
			fmt.Fprintf(&t.got, "%q ", body[p.From:p.To])
		} else {
			fmt.Fprintf(&t.got, "plain %q ", body[p.From:p.To])
		}
	}
}

func (t *recorder) Start(tag, role []byte) bool {
	fmt.Fprintf(&t.got, "<%s", tag)
	if role != nil {
		fmt.Fprintf(&t.got, " %s", role)
	}
	t.got.WriteString("> ")
	return strings.Contains(t.passes, string(tag)) || role != nil
}

func (t *recorder) End(tag []byte) { fmt.Fprintf(&t.got, "</%s> ", tag) }

// TestTextReader: a text reader receives the same whether or not there are links, and whether or
// not they are wanted.
func TestTextReader(t *testing.T) {
	for name, c := range map[string]struct{ kind, passes, body, want string }{
		"text and tags":        {"", "", "<p>a</p> <b>b</b>\n \n<img src=c>d", `"a" "b" "\n \n" "d" `},
		"no tag":               {"", "", "1 < 2 <3 </ p> <", `"1 < 2 <3 " " <" `},
		"comment":              {"", "", "a<!-- <nav> -->b", `"a" "b" `},
		"raw text":             {"", "", "<title>a <b></title><script>c</script><style>d</style><textarea>e</textarea><xmp><p></xmp>", `"a <b>" plain "<p>" `},
		"anchor":               {"", "", "<a href=/1>b <i>c</i></a>d<a href=/2>e</a>", `"b " "c" "d" "e" `},
		"parts":                {"", "", "<nav class=a>b</nav><HEADER>c</HEADER ><section/>d", `<nav> "b" </nav> <HEADER> "c" </HEADER> <section> "d" `},
		"role":                 {"", "", "<div style='background:url(a)' role='b c'>d<div>e</div></div><p role>f</p>g", `<div b c> </div> <p > </p> "g" `},
		"role of a link":       {"", "", "<a href=/1 role=b>c<a href=/2>d</a></a>e", `<a b> </a> "e" `},
		"passed over":          {"", "nav", "a<nav>b<nav><header>c</header></nav>d</nav>e<nav>f", `"a" <nav> </nav> "e" <nav> `},
		"SVG":                  {"", "svg", "<svg><script href=/1 /><svg/><style><p>a</p></style></svg>b", `<svg> </svg> "b" `},
		"SVG and its sections": {"", "", "<svg><![CDATA[<b>]]></svg><![CDATA[<b>]]>", `<svg> plain "<b>" </svg> "]]>" `},
		"XHTML":                {"application/xhtml+xml", "nav", "<nav/>a<title/>b<![CDATA[<c>]]>", `"a" "b" plain "<c>" `},
		"another type":         {"image/svg+xml", "", "<svg><text>a</text></svg>", ""},
		"many":                 {"", "", strings.Repeat("ab<br>", 300), strings.Repeat(`"ab" `, 300)},
	} {
		if c.kind == "" {
			c.kind = "text/html"
		}
		read := func(how string, o Options, yield func(Link) bool) {
			r := &recorder{passes: c.passes}
			NewExtractor(o).Extract(Document{Base: mustParse(t, "http://a.example/"), ContentType: c.kind, Body: []byte(c.body), Text: r}, yield)
			if got := r.got.String(); got != c.want {
				t.Errorf("%s, %s:\n%s, expected\n%s", name, how, got, c.want)
			}
		}
		read("links", Options{}, func(Link) bool { return true })
		read("bare links", Options{Bare: true}, func(Link) bool { return true })
		read("one link", Options{}, func(Link) bool { return false })
		read("no links", Options{}, nil)
	}
}
