// Command charset makes the models of internal/charset's detection, and measures its accuracy.
//
//	CGO_ENABLED=0 go -C bench run ./charset -train DIR > models.bin
//	CGO_ENABLED=0 go -C bench run ./charset -test DIR
//
// DIR holds a UTF-8 text per language in a file named for it, such as ru. Train and test must use
// different texts.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/weftcrawl/weft/internal/charset"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/htmlindex"
	"golang.org/x/text/unicode/norm"
)

// written lists the languages written in each encoding.
var written = []struct {
	encoding  string
	languages string
}{
	{"windows-1252", "fr de es pt it nl da sv nb fi is ca"},
	{"windows-1250", "cs sk pl hu sl hr ro"},
	{"iso-8859-2", "cs sk pl hu sl hr ro"},
	{"windows-1257", "lt lv et"},
	{"iso-8859-13", "lt lv et"},
	{"windows-1254", "tr"},
	{"windows-1251", "ru uk bg sr be mk"},
	{"koi8-r", "ru bg"},
	{"koi8-u", "uk"},
	{"iso-8859-5", "ru uk bg sr be mk"},
	{"ibm866", "ru be"},
	{"x-mac-cyrillic", "ru"},
	{"windows-1253", "el"},
	{"iso-8859-7", "el"},
	{"windows-1255", "he"},
	{"windows-1256", "ar fa"},
	{"iso-8859-6", "ar"},
	{"windows-874", "th"},
	{"windows-1258", "vi"},
	{"gbk", "zh_CN"},
	{"big5", "zh_TW"},
	{"shift_jis", "ja"},
	{"euc-jp", "ja"},
	{"iso-2022-jp", "ja"},
	{"euc-kr", "ko"},
	{"utf-16le", "ru fr ja"},
	{"utf-16be", "ru fr ja"},
	{"utf-8", "ru fr ja ko he cs"},
}

