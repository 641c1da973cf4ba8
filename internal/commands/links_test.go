package commands_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/weftcrawl/weft/internal/conformance"
	"github.com/weftcrawl/weft/internal/wefttest"
	"github.com/weftcrawl/weft/weburl"
	tokenizer "golang.org/x/net/html"
)

// TestLinksLines: each line of --jsonl is answered with one line, errors included.
func TestLinksLines(t *testing.T) {
	t.Parallel()
	b64 := func(s string) string { return base64.StdEncoding.EncodeToString([]byte(s)) }
	for name, c := range map[string]struct{ in, want string }{
		"all of it": {
			`{"id": 7, "html": "<base href=/b/><a href='x?a&amp;b' rel='next'>hi</a><meta http-equiv=refresh content='1;url=z'><meta name=robots content='none, noarchive'><img src=i>", "base": "http://e.test/d/"}`,
			`{"id":7,"links":[{"url":"http://e.test/b/x?a&b","raw":"x?a&b","tag":"a","attr":"href","rel":"next","kind":"page"},` +
				`{"url":"http://e.test/b/z","raw":"z","tag":"meta","attr":"content","rel":"","kind":"redirect"},` +
				`{"url":"http://e.test/b/i","raw":"i","tag":"img","attr":"src","rel":"","kind":"image"}],` +
				`"base":"http://e.test/b/","charset":"utf-8","refresh":"http://e.test/b/z","robots":["noindex","nofollow","noarchive"]}`,
		},
		"no base": {
			`{"id":"x","html":"<a href=/a></a><a href=//h/></a><a href=HTTP://H.test></a>"}`,
			`{"id":"x","links":[{"url":"http://h.test/","raw":"HTTP://H.test","tag":"a","attr":"href","rel":"","kind":"page"}],"base":"","charset":"utf-8","refresh":null,"robots":[]}`,
		},
		"bytes in an encoding": {
			`{"html_b64":"` + b64("<a href='http://h.test/\xcf'>") + `","content_type":"text/html; charset=windows-1251"}`,
			`{"links":[{"url":"http://h.test/%D0%9F","raw":"http://h.test/П","tag":"a","attr":"href","rel":"","kind":"page"}],"base":"","charset":"windows-1251","refresh":null,"robots":[]}`,
		},
		"queries in an encoding": {
			`{"html_b64":"` + b64("<meta charset=shift_jis><a href='http://h.test/?\x93\xfa'>") + `"}`,
			`{"links":[{"url":"http://h.test/?%93%FA","raw":"http://h.test/?日","tag":"a","attr":"href","rel":"","kind":"page"}],"base":"","charset":"shift_jis","refresh":null,"robots":[]}`,
		},
		"a base that is too much": {
			`{"id":1,"html":"<base href=http://h.test/` + strings.Repeat("a", 64000) + "/>" + strings.Repeat("<a href=x>", 5000) + `"}`,
			`"kind":"links"}`,
		},
		"an array": {`[1]`, `{"error":"line 1: array, expected an object, see weft links --help-all","kind":"json"}`},
		"a number": {` 1`, `{"error":"line 1: number, expected an object, see weft links --help-all","kind":"json"}`},
		"null":     {`null `, `{"error":"line 1: null, expected an object, see weft links --help-all","kind":"json"}`},
		"UTF-16": {
			`{"html_b64":"` + b64("\xff\xfe<\x00a\x00 \x00h\x00r\x00e\x00f\x00=\x00/\x00a\x00>\x00") + `","base":"http://h.test"}`,
			`{"links":[{"url":"http://h.test/a","raw":"/a","tag":"a","attr":"href","rel":"","kind":"page"}],"base":"http://h.test/","charset":"utf-16le","refresh":null,"robots":[]}`,
		},
		"a style sheet": {
			`{"html":"@import 'a.css'; b { background: url(i.png) } @font-face { src: url(f) }","content_type":"text/css","base":"http://h.test/"}`,
			`{"links":[{"url":"http://h.test/a.css","raw":"a.css","tag":"css","attr":"import","rel":"","kind":"style"},` +
				`{"url":"http://h.test/i.png","raw":"i.png","tag":"css","attr":"url","rel":"","kind":"image"},` +
				`{"url":"http://h.test/f","raw":"f","tag":"css","attr":"url","rel":"","kind":"font"}],"base":"http://h.test/","charset":"utf-8","refresh":null,"robots":[]}`,
		},
		"nothing":        {`{"id":1}`, `{"id":1,"error":"line 1: no html_b64, expected bytes in base64","kind":"html_b64"}`},
		"a base of none": {`{"id":1,"html":"","base":"x"}`, `"kind":"base"}`},
		"no base64":      {`{"id":1,"html_b64":"?"}`, `"kind":"html_b64"}`},
		"another type":   {`{"html":"<a href=http://h.test>","content_type":"text/plain"}`, `{"links":[],"base":"","charset":"utf-8","refresh":null,"robots":[]}`},
	} {
		e := weftFed(t, c.in+"\n{}\n", "", "links", "--jsonl")
		first, _, _ := strings.Cut(e.Stdout, "\n")
		if e.Code != wefttest.Done || !strings.HasSuffix(first, c.want) || strings.Count(e.Stdout, "\n") != 2 {
			t.Errorf("%s: exit %d\n got %s\nwant %s\n%s", name, e.Code, first, c.want, e.Stderr)
		}
	}
}

