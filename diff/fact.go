package diff

import (
	"encoding/binary"
	"strings"

	"github.com/cespare/xxhash/v2"
	"github.com/weftcrawl/weft/warc"
	"golang.org/x/net/html"
)

// mostFacts bounds the facts of a page that are compared.
const mostFacts = 50_000

// fact is something that a page says.
type fact struct {
	field Field
	name  string
	text  string
	place uint64     // of the field, with the name or the element that it stands in
	node  *html.Node // of a block; nil: none
}

// hash is the same for facts that say the same, wherever they stand.
func (f *fact) hash() uint64 {
	var d xxhash.Digest
	d.Reset()
	d.WriteString(string(f.field))
	d.WriteString("\x00")
	d.WriteString(f.name)
	d.WriteString("\x00")
	d.WriteString(f.text)
	return d.Sum64()
}

// facts are those of a page.
type facts struct {
	all   []fact
	title string
}

func (f *facts) add(field Field, name, text string) {
	f.addAt(fact{field: field, name: name, text: text, place: placeOf(field, name)})
}

func (f *facts) addAt(one fact) {
	if one.text != "" && len(f.all) < mostFacts {
		f.all = append(f.all, one)
	}
}

// response is a response as a side has kept it.
type response struct {
	header warc.Header // nil: it is not known
	body   []byte
}

// placeOf is the place of a fact that has no element.
func placeOf(field Field, name string) uint64 {
	return xxhash.Sum64String(string(field) + "\x00" + name)
}

// placeAt is the place of a fact in an element.
func placeAt(field Field, place uint64) uint64 {
	return xxhash.Sum64(binary.LittleEndian.AppendUint64([]byte(field), place))
}

// contexts yields the contexts of the figures of a fact, with these, hashed.
func (f *fact) contexts(yield func(context, run uint64)) {
	switch {
	case f.field == Body:
	case f.field == Link || f.field == Image:
		if shape, parts := shapeOfURL(f.text); len(parts) > 0 {
			yield(contextOfURL(f.field, shape), xxhash.Sum64String(f.text))
		}
	default:
		if f.field == Text {
			yield(contextOfOrder(f.place), xxhash.Sum64String(f.text))
		}
		all := figuresOf(f.text)
		for i := range all.runs {
			yield(all.context(placeOf(f.field, f.name), f.place, i), xxhash.Sum64String(all.runs[i]))
		}
	}
}

// contextOfOrder is that of the order of the words of texts at a place.
func contextOfOrder(place uint64) uint64 { return place ^ 0x9e3779b97f4a7c15 }

func contextOfURL(field Field, shape string) uint64 {
	return xxhash.Sum64String(string(field) + "\x00" + shape)
}

// textAt hashes a fact with its place.
func textAt(f *fact) uint64 {
	var d xxhash.Digest
	d.ResetWithSeed(f.place)
	d.WriteString(f.text)
	return d.Sum64()
}

// oneLine has its words parted by one blank.
func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }
