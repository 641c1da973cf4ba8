package where_test

import (
	"strings"
	"testing"

	"github.com/weftcrawl/weft/internal/where"
)

// TestBounded: strangers compare fields, and no more.
func TestBounded(t *testing.T) {
	for _, c := range []string{
		"", "status >= 400 && host == 'example.org'", "not (url startsWith 'https:') or title in ['a', 'b']", "len(lower(title)) > 70", "url matches '/docs/.*[.]html$'",
		"bytes / 1024 + 1 > 7", "error_kind != '' ? true : status == 404", "a b c", "(", "url contains '" + strings.Repeat("x", 500) + "'", "status == nil",
	} {
		if err := where.Bounded(c); err != nil {
			t.Errorf("%s: %v", c, err)
		}
	}
	for _, c := range []string{
		"len(reduce(1..40, #acc + #acc, url)) > 0", "let a = url + url; len(a) > 0", "let a = url; a == ''", "url + url == ''", "1..9 == []", "count(1..1000000, true) > 0",
		"any([1], true)", "repeat(url, 1000) == ''", "url matches url", "url matches '" + strings.Repeat("x{1000}", 100) + "'", "join(map([1], url)) == ''", "replace(url, 'a', url) == ''",
		"map(split(url, ''), url) == []", "toJSON(url) == ''", "[1, 2] | filter(# > 1) == []", "url[1:] == ''", "{'a': 1} == nil", "title.x() == ''", "true; false", "concat([url], [url]) == []",
		"url not matches '(a{1000}){1}" + strings.Repeat("b{1000}", 20) + "'", "get({'a': 1}, url) == 1", "sum(1..9) > 1", "string(url) == ''",
	} {
		if err := where.Bounded(c); err == nil || len(err.Error()) > 500 {
			t.Errorf("%s: %v, expected it to be refused", c, err)
		}
	}
}
