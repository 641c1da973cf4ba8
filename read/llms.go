package read

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/weftcrawl/weft/record"
	"github.com/weftcrawl/weft/results"
)

// The most that an llms.txt lists.
const (
	mostSections = 20 // folders of the site; the pages of others are optional
	mostLinks    = 50 // of a section: the pages nearest to the start
	mostLetters  = 4  // pages of one title for letters: more are an index, which lists nothing new
)

// isLetter holds for the URL of what begins with a letter: genindex-A.html, names/b/, ?letter=C.
var isLetter = regexp.MustCompile(`[-_=/]([A-Za-z_]|all|[Ss]ymbols)(\.[a-z]+)?/?$`).MatchString

// LLMsTxt writes an overview of a site for language models, as https://llmstxt.org describes it:
// its title, what it says of itself, and links to its pages with their descriptions, a section for
// each folder of the first level. The site is that of the first page of the job.
func LLMsTxt(ctx context.Context, dir string, out io.Writer, o Options) error {
	s, err := overviewOf(ctx, dir, &o)
	if err != nil {
		return err
	}
	wanted := make(map[string]*listed)
	for _, section := range s.all {
		for i := range section.pages {
			wanted[section.pages[i].url] = &section.pages[i]
		}
	}
	o.NoDuplicates, o.Chunk, o.Text = false, 0, true // overviewOf lists no duplicates
	o.wanted = func(url string) bool { return wanted[url] != nil || url == s.start }
	title, about := "", ""
	err = each(ctx, dir, s.host, o, new(Counts), func(_ *entry, p *Page) error {
		if p.URL == s.start {
			title, about = cmp.Or(p.Site, p.Title, p.URL), p.summary()
		}
		if l := wanted[p.URL]; l != nil {
			l.title, l.about = cmp.Or(p.Title, p.URL), p.summary()
		}
		return nil
	})
	if err != nil {
		return err
	}
	_, err = io.WriteString(out, s.String(title, about))
	return err
}

// listed is a page in an overview.
type listed struct {
	url, title, about string
	depth             int
}

// overview is the content of an llms.txt.
type overview struct {
	start, host string
	all         []*folderOf
}

// folderOf is a folder of the site.
type folderOf struct {
	name    string
	count   int
	pages   []listed
	letters map[string]int // pages for letters, by title
}

// overviewOf chooses the pages of an overview by their records.
func overviewOf(ctx context.Context, dir string, o *Options) (*overview, error) {
	var s overview
	byName := make(map[string]*folderOf)
	var other folderOf
	for r, err := range results.Last(ctx, dir, 0, o.Temp) {
		if err != nil {
			return nil, err
		}
		if !r.IsPage() || r.Role != "" || r.DuplicateOf != "" || r.NearDuplicateOf != "" {
			continue
		}
		host, _ := orderOf(r.URL)
		if s.start == "" {
			s.start, s.host = r.URL, host
			continue
		}
		if host != s.host {
			continue
		}
		name := folderName(r.URL, s.start)
		f := byName[name]
		switch {
		case f != nil:
		case len(byName) < 10*mostSections:
			f = &folderOf{name: name}
			byName[name] = f
		default:
			f = &other
		}
		f.add(r)
	}
	for _, f := range byName {
		s.all = append(s.all, f)
	}
	slices.SortFunc(s.all, func(a, b *folderOf) int { return cmp.Or(b.count-a.count, cmp.Compare(a.name, b.name)) })
	for i, f := range s.all {
		if i >= mostSections || f.count < 2 {
			for _, l := range f.pages {
				other.insert(l)
			}
			f.pages = nil
		}
	}
	slices.SortFunc(s.all, func(a, b *folderOf) int { return cmp.Compare(a.name, b.name) })
	other.name = "Optional"
	s.all = append(s.all, &other)
	for _, f := range s.all {
		f.trim()
	}
	s.all = slices.DeleteFunc(s.all, func(f *folderOf) bool { return len(f.pages) == 0 })
	return &s, nil
}

// folderName is the first folder of a URL behind that of the start.
func folderName(address, start string) string {
	base := start[:strings.LastIndexByte(start, '/')+1]
	rest, ok := strings.CutPrefix(address, base)
	if !ok {
		_, rest, _ = strings.Cut(address, "://")
		_, rest, _ = strings.Cut(rest, "/")
	}
	rest, _, _ = strings.Cut(rest, "?")
	name, _, isFolder := strings.Cut(rest, "/")
	if !isFolder {
		return "Pages"
	}
	if decoded, err := url.PathUnescape(name); err == nil {
		name = decoded
	}
	return cmp.Or(line(name, 100), "Pages")
}