func main() {
	train := flag.String("train", "", "make models of the texts in `DIR`")
	test := flag.String("test", "", "measure with the texts in `DIR`")
	flag.Parse()
	var err error
	switch {
	case *train != "":
		err = makeModels(*train)
	case *test != "":
		err = measure(*test)
	default:
		flag.Usage()
		os.Exit(2)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func makeModels(dir string) error {
	var models []byte
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		text, err := read(dir, e.Name())
		if err != nil {
			return err
		}
		models = charset.Train(models, e.Name(), text)
	}
	_, err = os.Stdout.Write(models)
	return err
}

// read reads a text with the characters that legacy encodings have for its language.
func read(dir, language string) (string, error) {
	b, err := os.ReadFile(filepath.Join(dir, language))
	text := norm.NFC.String(string(b))
	switch language {
	case "ro":
		text = strings.NewReplacer("ș", "ş", "ț", "ţ", "Ș", "Ş", "Ț", "Ţ").Replace(text)
	case "fa":
		text = strings.NewReplacer("ی", "ي", "ک", "ك").Replace(text)
	case "vi":
		text = vietnamese(text)
	}
	return text, err
}

// vietnamese writes a tone as a separate character where windows-1258 lacks the letter with it.
func vietnamese(text string) string {
	var b strings.Builder
	for _, r := range text {
		if _, ok := charmap.Windows1258.EncodeRune(r); ok {
			b.WriteRune(r)
			continue
		}
		apart := []rune(norm.NFD.String(string(r)))
		tone := slices.IndexFunc(apart, func(r rune) bool { return strings.ContainsRune("\u0300\u0301\u0303\u0309\u0323", r) })
		if tone < 0 {
			b.WriteRune(r)
			continue
		}
		mark := apart[tone]
		b.WriteString(norm.NFC.String(string(slices.Delete(apart, tone, tone+1))))
		b.WriteRune(mark)
	}
	return b.String()
}

// encode encodes a text, without the characters that the encoding lacks.
func encode(name, text string) []byte {
	e, err := htmlindex.Get(name)
	if err != nil {
		panic(err)
	}
	var clean strings.Builder
	enc := e.NewEncoder()
	for _, r := range text {
		if _, err := enc.String(string(r)); err == nil {
			clean.WriteRune(r)
		}
		enc.Reset()
	}
	b, err := e.NewEncoder().Bytes([]byte(clean.String()))
	if err != nil {
		panic(err)
	}
	return b
}

var lengths = []int{64, 256, 1024, 4096}

func measure(dir string) error {
	fmt.Println("| encoding | languages | 64 B | 256 B | 1,024 B | 4,096 B | of HTML, 1,024 B | wrong as |\n|---|---|---|---|---|---|---|---|")
	for _, w := range written {
		var right, all [5]int
		wrong := map[string]int{}
		var measured []string
		for _, language := range strings.Fields(w.languages) {
			text, err := read(dir, language)
			switch {
			case errors.Is(err, fs.ErrNotExist):
				continue
			case err != nil:
				return err
			}
			measured = append(measured, language)
			for i, n := range lengths {
				for piece := range pieces(w.encoding, text, n) {
					got := judge(w.encoding, piece, false)
					all[i]++
					if got == "" {
						right[i]++
					} else {
						wrong[language+" "+got]++
					}
					if n == 1024 {
						all[4]++
						if judge(w.encoding, page(w.encoding, piece), true) == "" {
							right[4]++
						}
					}
				}
			}
		}
		if len(measured) == 0 {
			continue
		}
		fmt.Printf("| %s | %s |", w.encoding, strings.Join(measured, " "))
		for i := range all {
			fmt.Printf(" %.1f %% of %d |", 100*float64(right[i])/float64(max(1, all[i])), all[i])
		}
		fmt.Printf(" %s |\n", worst(wrong))
	}
	return nil
}

// judge returns the wrong encoding that a text was taken for; empty if it decodes right.
func judge(encoding string, b []byte, html bool) string {
	determine := charset.Text
	if html {
		determine = charset.HTML
	}
	e, _ := determine("", b)
	want := charset.Lookup(encoding)
	if e == want || string(e.Decode(b)) == string(want.Decode(b)) {
		return ""
	}
	return e.Name()
}

// pieces yields the pieces of about n bytes, cut at characters, that are not pure ASCII.
func pieces(encoding, text string, n int) func(func([]byte) bool) {
	return func(yield func([]byte) bool) {
		runes := []rune(text)
		per := len(encode(encoding, text)) // bytes of all
		size := max(1, len(runes)*n/max(1, per))
		for i := 0; i+size <= len(runes) || i == 0; i += size {
			part := string(runes[i:min(len(runes), i+size)])
			b := encode(encoding, part)
			if isASCII(b) && encoding != "iso-2022-jp" {
				continue
			}
			if !yield(b) {
				return
			}
		}
	}
}

// isASCII is true for the 7 bits of ISO-2022-JP, but not for UTF-16.
func isASCII(b []byte) bool {
	return !slices.ContainsFunc(b, func(c byte) bool { return c >= utf8.RuneSelf || c == 0 })
}

// page embeds a text in a page with much markup.
func page(encoding string, b []byte) []byte {
	head := encode(encoding, `<!DOCTYPE html><html><head><link rel="stylesheet" href="/style.css"><script>var a = {b: 1};</script></head><body class="x"><div id="main"><p>`)
	tail := encode(encoding, `</p><a href="/index.html?a=b&amp;c=d" title="home">home</a></div></body></html>`)
	return slices.Concat(head, b, tail)
}

func worst(wrong map[string]int) string {
	var names []string
	for name := range wrong {
		names = append(names, name)
	}
	slices.SortFunc(names, func(a, b string) int {
		if wrong[a] != wrong[b] {
			return wrong[b] - wrong[a]
		}
		return strings.Compare(a, b)
	})
	var counts []string
	for _, name := range names[:min(3, len(names))] {
		counts = append(counts, fmt.Sprintf("%s %d", name, wrong[name]))
	}
	return strings.Join(counts, ", ")
}