// TestLinksOfAPage: queries are in the encoding of the page; a page that is cut is an error.
func TestLinksOfAPage(t *testing.T) {
	t.Parallel()
	e := weftFed(t, "<meta charset=shift_jis><a href='?\x93\xfa'>", "", "links", "--base", "http://h.test/", "-")
	if e.Code != wefttest.Done || e.Stdout != "http://h.test/?%93%FA\n" {
		t.Errorf("exit %d, %q\n%s", e.Code, e.Stdout, e.Stderr)
	}
	e = weftFed(t, "<a href=/a>1</a><a href=/b>2</a><a href=/a>3</a>", "", "links", "--base", "http://h.test/", "-")
	if e.Stdout != "http://h.test/a\nhttp://h.test/b\n" {
		t.Errorf("%q, expected each link once", e.Stdout)
	}
	e = weftFed(t, "<base href=foo:/"+strings.Repeat("a", 64000)+"/>"+strings.Repeat("<a href=x>", 2000), "", "links", "-")
	if e.Code != wefttest.Failed || e.Stdout != "" || !strings.Contains(e.Stderr, "some are not listed") {
		t.Errorf("exit %d, %q\n%s", e.Code, e.Stdout, e.Stderr)
	}
}

// TestLinksConformance: for each of html5lib's tokenizer tests that starts in the Data state,
// --jsonl lists the links of the expected tags.
func TestLinksConformance(t *testing.T) {
	t.Parallel()
	const base = "http://example.org/dir/page"
	at, err := weburl.Parse(base)
	if err != nil {
		t.Fatal(err)
	}
	places := map[string]string{"a": "href", "area": "href", "img": "src", "link": "href", "script": "src", "iframe": "src", "frame": "src", "form": "action", "embed": "src"}
	var in bytes.Buffer
	var want [][]string
	for _, c := range conformance.Cases[struct {
		ID      string              `json:"id"`
		Input   string              `json:"input"`
		Initial string              `json:"initial"`
		Output  [][]json.RawMessage `json:"output"`
	}](t, "html-tokens.jsonl") {
		if c.Initial != "Data state" {
			continue
		}
		// The tests have few links, so the page is given twice: as it is, with its tags
		// known by their names, and as the value of a link.
		for _, text := range []string{c.Input, `<a href="` + strings.NewReplacer(`"`, "").Replace(c.Input) + `">`} {
			line, err := json.Marshal(map[string]string{"id": c.ID, "html": text, "base": base})
			if err != nil {
				t.Fatal(err)
			}
			in.Write(append(line, '\n'))
			want = append(want, tokenizerLinks(at, text, places))
		}
	}
	e := weftFed(t, in.String(), "", "links", "--jsonl")
	lines := strings.Split(strings.TrimSuffix(e.Stdout, "\n"), "\n")
	if e.Code != wefttest.Done || len(lines) != len(want) {
		t.Fatalf("exit %d, %d lines, expected %d\n%s", e.Code, len(lines), len(want), e.Stderr)
	}
	found := 0
	for i, line := range lines {
		var a struct {
			ID    string
			Links []struct{ Tag, Attr, Raw, URL string }
		}
		if err := json.Unmarshal([]byte(line), &a); err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, l := range a.Links {
			if places[l.Tag] == l.Attr {
				got = append(got, l.Tag+" "+l.Raw+" "+l.URL)
			}
		}
		slices.Sort(got)
		slices.Sort(want[i]) // an anchor is reported at its end
		if found += len(got); !slices.Equal(got, want[i]) {
			t.Errorf("%s: got %q, want %q", a.ID, got, want[i])
		}
	}
	t.Logf("%d pages, %d links", len(lines), found)
}

