package charset

import (
	"bytes"
	"sync"
	"unicode"
	"unicode/utf8"
)

// detect returns the encoding of a body that does not declare one. For bytes beyond ASCII it finds
// the encoding and language in which they are the most probable text: a model of each language
// says how probable its characters are after each other.
func detect(body []byte) (*Encoding, Source) {
	if e := detectUTF16(body); e != nil {
		return e, Detected
	}
	n := asciiPrefix(body)
	if n == len(body) {
		if iso := encodings["iso-2022-jp"]; isISO2022JP(iso, body) {
			return iso, Detected
		}
		return windows1252, Default
	}
	if utf8.Valid(body[n:]) || mostlyUTF8(body[n:]) {
		return utf8Encoding, Detected
	}
	if e := probable(sample(body[max(0, n-1):])); e != nil {
		return e, Detected
	}
	return windows1252, Default
}

// looked bounds the part of a body that detection reads, in bytes.
const looked = 64 << 10

// detectUTF16 goes by NUL bytes, which no other encoding has: those of ASCII, and of spaces in
// any script, are all at even or all at odd offsets. It returns nil for any other body.
func detectUTF16(body []byte) *Encoding {
	b := body[:min(len(body), 4096)&^1]
	if bytes.IndexByte(b, 0) < 0 {
		return nil
	}
	var zeros [2]int
	for i, c := range b {
		if c == 0 {
			zeros[i&1]++
		}
	}
	e, most, fewest := utf16LE, zeros[1], zeros[0]
	if zeros[0] > zeros[1] {
		e, most, fewest = utf16BE, zeros[0], zeros[1]
	}
	if most*16 < len(b)/2 || fewest*16 > most {
		return nil
	}
	text := e.decode(nil, b)
	if bytes.ContainsFunc(text, func(r rune) bool {
		return r == utf8.RuneError || r < ' ' && r != '\n' && r != '\r' && r != '\t' && r != '\f'
	}) {
		return nil
	}
	return e
}

func isISO2022JP(iso *Encoding, body []byte) bool {
	body = body[:min(len(body), looked)]
	if !bytes.Contains(body, []byte("\x1b$")) {
		return false
	}
	text := iso.decode(nil, body)
	return bytes.Count(text, []byte("\ufffd")) <= 1 // the last character may be cut
}

// mostlyUTF8 reports whether b is UTF-8 except for a few bytes or a cut end.
func mostlyUTF8(b []byte) bool {
	good, bad := 0, 0
	for b = b[:min(len(b), looked)]; len(b) > 0; {
		if n := asciiPrefix(b); n > 0 {
			b = b[n:]
			continue
		}
		if !utf8.FullRune(b) {
			break // it is cut
		}
		r, n := utf8.DecodeRune(b)
		if r != utf8.RuneError || n > 1 {
			good++
		} else if bad++; bad > 8 && bad > good {
			return false
		}
		b = b[n:]
	}
	return good >= 2 && bad*20 <= good
}

// sampled bounds the bytes beyond ASCII in a sample.
const sampled = 1024

// sample returns the first bytes of b beyond ASCII with the ASCII bytes next to them.
func sample(b []byte) []byte {
	b = b[:min(len(b), looked)]
	s := make([]byte, 0, min(len(b), 3*sampled))
	n := 0
	for i, c := range b {
		switch {
		case c >= utf8.RuneSelf:
			if n++; n > sampled {
				return s
			}
			s = append(s, c)
		case i > 0 && b[i-1] >= utf8.RuneSelf, i+1 < len(b) && b[i+1] >= utf8.RuneSelf:
			s = append(s, c)
		}
	}
	return s
}

// A candidate is an encoding and the languages that were written in it.
type candidate struct {
	name string
	// prior is the cost of being rare, in eighths of a bit. It decides where there is little
	// evidence.
	prior     int
	languages []string
}

var (
	western  = []string{"en", "fr", "de", "es", "pt", "it", "nl", "da", "sv", "nb", "fi", "is", "ca"}
	central  = []string{"cs", "sk", "pl", "hu", "sl", "hr", "ro"}
	baltic   = []string{"lt", "lv", "et"}
	cyrillic = []string{"ru", "uk", "bg", "sr", "be", "mk"}
)

// candidates are in order: the first wins a tie.
var candidates = []candidate{
	{"windows-1252", 0, western},
	{"windows-1251", 40, cyrillic},
	{"gbk", 64, []string{"zh_CN"}},
	{"shift_jis", 64, []string{"ja"}},
	{"euc-jp", 68, []string{"ja"}},
	{"euc-kr", 64, []string{"ko"}},
	{"big5", 64, []string{"zh_TW"}},
	{"windows-1250", 24, central},
	{"iso-8859-2", 28, central},
	{"windows-1254", 24, []string{"tr"}},
	{"windows-1253", 48, []string{"el"}},
	{"iso-8859-7", 52, []string{"el"}},
	{"windows-1255", 48, []string{"he"}},
	{"windows-1256", 48, []string{"ar", "fa"}},
	{"iso-8859-6", 64, []string{"ar"}},
	{"windows-874", 56, []string{"th"}},
	{"windows-1257", 24, baltic},
	{"iso-8859-13", 40, baltic},
	{"iso-8859-4", 56, baltic},
	{"windows-1258", 40, []string{"vi"}},
	{"koi8-r", 48, []string{"ru", "bg"}},
	{"koi8-u", 60, []string{"uk"}},
	{"iso-8859-5", 64, cyrillic},
	{"ibm866", 64, []string{"ru", "be"}},
	{"x-mac-cyrillic", 80, []string{"ru"}},
}