func (f *folderOf) add(r *record.Record) {
	f.count++
	f.insert(listed{url: r.URL, title: r.Title, depth: r.Depth})
}

// insert keeps the pages nearest to the start.
func (f *folderOf) insert(l listed) {
	if f.letters == nil {
		f.letters = make(map[string]int)
	}
	if isLetter(l.url) && (f.letters[l.title] > 0 || len(f.letters) < mostLinks) {
		f.letters[l.title]++
	}
	f.pages = append(f.pages, l)
	if len(f.pages) >= 2*mostLinks {
		f.trim()
	}
}

func (f *folderOf) trim() {
	f.pages = slices.DeleteFunc(f.pages, func(l listed) bool { return isLetter(l.url) && f.letters[l.title] > mostLetters })
	slices.SortFunc(f.pages, func(a, b listed) int { return cmp.Or(a.depth-b.depth, cmp.Compare(a.url, b.url)) })
	f.pages = f.pages[:min(len(f.pages), mostLinks)]
}

// String writes the overview.
func (s *overview) String(title, about string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "# %s\n", bare(cmp.Or(title, s.host)))
	if about != "" {
		fmt.Fprintf(&b, "\n> %s\n", bare(about))
	}
	for _, f := range s.all {
		fmt.Fprintf(&b, "\n## %s\n\n", bare(f.name))
		titles := make(map[string]int)
		for _, l := range f.pages {
			titles[l.title]++
		}
		for _, l := range f.pages {
			name := cmp.Or(l.title, l.url)
			if titles[l.title] > 1 { // of one title, the path tells which
				name = bare(l.title) + " (" + placeOf(l.url) + ")"
			}
			fmt.Fprintf(&b, "- [%s](%s)", bare(name), destination(l.url))
			if l.about != "" && l.about != l.title {
				b.WriteString(": " + bare(l.about))
			}
			b.WriteByte('\n')
		}
	}
	return b.String()
}

// placeOf is the path of a URL without the ending of its file.
func placeOf(address string) string {
	_, path, _ := strings.Cut(address, "://")
	_, path, _ = strings.Cut(path, "/")
	if decoded, err := url.PathUnescape(path); err == nil {
		path = decoded
	}
	return strings.TrimSuffix(path, ".html")
}

// bare is text in a line of Markdown in which nothing is marked.
func bare(s string) string {
	return strings.NewReplacer(`\`, `\\`, "[", `\[`, "]", `\]`, "*", `\*`, "`", "\\`", "<", `\<`).Replace(line(s, 500))
}

func destination(url string) string { return strings.NewReplacer("(", "%28", ")", "%29").Replace(url) }

// summary is a page's description of itself, or its first sentence.
func (p *Page) summary() string {
	const most = 200
	text := p.Description
	if text == "" {
		for paragraph := range strings.SplitSeq(p.Text, "\n\n") {
			if paragraph = line(paragraph, 4*most); isSentence(paragraph) && paragraph != p.Title {
				text = paragraph
				break
			}
		}
	}
	if text = line(text, 4*most); len(text) <= most {
		return text
	}
	if at := sentence(text); at > 0 && at <= most {
		return text[:at]
	}
	cut := line(text[:most], most)
	return cut[:max(strings.LastIndexByte(cut, ' '), 1)] + " …"
}

// sentence is the length of the first sentence of a text, or 0: "e.g. this" goes on.
func sentence(text string) int {
	for at := 0; ; at += len(". ") {
		i := strings.Index(text[at:], ". ")
		if i < 0 {
			return 0
		}
		at += i
		if next, _ := utf8.DecodeRuneInString(text[at+len(". "):]); !unicode.IsLower(next) {
			return at + 1
		}
	}
}

// isSentence reports whether a paragraph may say what a page is about: it is no item of a list, no
// navigation, and not about rights.
func isSentence(paragraph string) bool {
	if strings.HasPrefix(paragraph, "- ") || strings.HasPrefix(paragraph, "* ") || strings.Count(paragraph, " | ") > 2 {
		return false
	}
	body := strings.TrimRight(paragraph, "\"')]”»")
	last, _ := utf8.DecodeLastRuneInString(body)
	ends := strings.ContainsRune(".!?…。！？", last) || strings.Contains(strings.ReplaceAll(body, "...", ""), ". ")
	if !ends || strings.HasPrefix(paragraph, "//") || strings.Contains(paragraph, " { ") { // code
		return false
	}
	small := strings.ToLower(paragraph)
	for _, word := range [...]string{"\u00A9", "copyright", "license", "licence", "rights reserved"} {
		if strings.Contains(small, word) {
			return false
		}
	}
	return len(paragraph) >= 40 && strings.Contains(paragraph, " ")
}
