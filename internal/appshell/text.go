package appshell

import (
	"bytes"

	"github.com/weftcrawl/weft/internal/markup"
)

// maxPatience is the length of the longest text that asks for patience.
const maxPatience = 100

// maxBegin is the length of the longest text that begins with "Loading" for that reason.
const maxBegin = 40

// named returns the one of these names that a name is; empty: none.
func named(name []byte, all []string) string {
	for _, n := range all {
		if markup.EqualFold(name, n) {
			return n
		}
	}
	return ""
}

// executes reports whether a script of this type runs: data, templates and import maps do not.
func executes(typ []byte) bool {
	typ = markup.Trim(typ)
	return len(typ) == 0 || markup.EqualFold(typ, "module") || bytes.Contains(bytes.ToLower(typ), []byte("javascript"))
}

// writes reports whether a script writes paragraphs or links into the page as it is read.
func writes(script []byte) bool {
	if !bytes.Contains(script, []byte("document.write")) || bytes.Contains(script, []byte("mailto:")) {
		return false
	}
	for _, tag := range [][]byte{[]byte("<a "), []byte("<p>"), []byte("<li>"), []byte("<td>"), []byte("<h1>"), []byte("<h2>")} {
		if bytes.Contains(script, tag) {
			return true
		}
	}
	return false
}

// asksForScripts reports whether a noscript element speaks of scripts to people, and not to a
// counter, nor for a part of the page alone.
func asksForScripts(text []byte) bool {
	lower := bytes.ToLower(text)
	if !bytes.Contains(lower, []byte("javascript")) && !bytes.Contains(lower, []byte("enable js")) {
		return false
	}
	for _, part := range [][]byte{[]byte("comment"), []byte("captcha"), []byte("search"), []byte(" map"), []byte("video"), []byte("chat")} {
		if bytes.Contains(lower, part) {
			return false
		}
	}
	return true
}

// patience are beginnings of texts that ask for it.
var patience = [][]byte{
	[]byte("lease wait"), []byte("oading..."), []byte("oading\u2026"), []byte("oading \u2026"), []byte("oading ..."), []byte("itte warten"),
	[]byte("wird geladen"), []byte("hargement"), []byte("argando"), []byte("arregando"), []byte("aricamento"), []byte("агрузка"),
	[]byte("加载中"), []byte("正在加载"), []byte("加載中"), []byte("请稍候"), []byte("読み込み中"), []byte("로딩"),
}

// asksForPatience reports whether a text is that of a page that is still to come.
func asksForPatience(text []byte) bool {
	text = markup.Trim(text)
	if len(text) > maxPatience {
		return false
	}
	for _, word := range patience {
		if bytes.Contains(text, word) {
			return true
		}
	}
	if bytes.EqualFold(text, []byte("loading")) {
		return true
	}
	// "Initializing user interface…"
	verb, _, _ := bytes.Cut(bytes.TrimRight(text, ".\u2026"), []byte(" "))
	return bytes.HasSuffix(verb, []byte("ing")) && (bytes.HasSuffix(text, []byte("...")) || bytes.HasSuffix(text, []byte("\u2026")))
}

// beginsLoading reports whether a text is like "Loading your messages".
func beginsLoading(text []byte) bool {
	text = markup.Trim(text)
	return len(text) < maxBegin && bytes.HasPrefix(text, []byte("Loading "))
}

// isTemplate reports whether a text has places to fill, such as {{ name }}.
func isTemplate(text []byte) bool {
	_, after, ok := bytes.Cut(text, []byte("{{"))
	return ok && bytes.Contains(after, []byte("}}"))
}

// visible returns the length of a text without white space and references to it.
func visible(text []byte) (n int) {
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case markup.IsSpace(c):
		case c == '&' && bytes.HasPrefix(text[i:], []byte("&nbsp;")):
			i += len("&nbsp;") - 1
		default:
			n++
		}
	}
	return n
}