func isWords(language string) bool {
	return language == "zh_CN" || language == "zh_TW" || language == "ja" || language == "ko"
}

// A scorer rates bytes as text in one encoding and language.
type scorer struct {
	encoding *Encoding
	prior    int
	words    *wordModel
	letters  *letterModel
	classes  [256]uint8 // of letters: the class of each byte
	cases    [256]uint8 // the case of each byte
	extra    [256]uint8 // the additional cost of each byte
}

const (
	caseless = iota
	lowerCase
	upperCase
)

// In eighths of a bit.
const (
	costSenseless   = 88  // a byte of data that is no text
	costFew         = 64  // divided by the bytes beyond ASCII: one alone is likely foreign, or a sign
	costUndefined   = 160 // a byte that is no character, or a control character
	costMalformed   = 240 // bytes that form no character
	costPunctuation = 32  // one of about 16
	costLetter      = 38  // one of 26
	costOther       = 48  // one of about 64
	costEnter       = 40  // from ASCII to a character of many bytes, and back
)

// costCase is the cost of a letter's case after the case of the letter before: within words nearly
// all letters are lower case, or all upper.
var costCase = [3][3]int{
	caseless:  {lowerCase: 4, upperCase: 14},
	lowerCase: {lowerCase: 1, upperCase: 64},
	upperCase: {lowerCase: 6, upperCase: 10},
}

var scorers = sync.OnceValue(func() []*scorer {
	letters, words := models()
	var all []*scorer
	for _, c := range candidates {
		for _, language := range c.languages {
			s := &scorer{encoding: encodings[c.name], prior: c.prior, words: words[language], letters: letters[language]}
			if s.letters != nil {
				s.tabulate()
			}
			all = append(all, s)
		}
	}
	return all
})

func (s *scorer) tabulate() {
	for i := range 256 {
		r, _ := utf8.DecodeRune(s.encoding.decode(nil, []byte{byte(i)}))
		s.classes[i] = s.letters.class(r)
		switch {
		case unicode.IsLower(r):
			s.cases[i] = lowerCase
		case unicode.IsUpper(r):
			s.cases[i] = upperCase
		}
		switch {
		case i < utf8.RuneSelf:
			if s.classes[i] == classASCII && !s.letters.latin {
				s.extra[i] = costLetter
			}
		case r == utf8.RuneError, unicode.IsControl(r):
			s.extra[i] = costUndefined
		case s.classes[i] == classPunctuation:
			s.extra[i] = costPunctuation
		case s.classes[i] == classOther:
			s.extra[i] = costOther
		}
	}
}

// probable returns the encoding in which a sample is the most probable, nil if it is text in
// none.
func probable(sample []byte) *Encoding {
	n := 0
	for _, b := range sample {
		n += int(b >> 7)
	}
	var text []byte
	var best *Encoding
	least := costSenseless * len(sample)
	for _, s := range scorers() {
		prior := s.prior
		if s.encoding != windows1252 {
			prior += costFew / n
		}
		var cost int
		if s.words != nil {
			text = s.encoding.decode(text[:0], sample)
			cost = prior + s.costWords(text, least-prior)
		} else {
			cost = prior + s.costLetters(sample, least-prior)
		}
		if cost < least {
			best, least = s.encoding, cost
		}
	}
	return best
}

// costLetters returns how many eighths of a bit it takes to write a sample. It may stop counting
// beyond most.
func (s *scorer) costLetters(sample []byte, most int) int {
	cost := 0
	before := byte(' ')
	for _, b := range sample {
		if b >= utf8.RuneSelf || before >= utf8.RuneSelf {
			cost += int(s.letters.bits[int(s.classes[before])*s.letters.n+int(s.classes[b])]) +
				int(s.extra[b]) + costCase[s.cases[before]][s.cases[b]]
			if cost >= most {
				return cost
			}
		}
		before = b
	}
	return cost
}

// costWords does the same for the text of a sample.
func (s *scorer) costWords(text []byte, most int) int {
	if len(text) >= sampled {
		text = bytes.TrimSuffix(text, []byte("\ufffd")) // a sample may end within a character
	}
	cost := 0
	ascii := true
	for _, r := range string(text) {
		switch {
		case r < utf8.RuneSelf:
			if !ascii {
				cost += costEnter
			}
			ascii = true
			continue
		case r == utf8.RuneError:
			cost += costMalformed
		case unicode.Is(unicode.Co, r), unicode.IsControl(r):
			cost += costUndefined
		default:
			bits, ok := s.words.bits[r]
			if !ok {
				bits = s.words.rare
			}
			cost += int(bits)
		}
		if ascii {
			cost += costEnter
		}
		if ascii = false; cost >= most {
			return cost
		}
	}
	return cost
}
