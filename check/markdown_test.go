package check

import (
	"slices"
	"strings"
	"testing"

	"github.com/weftcrawl/weft/links"
	"github.com/weftcrawl/weft/weburl"
)

// TestHeadingIDs: the ids of headings come from the text that readers see, by GitHub's algorithm.
// Each row has the headings of a document, and the fragments that name them, and some that do not.
func TestHeadingIDs(t *testing.T) {
	base, err := weburl.Parse("file:///a.md")
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct{ source, has, lacks string }{
		"a link":                     {"## [1.2.0](https://git.test/compare/1.1...1.2) (2024-05-01)", "120-2024-05-01", "120httpsgittestcompare1112-2024-05-01"},
		"a reference":                {"## See [other part][o]\n\n[o]: x.md", "see-other-part", "see-other-parto"},
		"a shortcut reference":       {"## [1.0.0]\n\n[1.0.0]: x.md", "100", ""},
		"no reference":               {"## [1.0.0] of\n", "100-of", ""},
		"an anchor":                  {"## <a name=\"inst\"></a>Install guide", "install-guide inst", ""},
		"tags and a comment":         {"## <b>One</b> <!-- two --> <kbd>three</kbd>", "one--three", "one-two-three"},
		"an image":                   {"## ![badge](b.svg) Status", "-status", "badge-status"},
		"a linked image":             {"## [![badge](b.svg)](x.md) Status", "-status", ""},
		"a reference to a character": {"## Foo &amp; Bar &copy; &#65;", "foo--bar--a", "foo-amp-bar-copy-65"},
		"emphasis":                   {"## _Emphasised_ **word** ~~gone~~", "emphasised-word-gone", "_emphasised_-word-gone"},
		"underscores":                {"## snake_case and `__init__`", "snake_case-and-__init__", ""},
		"escapes":                    {"## a\\_b \\* c", "a_b--c", ""},
		"code":                       {"## The `f(x)` ``a`b``", "the-fx-ab", ""},
		"a URL":                      {"## See https://h.test/x", "see-httpshtestx", ""},
		"a line below":               {"Two words\n=========\n\nThree *more* words\n---", "two-words three-more-words", ""},
		"closing marks":              {"## Closed ##", "closed", "closed-"},
		"letters of all kinds":       {"## Größe Ⅷ x² ½ ⚙️ ΟΔΟΣ日本 a‿b", "größe-ⅷ-x--️-οδοσ日本-a‿b", "größe-ⅷ-x²-½-️-οδοσ日本-a‿b"},
		"alike":                      {"# X\n# X\n# X-1\n<h2>X</h2>\n\n# x", "x x-1 x-1-1 x-2 x-3", "x-4"},
		"an id of its own":           {"## Foo {#bar}\n## Bar", "foo bar", "bar-1"},
		"a quotation, a list":        {"> ## In quotes\n\n- ## In a list", "in-quotes in-a-list", ""},
		"HTML":                       {"<h1 align=\"center\">My Project</h1>\n\n<h2>What <em>it</em> does</h2>", "my-project what-it-does", ""},
		"HTML in HTML":               {"<div align=center>\n<H1 id=top-of>My\nProject</H1></div>", "myproject my-project top-of", ""},
		"HTML in lines":              {"<h1>\n  <img src=logo.svg>\n  <br>\n  My Project\n</h1>", "my-project", ""},
		"HTML without end":           {"<h2>One\n<h3>Two</h3>\nThree", "one two", "three two-three"},
		"Markdown in HTML":           {"<details>\n\n## In *details*\n\n</details>", "in-details", ""},
		"no heading":                 {"```\n# code\n<h1>code</h1>\n```\n\n`<h1>span</h1>`\n\n<!-- <h1>comment</h1> -->\n", "", "code span comment"},
		"no text":                    {"## ![x](y.png)\n\n## 🎉\n", "-1", "x"},
	} {
		rendered, _, err := renderMarkdown([]byte(c.source))
		if err != nil {
			t.Fatal(name, err)
		}
		facts := NewReader("").Read(links.Document{Base: base, ContentType: "text/html", Body: rendered}, nil, func(links.Link) bool { return true })
		anchors := append(facts.Anchors, headingAnchors(rendered)...)
		for id := range strings.FieldsSeq(c.has) {
			if !slices.Contains(anchors, Anchor(id)) {
				t.Errorf("%s: %q has no id %q", name, rendered, id)
			}
		}
		for id := range strings.FieldsSeq(c.lacks) {
			if slices.Contains(anchors, Anchor(id)) {
				t.Errorf("%s: %q has the id %q", name, rendered, id)
			}
		}
	}
}

// TestFrontMatter: what generators of sites read at the beginning of a file is no Markdown, however
// its lines end.
func TestFrontMatter(t *testing.T) {
	for name, c := range map[string]struct{ source, rest string }{
		"lines of Unix":        {"---\na: b\n---\n# C\n", "# C\n"},
		"lines of Windows":     {"---\r\na: b\r\n---\r\n\r\n# C\r\n", "\r\n# C\r\n"},
		"a byte order mark":    {"\uFEFF---\na: b\n---\n# C", "# C"},
		"that alone":           {"\uFEFF# C", "# C"},
		"blanks":               {"---  \na: b\n--- \t\n# C", "# C"},
		"dots":                 {"---\na: b\n...\n# C", "# C"},
		"the end of the file":  {"---\na: b\n---", ""},
		"nothing in it":        {"---\n---\n# C", "# C"},
		"a rule in a value":    {"---\na: |\n  ---\n---\n# C", "# C"},
		"TOML":                 {"+++\na = \"b\"\n---\n+++\n# C", "# C"},
		"no end":               {"---\na: b\n# C\n", "---\na: b\n# C\n"},
		"a rule of four":       {"----\na\n---\n", "----\na\n---\n"},
		"not at the beginning": {"\n---\na: b\n---\n", "\n---\na: b\n---\n"},
		"nothing":              {"", ""},
	} {
		if rest := string(afterFrontMatter([]byte(c.source))); rest != c.rest {
			t.Errorf("%s: %q leaves %q, expected %q", name, c.source, rest, c.rest)
		}
	}
}

// TestFrontMatterOnDisk: links behind it have their places in the file, and those in it are none.
func TestFrontMatterOnDisk(t *testing.T) {
	write(t, map[string]string{"a.md": "\uFEFF---\r\ntitle: \"[a](none.md)\"\r\n---\r\n\r\n# Real\r\n\r\n[ok](#real) [bad](gone.md)\r\n"})
	r, err := files(t.Context(), []string{"a.md"}, "", Options{})
	if got, want := found(t, r, err), []string{"a.md:7:19 broken-link gone.md"}; !slices.Equal(got, want) {
		t.Errorf("%q\nwant %q", got, want)
	}
}
