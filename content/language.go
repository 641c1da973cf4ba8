package content

import (
	"strings"
	"sync"
	"unicode"

	"github.com/weftcrawl/weft/internal/blocks"
	"golang.org/x/net/html"
)

// language is the language of a page: what it declares, or what its header does, unless its text
// is clearly in another. Many a site declares the language of its template.
func language(p Page, declared string, text *html.Node) string {
	for _, l := range [...]string{declared, p.Language} {
		l, _, _ = strings.Cut(l, ",")
		if l = strings.TrimSpace(strings.ReplaceAll(l, "_", "-")); l == "" {
			continue
		}
		primary, _, _ := strings.Cut(strings.ToLower(l), "-")
		if len(primary) < 2 || len(primary) > 3 { // "english"
			continue
		}
		if other := read(text).other(primary); other != "" {
			return other
		}
		return l
	}
	return read(text).best()
}

// reading counts the words of each language in a text, and the letters of each script.
type reading struct {
	words   map[string]int // by language
	scripts map[string]int // by the language that is written in it
	total   int            // words
}

const (
	enough   = 400 // words of a text that are looked at
	fewFound = 3   // words of a language that tell nothing
	rare     = 12  // every so many words there is a function word, in any language
)

// read reads the beginning of a text.
func read(root *html.Node) reading {
	r := reading{words: make(map[string]int), scripts: make(map[string]int)}
	walk(root, func(n *html.Node) bool {
		if n.Type == html.TextNode && r.total < enough {
			r.add(n.Data)
		}
		return n.Type != html.ElementNode || r.total < enough && !blocks.Textless(n) && n.Data != "code" && n.Data != "pre"
	})
	return r
}

func (r *reading) add(text string) {
	for word := range strings.FieldsFuncSeq(text, func(c rune) bool { return !unicode.IsLetter(c) && !unicode.IsMark(c) }) {
		if r.total++; r.total > enough {
			return
		}
		if len(word) > 1 && len(word) <= 16 { // letters stand for sizes and parts, too
			for _, l := range functionWords()[strings.ToLower(word)] {
				r.words[l]++
			}
		}
		if word[0] < 0xcd { // ASCII, Latin
			continue
		}
		for i, c := range word {
			if i > 64 {
				break
			}
			r.letter(c)
		}
	}
}

// letter counts a letter of a script, or one that tells languages of a script apart.
func (r *reading) letter(c rune) {
	for _, s := range scripts {
		if c >= s.first && c <= s.last {
			r.scripts[s.language]++
		}
	}
	for _, l := range letters[c] {
		r.words[string(l[:2])]++
	}
}

// best is the language of the text, or "".
func (r reading) best() string {
	best, most := "", 0
	for l, n := range r.scripts {
		if n > most || n == most && l < best {
			best, most = l, n
		}
	}
	if r.scripts["ja"] > 0 && best == "zh" && r.scripts["ja"]*10 > most { // Kanji among kana
		best = "ja"
	}
	if family := families[best]; family != nil {
		for _, l := range family {
			if r.words[l] > r.words[best] {
				best = l
			}
		}
		return best
	}
	if most > r.total {
		return best
	}
	best, most = "", fewFound-1
	for l, n := range r.words {
		if n > most || n == most && l < best {
			best, most = l, n
		}
	}
	if most*rare < r.total {
		return ""
	}
	return best
}

// other is the language of the text if it is clearly not the one given.
func (r reading) other(declared string) string {
	best := r.best()
	if best == "" || best == declared || r.total < 30 {
		return ""
	}
	if family := families[best]; family == nil && r.scripts[best] == 0 {
		if commonWords[declared] == "" || r.words[best] < 3*r.words[declared]+5 {
			return ""
		}
		return best
	}
	if r.scripts[best] > 2*r.total && r.words[declared] == 0 {
		return best
	}
	return ""
}

// scripts are those that few languages are written in, with the most common one.
var scripts = []struct {
	first, last rune
	language    string
}{
	{0x370, 0x3ff, "el"}, {0x400, 0x52f, "ru"}, {0x530, 0x58f, "hy"}, {0x590, 0x5ff, "he"}, {0x600, 0x6ff, "ar"}, {0x900, 0x97f, "hi"},
	{0x980, 0x9ff, "bn"}, {0xa00, 0xa7f, "pa"}, {0xa80, 0xaff, "gu"}, {0xb80, 0xbff, "ta"}, {0xc00, 0xc7f, "te"}, {0xc80, 0xcff, "kn"},
	{0xd00, 0xd7f, "ml"}, {0xd80, 0xdff, "si"}, {0xe00, 0xe7f, "th"}, {0xe80, 0xeff, "lo"}, {0x1000, 0x109f, "my"}, {0x10a0, 0x10ff, "ka"},
	{0x1200, 0x137f, "am"}, {0x1780, 0x17ff, "km"}, {0x3040, 0x30ff, "ja"}, {0x4e00, 0x9fff, "zh"}, {0xac00, 0xd7af, "ko"},
}

