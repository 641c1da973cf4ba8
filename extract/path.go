package extract

import (
	"regexp"
	"strings"
	"sync"

	"github.com/weftcrawl/weft/internal/css"
)

// pathParts are the beginnings of paths of XPath, and the same in CSS.
var pathParts = sync.OnceValue(func() (parts []pathPart) {
	const name, text = `([a-z][a-z0-9_-]*)`, `("[^"\\\pC]+"|'[^'\\\pC]+')`
	for _, p := range [][2]string{
		{`//` + name, ` $1`},
		{`//\*`, ` *`},
		{`/` + name, ` > $1`},
		{`/\*`, ` > *`},
		{`\[@` + name + `\]`, `[$1]`},
		{`\[@` + name + ` *= *` + text + `\]`, `[$1=$2 s]`},
		{`\[contains\(@` + name + ` *, *` + text + `\)\]`, `[$1*=$2 s]`},
		{`/@` + name + `$`, `::attr($1)`},
	} {
		parts = append(parts, pathPart{regexp.MustCompile(`^` + p[0]), p[1]})
	}
	return parts
})

type pathPart struct {
	xpath *regexp.Regexp
	css   string
}

// asCSS returns a path as CSS, or nil if CSS has no words for it. It has some for what people write
// most: elements anywhere on the page, or one below that of a record, by their names and
// attributes, and an attribute of them. One walk over the elements finds them, where package xpath
// copies its place at each.
func asCSS(path string) *css.Selector {
	rest, relative := strings.CutPrefix(path, ".")
	if !strings.HasPrefix(rest, "//") || relative && strings.Count(rest, "/")-strings.Count(rest, "/@") > 2 {
		return nil // .//a/b has an a below the record, which a > b says not
	}
	var text []byte
	for rest != "" {
		before := len(rest)
		for _, part := range pathParts() {
			if at := part.xpath.FindStringSubmatchIndex(rest); at != nil {
				text = part.xpath.ExpandString(text, part.css, rest, at)
				rest = rest[at[1]:]
				break
			}
		}
		if len(rest) == before {
			return nil
		}
	}
	s, err := css.Parse(string(text))
	if err != nil {
		return nil
	}
	return s
}