// tokenizerLinks returns the links of a page by the tokenizer of x/net.
func tokenizerLinks(base weburl.URL, text string, places map[string]string) (found []string) {
	z := tokenizer.NewTokenizer(strings.NewReader(text))
	for kind := z.Next(); kind != tokenizer.ErrorToken; kind = z.Next() {
		if kind != tokenizer.StartTagToken && kind != tokenizer.SelfClosingTagToken {
			continue
		}
		token := z.Token()
		i := slices.IndexFunc(token.Attr, func(a tokenizer.Attribute) bool { return a.Key == places[token.Data] })
		if i < 0 {
			continue
		}
		value := token.Attr[i].Val
		if strings.Trim(value, " \t\r\n\f") == "" && token.Data != "a" && token.Data != "area" {
			continue
		}
		if u, err := base.Resolve(value); err == nil && u.IsHTTP() {
			found = append(found, token.Data+" "+value+" "+u.String())
		}
	}
	return found
}

// TestLinksFlags tests --content-type and --scripts.
func TestLinksFlags(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		stdin string
		args  []string
		code  int
		want  string
	}{
		"a feed":       {"<rss><channel><link>http://a.test/</link>", []string{"--content-type", "application/rss+xml"}, wefttest.Done, "http://a.test/\n"},
		"scripts":      {"<script>f('/api/x')</script>", []string{"--scripts", "--base", "http://a.test"}, wefttest.Done, "http://a.test/api/x\n"},
		"none":         {"<script>f('/api/x')</script>", []string{"--base", "http://a.test"}, wefttest.Done, ""},
		"unknown type": {"", []string{"--content-type", "image/png"}, wefttest.Misused, ""},
	} {
		e := weftFed(t, c.stdin, "", append(append([]string{"links"}, c.args...), "-")...)
		if e.Code != c.code || e.Stdout != c.want {
			t.Errorf("%s: %+v", name, e)
		}
	}
}

// TestCrawlScripts: with --links, a crawl records what looks like a URL in scripts of pages and in
// the scripts that they load, and follows none of it.
func TestCrawlScripts(t *testing.T) {
	t.Parallel()
	s := wefttest.NewAsked(t, false, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/":
			w.Header().Set("Content-Type", "text/html")
			fmt.Fprint(w, `<a href=/page>p</a><script>get("/inline?id=1")</script><script src=/app.js></script>`)
		case "/app.js":
			w.Header().Set("Content-Type", "text/javascript")
			fmt.Fprint(w, `const api = "/api/v1/users?page="`)
		default:
			http.NotFound(w, r)
		}
	})
	e := wefttest.Crawl(t, wefttest.Done, "--links", "--assets", "scope", "--job", "job", s.URL)
	list := e.File("job/links.jsonl")
	for _, want := range []string{
		`"from":"` + s.URL + `/","to":"` + s.URL + `/inline?id=1","tag":"script","attr":"text","kind":"text"`,
		`"from":"` + s.URL + `/app.js","to":"` + s.URL + `/api/v1/users?page=","tag":"script","attr":"text","kind":"text"`,
	} {
		if !strings.Contains(list, want) {
			t.Errorf("no %s in %s", want, list)
		}
	}
	if got := s.Paths(); got != "/ /app.js /page" {
		t.Errorf("requested %s", got)
	}
}

// TestJSONFeed: JSON that says that it is a feed has links, as a file and from a server.
func TestJSONFeed(t *testing.T) {
	t.Parallel()
	feed := `{"version": "https://jsonfeed.org/version/1", "items": [{"url": "/a"}]}`
	s := wefttest.NewAsked(t, false, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/a" {
			wefttest.HTML(w)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("X-Content-Type-Options", "nosniff")
		fmt.Fprint(w, feed)
	})
	e := weftAmong(t, map[string][]byte{"feed.json": []byte(feed), "data.json": []byte(`{"url": "/a"}`)}, "links", "feed.json")
	if e.Stdout != "http://localhost/a\n" {
		t.Errorf("%+v", e)
	}
	if e := wefttest.In(t, e.Dir, "links", "data.json"); e.Stdout != "" {
		t.Errorf("%+v", e)
	}
	if e := wefttest.Run(t, "links", s.URL); e.Stdout != s.URL+"/a\n" {
		t.Errorf("%+v", e)
	}
	e = wefttest.Crawl(t, wefttest.Done, "--job", "j", s.URL)
	if e := wefttest.In(t, e.Dir, "urls", "--only-urls", "j"); e.Stdout != s.URL+"/\n"+s.URL+"/a\n" {
		t.Errorf("%+v", e)
	}
}
