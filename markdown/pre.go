package markdown

import (
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// pre converts preformatted text, exactly: blanks and line feeds are as they are, but for those at
// its end. No-break spaces are blanks, as in what a browser copies.
func (c *converter) pre(n *html.Node) {
	c.endRun()
	text := strings.TrimRight(preText(n), " \t\n")
	for strings.HasPrefix(text, "\n") {
		text = text[1:]
	}
	if text == "" {
		return
	}
	lines := strings.Split(text, "\n")
	if c.inline > 0 {
		c.codeCell(lines)
		return
	}
	if c.Text {
		c.out.block(lines...)
		return
	}
	fence := strings.Repeat("`", longestRun(text, '`', 2)+1)
	lines = append([]string{fence + language(n, text)}, append(lines, fence)...)
	c.out.block(lines...)
}

// preText is the text of a pre, without numbers of lines and buttons.
func preText(n *html.Node) string {
	var text []byte
	called := false // the last that was added is the number of a remark
	newLine := func() {
		if len(text) > 0 && text[len(text)-1] != '\n' {
			text = append(text, '\n')
		}
	}
	var walk func(n *html.Node)
	walk = func(n *html.Node) {
		for child := n.FirstChild; child != nil; child = child.NextSibling {
			switch {
			case child.Type == html.TextNode:
				if called && child.Data != "" && !isSpace(child.Data[0]) {
					text = append(text, ' ')
				}
				called = called && child.Data == ""
				text = append(text, child.Data...)
			case child.Type != html.ElementNode, isLineNumber(child):
			case child.DataAtom == atom.Br:
				text = append(text, '\n')
			case child.DataAtom == atom.Img && hasClass(n, "co"):
				text = append(text, callout(text, attr(child, "alt"))...)
				called = true
			case child.DataAtom == atom.Img:
				text = append(text, attr(child, "alt")...)
			case child.DataAtom == atom.Button, child.DataAtom == atom.Script, child.DataAtom == atom.Style:
			case isBlock(child):
				newLine()
				walk(child)
				newLine()
			default:
				walk(child)
			}
		}
	}
	walk(n)
	return strings.ReplaceAll(cleaned(strings.ReplaceAll(string(text), "\r\n", "\n")), "\r", "\n")
}

// callout is the number of a remark on code, an image of DocBook, behind text.
func callout(text []byte, number string) string {
	if len(text) > 0 && !isSpace(text[len(text)-1]) {
		return " (" + number + ")"
	}
	return "(" + number + ")"
}

// isLineNumber reports whether an element numbers lines of code.
func isLineNumber(n *html.Node) bool {
	return hasClass(n, "linenos", "lineno", "linenodiv", "line-numbers", "line-number", "line-numbers-rows", "gutter", "ln", "lnt", "hljs-ln-numbers") ||
		hasAttr(n, "data-line-number") && n.FirstChild == nil
}

// language returns the language of code as classes and attributes of the element, of what it
// contains, or of the two elements around it say, besides a table that holds its line numbers; or
// the prompt of Python. It is "" if none does.
func language(pre *html.Node, text string) string {
	for child := pre.FirstChild; child != nil; child = child.NextSibling {
		if child.DataAtom == atom.Code {
			if l := languageOf(child); l != "" {
				return l
			}
		}
	}
	for n, i := pre, 0; n != nil && i < 3; n = n.Parent {
		if l := languageOf(n); l != "" {
			return l
		}
		if numbered := isCell(n) && n.PrevSibling != nil && isLineNumber(n.PrevSibling); numbered {
			for n.Parent != nil && n.DataAtom != atom.Table {
				n = n.Parent
			}
			i = 0
		}
		i++
	}
	if strings.HasPrefix(text, ">>> ") {
		return "python"
	}
	return ""
}

// languagePrefixes are those of classes; a language follows.
var languagePrefixes = []string{"language-", "lang-", "highlight-source-", "highlight-text-", "highlight-", "brush:", "src-", "code-"}

// namesLanguage lists classes behind which a class stands that is a language.
var namesLanguage = map[string]bool{"sourceCode": true, "src": true, "brush:": true, "highlight": true, "hljs": true, "prettyprint": true, "code": true}

// notLanguages are words that follow one of the prefixes and name no language.
var notLanguages = map[string]bool{
	"": true, "none": true, "text": true, "plain": true, "plaintext": true, "default": true, "nohighlight": true, "no-highlight": true, "notranslate": true,
	"block": true, "wrapper": true, "container": true, "box": true, "area": true, "snippet": true, "example": true, "literal-block": true, "toolbar": true,
	"copy": true, "linenums": true, "numbers": true, "highlight": true, "code": true, "pre": true, "prettyprint": true, "sourceCode": true, "undefined": true, "auto": true,
	"includes": true, "fold": true, "hidden": true, "lines": true, "inline": true, "sample": true,
}

// languageAliases are names that no highlighter knows.
var languageAliases = map[string]string{"python3": "python", "pycon3": "pycon", "ipython3": "python", "c++": "cpp", "src": ""}

func languageOf(n *html.Node) string {
	for _, key := range []string{"data-lang", "data-language"} {
		if l := languageName(attr(n, key)); l != "" {
			return l
		}
	}
	class := attr(n, "class")
	if class == "" {
		return ""
	}
	behind := false
	for token := range strings.FieldsSeq(class) {
		for _, prefix := range languagePrefixes {
			if rest, ok := strings.CutPrefix(token, prefix); ok {
				if l := languageName(rest); l != "" {
					return l
				}
				break
			}
		}
		if behind && isPre(n) {
			if l := languageName(token); l != "" && knownLanguages[l] {
				return l
			}
		}
		behind = behind || namesLanguage[token]
	}
	return ""
}

func isPre(n *html.Node) bool {
	return n.DataAtom == atom.Pre || n.DataAtom == atom.Code || n.DataAtom == atom.Div
}

// languageName returns a name that may stand behind a fence, or "".
func languageName(s string) string {
	s = strings.ToLower(strings.Trim(s, " ;\"'"))
	if alias, ok := languageAliases[s]; ok {
		return alias
	}
	if len(s) > 24 || notLanguages[s] {
		return ""
	}
	for i := range len(s) {
		if b := s[i]; !isLetter(b) && !isDigit(b) && strings.IndexByte("+-#._", b) < 0 {
			return ""
		}
	}
	return s
}

// knownLanguages are those that stand as a class of their own behind another.
var knownLanguages = func() map[string]bool {
	known := make(map[string]bool)
	for name := range strings.FieldsSeq(`ada apache asm awk bash basic batch bibtex c clojure cmake cobol coffeescript cpp cs csharp css csv d
		dart diff docker dockerfile elisp elixir elm emacs-lisp erlang fortran fsharp go graphql groovy haskell html http idris ini java
		javascript js json jsx julia kotlin latex lean less lisp lua makefile markdown matlab md nasm nginx nim nix objc objectivec ocaml octave
		org pascal perl php plsql powershell prolog protobuf ps1 python py pycon r racket rb rst ruby rust sass scala scheme scss sed sh shell
		smalltalk sql swift tcl terraform tex toml ts tsx typescript vb verilog vhdl vim vue wasm xml yaml yml zig zsh console`) {
		known[name] = true
	}
	return known
}()

// codeCell writes code in a cell: a span a line.
func (c *converter) codeCell(lines []string) {
	for _, line := range lines {
		c.run.breakLine(c.flat > 0)
		if strings.TrimSpace(line) == "" {
			continue
		}
		if c.Text {
			c.run.write(line)
			continue
		}
		c.run.raw(string(appendCode(nil, line, c.cells > 0)))
	}
	c.run.breakLine(c.flat > 0)
}
