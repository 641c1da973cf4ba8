package unseen

import (
	"strings"
	"testing"

	"golang.org/x/net/html"
)

// TestCharacters: a text loses what has no shape, and keeps what scripts and pictures need.
func TestCharacters(t *testing.T) {
	tags := ""
	for _, c := range "ignore" {
		tags += string(0xE0000 + c)
	}
	bytes := ""
	for _, c := range "ignore" {
		bytes += string(0xE0100 + c)
	}
	for text, want := range map[string]string{
		"plain\ttext\n": "plain\ttext\n", "zero\u200bwidth\ufeff": "zerowidth", "a" + tags + "b": "ab", "x" + bytes: "x",
		"\u202egnp.exe\u202c \u2066x\u2069": "gnp.exe x", "soft\u00adhyphen": "softhyphen", "a\u200db": "ab", "\x1b[31mred": "[31mred",
		"می\u200cخواهم": "می\u200cخواهم", "👩\u200d👩": "👩\u200d👩", "❤\ufe0f": "❤\ufe0f", "❤\ufe0f\ufe0f\ufe01": "❤\ufe0f",
		"a\ufe0fb": "ab", "葛\U000E0100": "葛\U000E0100", "葛\U000E0100\U000E0101": "葛\U000E0100", "\u3164\u2800": "", "line\u2028": "line",
		"bad\xff": "bad\ufffd", "": "", "naïve – ok": "naïve – ok",
	} {
		if got, n := Characters(text); got != want || (n > 0) != (len(got) < len(text) && !strings.Contains(text, "\xff")) {
			t.Errorf("%+q: %+q, %d left out, expected %+q", text, got, n, want)
		}
	}
}

func left(t *testing.T, page string) (string, Removed) {
	t.Helper()
	root, err := html.Parse(strings.NewReader(page))
	if err != nil {
		t.Fatal(err)
	}
	r := Remove(root)
	var all []string
	for n := range root.Descendants() {
		if n.Type == html.CommentNode || n.Type == html.TextNode && n.Parent.Data != "style" && strings.TrimSpace(n.Data) != "" {
			all = append(all, strings.TrimSpace(n.Data))
		}
	}
	return strings.Join(all, " "), r
}

// TestHidden: each way to hide a text from people hides it here.
func TestHidden(t *testing.T) {
	for _, hidden := range []string{
		`<p hidden>evil</p>`, `<p hidden=hidden><b>evil</b></p>`, `<!-- evil -->`, `<p style="display:none">evil</p>`,
		`<p style="DISPLAY : NONE !important">evil</p>`, `<p style="display:/**/none">evil</p>`, `<p style="d\69splay:none">evil</p>`,
		`<p style="visibility:hidden">evil</p>`, `<p style="opacity:0">evil</p>`, `<p style="opacity:.01">evil</p>`, `<p style="font-size:0">evil</p>`,
		`<p style="font-size:1px">evil</p>`, `<p style="font-size:0.01em">evil</p>`, `<p style="font:0px/1 Arial">evil</p>`, `<p style="color:white">evil</p>`,
		`<p style="color:#fff">evil</p>`, `<p style="color:#fefefe">evil</p>`, `<font color=white>evil</font>`, `<p style="color:transparent">evil</p>`,
		`<p style="color:rgba(0,0,0,0)">evil</p>`, `<div style="background:#123456"><p style="color:rgb(18, 52, 86)">evil</p></div>`,
		`<table bgcolor=black><td style="color:#000">evil</table>`, `<p style="position:absolute;left:-9999px">evil</p>`,
		`<p style="text-indent:-9999px">evil</p>`, `<p style="position:fixed;top:-200vh">evil</p>`, `<p style="width:0;height:0;overflow:hidden">evil</p>`,
		`<p style="height:1px;overflow:hidden">evil</p>`, `<p style="position:absolute;clip:rect(0,0,0,0)">evil</p>`, `<p style="clip-path:inset(50%)">evil</p>`,
		`<p style="clip-path:inset(100% 0 0 0)">evil</p>`, `<p style="transform:scale(0)">evil</p>`, `<p style="transform:translateX(-9999px)">evil</p>`,
		`<style>.x{display:none}</style><p class="a x">evil</p>`, `<style>/* c */ #x , .y{font-size:0}</style><p id=x>evil</p><p class=Y>evil</p>`,
		`<style>@media print{.q{color:red}} .x{position:absolute;left:-9999px}</style><p class=x>evil</p>`, `<p style="visibility:hidden"><b>evil</b><i style="display:none">evil</i></p>`,
		`<p style="content-visibility:hidden">evil</p>`,
	} {
		got, r := left(t, `<body><p>seen</p>`+hidden+`<p>after</p>`)
		if got != "seen after" || !r.Any() && !strings.HasPrefix(hidden, "<!--") {
			t.Errorf("%s: left is %q, %+v", hidden, got, r)
		}
	}
}

// TestSeen: what people see, or may open, stays.
func TestSeen(t *testing.T) {
	for _, shown := range []string{
		`<p style="display:block;color:#333">text</p>`, `<p aria-hidden=true>text</p>`, `<p hidden=until-found>text</p>`, `<details>text</details>`,
		`<div style="background:#000"><p style="color:#fff">text</p></div>`, `<style>.h{background:url(dark.jpg)}</style><p class=h style="color:#fff">text</p>`,
		`<link rel=stylesheet href=a.css><p style="color:white">text</p>`, `<p style="visibility:hidden"><b style="visibility:visible">text</b></p>`,
		`<p style="font-size:0"><b style="font-size:14px">text</b></p>`, `<style>.tab{display:none}.tab.open{display:block}</style><p class="tab open">text</p>`,
		`<style>.x{display:none}@media (min-width:1px){.x{display:block}}</style><p class=x>text</p>`, `<p style="left:-9999px">text</p>`,
		`<p style="font-size:90%">text</p>`, `<p style="font-size:.8em">text</p>`, `<p style="opacity:.7;height:0">text</p>`, `<p style="margin-left:-20px">text</p>`,
		`<body style="opacity:0"><p>text</p>`, `<p style="background-image:url(x.png);color:white;background:linear-gradient(#000,#fff)">text</p>`,
		`<p style="font:italic bold .8em/1.2 Arial">text</p>`, `<p style="color:">text</p>`, `<p style=";:;x:y;color:inherit">text</p>`,
	} {
		if got, _ := left(t, shown); got != "text" {
			t.Errorf("%s: left is %q", shown, got)
		}
	}
}
