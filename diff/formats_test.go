package diff_test

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"io"
	"mime"
	"mime/quotedprintable"
	"net/mail"
	"strings"
	"testing"
	"time"

	"github.com/weftcrawl/weft/diff"
	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/extension"
	"golang.org/x/net/html"
)

// hostile is a report whose texts come from a site that wants to do harm.
const hostile = `{"kind":"changed","url":"https://example.org/a\"><script>x</script>","title":"</title><script>alert(1)</script>\r\nBcc: all@example.org","old_status":200,"new_status":200,"details":[` +
	`{"field":"text","path":"main/p","old":"one ](javascript:x) \u001b[31mred","new":"two","words":[{"op":"old","text":"<img src=x onerror=y> **one** \u001b[31mred"},{"op":"new","text":"]]> two"},{"op":"same","text":"` + "`three`" + ` &amp; <b>"}]},` +
	`{"field":"link","new":"javascript:alert(1)"},{"field":"header","name":"x\r\ny","old":"<a href=//evil.example>"}]}
{"kind":"new","url":"javascript:alert(1)","title":"[x](https://evil.example) \u202e"}
{"kind":"gone","url":"https://example.org/b","reason":"404 Not Found"}
{"kind":"moved","url":"https://example.org/d","from":"https://example.org/c","reason":"same text"}
{"kind":"shared","url":"example.org","pages":40,"examples":["https://example.org/e"],"details":[{"field":"text","new":"Blog"}]}
{"kind":"not-compared","url":"https://example.org/f","reason":"new: timeout"}
{"kind":"summary","old":{"path":"job\r\nBcc: x@example.org.weft","visit":1,"pages":9},"new":{"path":"job\r\nBcc: x@example.org.weft","visit":2,"to":"2026-11-30T12:00:00Z","pages":9},"compared":8,"unchanged":4,"changed":1,"new_pages":1,"gone_pages":1,"moved_pages":1,"not_compared":1,"shared":1}
`

func readReport(t *testing.T, text string) *diff.Report {
	t.Helper()
	r, err := diff.Read(strings.NewReader(text), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close() })
	return r
}

func written(t *testing.T, format string, r *diff.Report, s diff.Style) string {
	t.Helper()
	f, err := diff.FormatOf(format, "")
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := f.Write(&b, r, s); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// TestJSON: a report that is read back says the same; half of one is an error, not a report that
// says that nothing has changed.
func TestJSON(t *testing.T) {
	t.Parallel()
	first := written(t, "json", readReport(t, hostile), diff.Style{})
	if second := written(t, "json", readReport(t, first), diff.Style{}); second != first {
		t.Errorf("read and written again:\n%s\n%s", first, second)
	}
	lines := strings.SplitAfter(first, "\n")
	for text, want := range map[string]string{
		strings.Join(lines[:3], ""):         "no summary",
		"":                                  "no summary",
		lines[0] + "{\"kind\":\"odd\"}\n":   `line 2: kind "odd"`,
		"{\n":                               "line 1: ",
		first + lines[0]:                    "line 8: a line behind the summary",
		"[1]\n":                             "line 1: ",
		lines[0][:len(lines[0])/2] + "\n{}": "line 1: ",
	} {
		if _, err := diff.Read(strings.NewReader(text), t.TempDir()); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.40q: %v, expected %s", text, err, want)
		}
	}
}

// TestHTML: the page runs nothing, and its links lead to the Web only.
func TestHTML(t *testing.T) {
	t.Parallel()
	page := written(t, "html", readReport(t, hostile), diff.Style{})
	root, err := html.Parse(strings.NewReader(page))
	if err != nil {
		t.Fatal(err)
	}
	marks, policy := 0, ""
	for n := range root.Descendants() {
		if n.Type != html.ElementNode {
			continue
		}
		switch n.Data {
		case "script", "img", "iframe", "object", "b":
			t.Errorf("an element %s", n.Data)
		case "ins", "del":
			marks++
		}
		for _, a := range n.Attr {
			if strings.HasPrefix(a.Key, "on") || a.Key == "href" && !strings.HasPrefix(a.Val, "https://example.org/") {
				t.Errorf("%s %s=%q", n.Data, a.Key, a.Val)
			}
			if strings.HasPrefix(a.Val, "default-src") {
				policy = a.Val
			}
		}
	}
	if marks < 5 || !strings.HasPrefix(policy, "default-src 'none'; style-src 'sha256-") {
		t.Errorf("%d words marked, policy %q:\n%s", marks, policy, page)
	}
}