// families are languages of one script, told apart by words and letters.
var families = map[string][]string{
	"ru": {"ru", "uk", "be", "bg", "sr", "mk", "kk"}, "ar": {"ar", "fa", "ur"}, "hi": {"hi", "mr", "ne"},
}

// letters are those that one language of a script has.
var letters = map[rune][]string{
	'ї': {"uk"}, 'є': {"uk"}, 'ґ': {"uk"}, 'ў': {"be"}, 'і': {"uk", "be"}, 'ы': {"ru", "be"}, 'э': {"ru", "be"}, 'ј': {"sr", "mk"}, 'љ': {"sr"}, 'ћ': {"sr"},
	'ђ': {"sr"}, 'ѓ': {"mk"}, 'ќ': {"mk"}, 'ѕ': {"mk"}, 'ә': {"kk"}, 'қ': {"kk"}, 'ң': {"kk"}, 'ұ': {"kk"},
	'پ': {"fa", "ur"}, 'چ': {"fa", "ur"}, 'گ': {"fa", "ur"}, 'ی': {"fa", "ur"}, 'ک': {"fa", "ur"}, 'ٹ': {"ur"}, 'ڈ': {"ur"}, 'ے': {"ur"}, 'ں': {"ur"},
	'ة': {"ar"}, 'ي': {"ar"}, 'ك': {"ar"}, 'ى': {"ar"}, 'ळ': {"mr"},
}

// functionWords are the words that stand in every text of a language, and the languages they are
// of.
var functionWords = sync.OnceValue(func() map[string][]string { return invert(commonWords) })

var commonWords = map[string]string{
	"en": "the of and to in is that for it with as was on are be this by not have from you which or an at",
	"de": "der die und in den von zu das mit sich des auf für ist im dem nicht ein eine als auch es an werden hat oder",
	"fr": "de la le et les des en un du une que est pour qui dans par plus pas au sur ne se ce il sont ou à",
	"es": "de la que el en los se del las un por con no una su para es al lo como más pero sus tiene",
	"pt": "de que do da em um para com não uma os no se na por mais as dos como ou seu sua à são ao pelo todo",
	"it": "di il la che in per un è del con non una sono da le dei della si al nel alla ogni ha come gli più",
	"nl": "de van het een en in is dat op te zijn met voor niet aan er om ook als of bij door die worden heeft",
	"sv": "och att det som en på är av för med den till inte har de om ett var från eller sig skall vid",
	"da": "og at det er en til af på for med de den som ikke har et der kan om eller sig fra skal hans ved efter også blev",
	"nb": "og det er en til av på for med de som den ikke har et kan om eller seg fra skal hans ved etter også ble til",
	"fi": "ja on ei että se hän oli mutta joka tai ovat kuin myös sen ole mukaan hänen niin vain sekä olla jonka",
	"is": "og að í er sem á til um við með ekki af fyrir það en hann eða skal þeim",
	"pl": "na do się nie jest że to przez od jak po za ma lub dla jego oraz być są który",
	"cs": "na se je do že ve pro nebo jsou podle má být jeho od které při jako který ani by",
	"sk": "na sa je do že vo pre alebo sú podľa má byť jeho od ktoré pri ako ktorý ani by",
	"sl": "in na se je za da ki ali pri so po do kot tudi ima njegove od biti bi pa",
	"hr": "na se je da za od su ili koji ne kao iz po ima biti njegove prema te što bez",
	"hu": "az és hogy nem is van egy meg vagy kell mint de ez csak volt azt által való",
	"ro": "de și în la cu pe din care nu un este pentru mai sau să prin sunt fi are ca la cel al",
	"tr": "ve bir bu için ile de da olarak her olan veya ya kadar gibi daha çok ne olduğu değil en",
	"ca": "de la el que en les els per del un amb una és no té als al ha més són pel dels aquest seva",
	"id": "yang dan di dengan untuk dari dalam ini tidak itu pada atau atas sebagai akan adalah oleh",
	"vi": "và của là có được các trong cho không với này những một như đều về hay khi theo",
	"et": "ja on ei et see oma või kui ka mis tema ning olla poolt selle kes nii aga",
	"lv": "un ir uz ar no kas ka par vai viņa nav būt arī kā pie lai tiek savu",
	"lt": "ir kad į iš kaip su yra tai ar turi jo būti bei savo dėl arba už ne visi",
	"sw": "na ya wa kwa ni katika za ana kuwa au yake la cha hii kama si",
	"tl": "ang ng sa na mga at ay ito may hindi kanyang",
	"uk": "і в на з що не до та за як або це має від для її",
	"be": "і ў на не з што да як або гэта мае ад для",
	"bg": "и на в за да се от не с че по са е или при има тази както",
	"sr": "и у на се је да за од су или који не као по свако има бити",
	"mk": "и на во се да за од е со не или што има кој како",
	"ru": "и в не на что с по как это из для или он к от имеет а",
}

// invert makes a table of words.
func invert(lists map[string]string) map[string][]string {
	table := make(map[string][]string)
	for language, list := range lists {
		for word := range strings.FieldsSeq(list) {
			table[word] = append(table[word], language)
		}
	}
	return table
}