// TestMarkdown: what a page says is text in Markdown, too.
func TestMarkdown(t *testing.T) {
	t.Parallel()
	text := written(t, "markdown", readReport(t, hostile), diff.Style{})
	var b bytes.Buffer
	if err := goldmark.New(goldmark.WithExtensions(extension.GFM)).Convert([]byte(text), &b); err != nil {
		t.Fatal(err)
	}
	root, _ := html.Parse(&b)
	var shown strings.Builder
	for n := range root.Descendants() {
		if n.Type == html.TextNode {
			shown.WriteString(n.Data)
		}
		for _, a := range n.Attr {
			if !strings.HasPrefix(a.Val, "https://example.org/") {
				t.Errorf("%s %s=%q in\n%s", n.Data, a.Key, a.Val, text)
			}
		}
		if n.Type == html.ElementNode && !strings.Contains(" html head body h1 h2 p ul li a del strong ", " "+n.Data+" ") {
			t.Errorf("an element %s in\n%s", n.Data, text)
		}
	}
	for _, want := range []string{"<img src=x onerror=y> **one**", "`three` &amp; <b>", "javascript:alert(1)", "Changed (1)", "40 pages of example.org"} {
		if !strings.Contains(shown.String(), want) {
			t.Errorf("no %q in\n%s", want, shown.String())
		}
	}
}

// TestAtom: the feed is XML with what RFC 4287 asks for, and its ids are the same each time.
func TestAtom(t *testing.T) {
	t.Parallel()
	type feed struct {
		XMLName xml.Name `xml:"http://www.w3.org/2005/Atom feed"`
		ID      string   `xml:"id"`
		Title   string   `xml:"title"`
		Updated string   `xml:"updated"`
		Author  string   `xml:"author>name"`
		Entries []struct {
			ID      string `xml:"id"`
			Title   string `xml:"title"`
			Updated string `xml:"updated"`
			Link    struct {
				Href string `xml:"href,attr"`
			} `xml:"link"`
			Content string `xml:"content"`
		} `xml:"entry"`
	}
	r := readReport(t, hostile)
	text := written(t, "atom", r, diff.Style{})
	if text != written(t, "atom", r, diff.Style{}) {
		t.Error("two feeds of one report differ")
	}
	var f feed
	if err := xml.Unmarshal([]byte(text), &f); err != nil {
		t.Fatalf("%v in\n%s", err, text)
	}
	if f.ID == "" || f.Title == "" || f.Author == "" || f.Updated != "2026-11-30T12:00:00Z" || len(f.Entries) != 5 {
		t.Errorf("%+v", f)
	}
	ids := make(map[string]bool)
	for _, e := range f.Entries {
		ids[e.ID] = true
		if e.Title == "" || e.Updated == "" || strings.Contains(e.Content, "<script") || strings.HasPrefix(e.Link.Href, "javascript") {
			t.Errorf("%+v", e)
		}
	}
	if len(ids) != len(f.Entries) {
		t.Errorf("ids %v", ids)
	}
	var both bytes.Buffer
	if err := diff.Feed(&both, diff.Style{}, r, r); err != nil || strings.Count(both.String(), "<entry>") != 10 {
		t.Errorf("%v:\n%s", err, both.String())
	}
}

// TestMail: a message has the fields that it should have, and no site adds one.
func TestMail(t *testing.T) {
	t.Parallel()
	foreign := strings.ReplaceAll(hostile, `"path":"job`, `"path":"jöb`)
	text := written(t, "mail", readReport(t, foreign), diff.Style{To: `"Ä. B." <a@example.org>, b@example.org`, Date: time.Unix(1795698000, 0)})
	m, err := mail.ReadMessage(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	for name := range m.Header {
		if !strings.Contains(" To Subject Date Message-Id Mime-Version Content-Type Content-Transfer-Encoding Auto-Submitted ", " "+name+" ") {
			t.Errorf("a field %s", name)
		}
	}
	to, err := m.Header.AddressList("To")
	if err != nil || len(to) != 2 || to[0].Name != "Ä. B." {
		t.Errorf("to %v, %v", to, err)
	}
	subject, err := new(mime.WordDecoder).DecodeHeader(m.Header.Get("Subject"))
	ascii := !strings.ContainsFunc(text, func(c rune) bool { return c > '~' })
	if err != nil || !strings.Contains(subject, "jöb") || !strings.Contains(subject, "1 changed, 1 new, 1 gone") || !ascii {
		t.Errorf("subject %q, %v", subject, err)
	}
	body, err := io.ReadAll(quotedprintable.NewReader(m.Body))
	if err != nil || !strings.Contains(string(body), "https://example.org/f") || strings.Contains(string(body), "\x1b") {
		t.Errorf("%v:\n%s", err, body)
	}
	for line := range strings.SplitSeq(text, "\r\n") {
		if len(line) > 998 || strings.ContainsAny(line, "\r\n") {
			t.Errorf("a line of %d bytes: %q", len(line), line)
		}
	}
	f, _ := diff.FormatOf("mail", "")
	if err := f.Write(io.Discard, readReport(t, hostile), diff.Style{To: "a@example.org\r\nBcc: c@example.org"}); err == nil {
		t.Error("an address with a line end was taken")
	}
}

// TestText: on a terminal nothing but the program's own colors has an effect, and a limit says what
// it leaves out.
func TestText(t *testing.T) {
	t.Parallel()
	clean := func(s string) string { return strings.ReplaceAll(strings.ReplaceAll(s, "\x1b", `\e`), "\u202e", "?") }
	for _, color := range []bool{false, true} {
		text := written(t, "text", readReport(t, hostile), diff.Style{Clean: clean, Color: color})
		foreign := strings.Contains(text, "\x1b[31mred") || !color && strings.Contains(text, "\x1b")
		if foreign || !strings.Contains(text, `\e[31mred`) || strings.Contains(text, "\u202e") {
			t.Errorf("not clean:\n%q", text)
		}
	}
	many := strings.Repeat(`{"kind":"gone","url":"https://example.org/b"}`+"\n", 7) + `{"kind":"summary","gone_pages":7}` + "\n"
	if text := written(t, "text", readReport(t, many), diff.Style{Limit: 2}); strings.Count(text, "https://") != 2 || !strings.Contains(text, "… 5 more") {
		t.Errorf("limited:\n%s", text)
	}
}

// TestLimits: each format has as many changes as it is to have: of each kind, and in a feed of all.
func TestLimits(t *testing.T) {
	t.Parallel()
	var many strings.Builder
	for _, kind := range []string{"new", "gone"} {
		for i := range 5010 {
			fmt.Fprintf(&many, `{"kind":%q,"url":"https://example.org/%d"}`+"\n", kind, i)
		}
	}
	many.WriteString(`{"kind":"summary","new_pages":5010,"gone_pages":5010}` + "\n")
	r := readReport(t, many.String())
	for format, want := range map[string]struct {
		mark           string // of a change
		usual, limited int    // without a limit, and with 3
	}{
		"json": {`"url"`, 10_020, 10_020}, "text": {"https://", 10_020, 6}, "markdown": {"<https", 10_020, 6}, "mail": {"https://", 100, 6},
		"html": {"href=", 10_000, 6}, "atom": {"<entry>", 500, 3},
	} {
		for limit, n := range map[int]int{0: want.usual, 3: want.limited} {
			text := written(t, format, r, diff.Style{Limit: limit})
			if got := strings.Count(text, want.mark); got != n {
				t.Errorf("%s, limit %d: %d changes, expected %d: %.300s", format, limit, got, n, text)
			}
		}
	}
}

// FuzzRead: whatever a file says, it is an error or a report that can be written in each format.
func FuzzRead(f *testing.F) {
	f.Add([]byte(hostile))
	f.Add([]byte(`{"kind":"shared","url":"a"}` + "\n" + `{"kind":"summary","shared":9,"churn_more":-3}` + "\n"))
	f.Add([]byte(`{"kind":"moved","details":[{"words":[{"op":"same"},{"op":"x"}]}]}` + "\n" + `{"kind":"summary","moved_pages":1,"new":{"to":"9999-12-31T23:59:59Z"}}` + "\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		r, err := diff.Read(bytes.NewReader(text), "")
		if err != nil {
			return
		}
		defer r.Close()
		for _, format := range diff.Formats() {
			if err := format.Write(io.Discard, r, diff.Style{}); err != nil {
				t.Errorf("%s: %v", format.Name, err)
			}
		}
	})
}
