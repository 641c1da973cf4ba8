package diff

import (
	"cmp"
	"slices"
	"strings"

	"github.com/cespare/xxhash/v2"
	"github.com/weftcrawl/weft/content"
)

// draft is a detail, with what is looked up when the whole site has been read. Numbers are hashes.
type draft struct {
	Detail
	Place   uint64   `json:"place"`
	Figures []figure `json:"figures,omitempty"` // that differ; none: other words differ, too
	OldText uint64   `json:"old_text,omitempty"`
	NewText uint64   `json:"new_text,omitempty"`
	Sign    uint64   `json:"sign"` // the same for the same difference on another page
}

// figure is a run of words of a text that differs, while the words around it do not.
type figure struct {
	Context uint64 `json:"context"`
	Old     string `json:"old"`
	New     string `json:"new"`
	Stamp   bool   `json:"stamp,omitempty"` // both say when, or are tokens; others are numbers
	Around  string `json:"around,omitempty"`
}

// pair hashes what it was and is.
func (f *figure) pair() uint64 { return xxhash.Sum64String(f.Old + "\x00" + f.New) }

// sign is the same for the same difference on another page.
func (f *figure) sign() uint64 { return f.Context ^ f.pair() }

// matching compares the facts of a page.
type matching struct {
	removed, added []*fact // that have no match yet; nil: it was found
	drafts         []draft
}

// match compares two pages.
func match(old, new *facts) []draft {
	m := &matching{}
	m.unmatched(old, new)
	if len(m.removed)+len(m.added) == 0 {
		return nil
	}
	m.alike(func(a, b *fact) bool { return a.place == b.place }, 0)
	m.alike(func(a, b *fact) bool { return true }, 1)
	m.single()
	m.similar()
	m.left()
	slices.SortStableFunc(m.drafts, func(a, b draft) int { return cmp.Compare(rank[a.Field], rank[b.Field]) })
	return m.drafts
}

// unmatched finds the facts that the other side has not, as often.
func (m *matching) unmatched(old, new *facts) {
	left := make(map[uint64]int, len(new.all))
	for i := range new.all {
		left[new.all[i].hash()]++
	}
	for i := range old.all {
		if hash := old.all[i].hash(); left[hash] > 0 {
			left[hash]--
		} else {
			m.removed = append(m.removed, &old.all[i])
		}
	}
	// Of the same facts, the last ones are new.
	for i := len(new.all) - 1; i >= 0; i-- {
		if hash := new.all[i].hash(); left[hash] > 0 {
			left[hash]--
			m.added = append(m.added, &new.all[i])
		}
	}
	slices.Reverse(m.added)
}

// shapeOfFact is a fact without its figures; false: it has none.
func shapeOfFact(f *fact) (string, bool) {
	if f.field == Link || f.field == Image {
		shape, parts := shapeOfURL(f.text)
		return shape, len(parts) > 0
	}
	all := figuresOf(f.text)
	return all.String(), len(all.runs) > 0
}

// alike pairs facts of a field that differ by figures alone.
func (m *matching) alike(fit func(a, b *fact) bool, pass int) {
	type key struct {
		field Field
		name  string
		shape string
		place uint64
	}
	keyOf := func(f *fact) (key, bool) {
		shape, some := shapeOfFact(f)
		k := key{f.field, f.name, shape, f.place}
		if pass > 0 {
			k.place = 0
		}
		return k, some && f.field != Body && (pass == 0 || strings.Trim(shape, blank+" ") != "")
	}
	waiting := make(map[key][]int)
	for i, f := range m.added {
		if f == nil {
			continue
		}
		if k, ok := keyOf(f); ok {
			waiting[k] = append(waiting[k], i)
		}
	}
	for i, f := range m.removed {
		if f == nil {
			continue
		}
		k, ok := keyOf(f)
		if !ok || len(waiting[k]) == 0 {
			continue
		}
		j := waiting[k][0]
		waiting[k] = waiting[k][1:]
		m.pair(i, j)
	}
}

// single pairs what a page has once: facts of a field with a name.
func (m *matching) single() {
	type key struct {
		field Field
		name  string
	}
	added := make(map[key][]int)
	for i, f := range m.added {
		if f != nil && isNamed(f.field) {
			k := key{f.field, f.name}
			added[k] = append(added[k], i)
		}
	}
	for i, f := range m.removed {
		if f == nil {
			continue
		}
		if k := (key{f.field, f.name}); len(added[k]) > 0 {
			j := added[k][0]
			added[k] = added[k][1:]
			m.pair(i, j)
		}
	}
}

// isNamed reports whether facts of a field are known by their names.
func isNamed(f Field) bool {
	switch f {
	case Text, Heading, Link, Image, Robots:
		return false
	}
	return true
}

// mostPairs bounds the pairs of texts that are compared to find the similar ones.
const mostPairs = 40_000

// similar pairs blocks that have many words in common, the most similar first: those at the same
// place, what has one block there, and then those anywhere.
func (m *matching) similar() {
	m.likely(func(a, b *fact, score float64) bool { return a.place == b.place && score >= 0.4 })
	m.inPlace()
	m.likely(func(a, b *fact, score float64) bool {
		return score >= 0.6 && len(a.text) > shortText && len(b.text) > shortText
	})
}

// shortText is a length, in bytes, up to which texts at different places are similar by chance.
const shortText = 20

func (m *matching) likely(fit func(a, b *fact, score float64) bool) {
	removed, added := m.blocks(m.removed), m.blocks(m.added)
	if len(removed)*len(added) > mostPairs {
		return
	}
	type candidate struct {
		i, j  int
		score float64
	}
	var all []candidate
	words := make([]map[string]int, len(added))
	for k, j := range added {
		words[k] = bagOf(m.added[j].text)
	}
	for _, i := range removed {
		bag := bagOf(m.removed[i].text)
		for k, j := range added {
			if score := likeness(bag, words[k]); fit(m.removed[i], m.added[j], score) {
				all = append(all, candidate{i, j, score})
			}
		}
	}
	slices.SortStableFunc(all, func(a, b candidate) int { return cmp.Compare(b.score, a.score) })
	for _, c := range all {
		if m.removed[c.i] != nil && m.added[c.j] != nil {
			m.pair(c.i, c.j)
		}
	}
}

// inPlace pairs blocks where one stood and another stands, and no third.
func (m *matching) inPlace() {
	at := func(facts []*fact) map[uint64][]int {
		places := make(map[uint64][]int)
		for _, i := range m.blocks(facts) {
			places[facts[i].place] = append(places[facts[i].place], i)
		}
		return places
	}
	added := at(m.added)
	removed := at(m.removed)
	for _, i := range m.blocks(m.removed) {
		place := m.removed[i].place
		if len(removed[place]) == 1 && len(added[place]) == 1 {
			m.pair(i, added[place][0])
		}
	}
}

// blocks returns the places of blocks in a list.
func (m *matching) blocks(facts []*fact) (all []int) {
	for i, f := range facts {
		if f != nil && (f.field == Text || f.field == Heading) {
			all = append(all, i)
		}
	}
	return all
}

// bagOf counts the words of a text, at most maxWords.
func bagOf(text string) map[string]int {
	bag := make(map[string]int)
	n := 0
	for word := range strings.FieldsSeq(text) {
		if n++; n > maxWords {
			break
		}
		bag[word]++
	}
	return bag
}

// likeness is the share of words that two texts have in common, 0 to 1.
func likeness(a, b map[string]int) float64 {
	if len(a) > len(b) {
		a, b = b, a
	}
	common, all := 0, 0
	for word, n := range a {
		common += min(n, b[word])
	}
	for _, n := range a {
		all += n
	}
	for _, n := range b {
		all += n
	}
	return 2 * float64(common) / float64(max(all, 1))
}

// pair makes a detail of two facts.
func (m *matching) pair(i, j int) {
	old, new := m.removed[i], m.added[j]
	m.removed[i], m.added[j] = nil, nil
	if old.text == new.text { // a heading that has become a paragraph
		return
	}
	d := draft{Detail: Detail{Field: new.field, Name: new.name, Old: old.text, New: new.text, Path: pathOf(new)}, Place: old.place}
	d.OldText, d.NewText = textAt(old), textAt(new)
	d.figures(old, new)
	if hasWords(new.field) {
		d.Words = wordsOf(old.text, new.text)
	}
	d.Sign = d.sign()
	m.drafts = append(m.drafts, d)
}

// hasWords reports whether the facts of a field are texts for people.
func hasWords(f Field) bool {
	return f == Text || f == Heading || f == Title || f == Description
}

// figures notes which figures differ, if nothing else does.
func (d *draft) figures(old, new *fact) {
	if new.field == Body || new.field == Data && isPrice(new.name) {
		return
	}
	if new.field == Link || new.field == Image {
		shapeA, a := shapeOfURL(old.text)
		shapeB, b := shapeOfURL(new.text)
		if shapeA != shapeB || len(a) != len(b) {
			return
		}
		one := figure{Context: contextOfURL(new.field, shapeB), Old: old.text, New: new.text, Stamp: true}
		for i := range a {
			one.Stamp = one.Stamp && (a[i] == b[i] || isStamp(b[i]))
		}
		d.Figures = []figure{one}
		return
	}
	a, b := figuresOf(old.text), figuresOf(new.text)
	if a.String() != b.String() {
		if isShuffled(old.text, new.text) {
			d.Figures = []figure{{Context: contextOfOrder(new.place), Old: cutText(old.text), New: cutText(new.text), Stamp: true}}
		}
		return
	}
	for i := range a.runs {
		if a.runs[i] == b.runs[i] {
			continue
		}
		if a.isMoney(i) || b.isMoney(i) {
			d.Figures = nil
			return
		}
		d.Figures = append(d.Figures, figure{
			Context: b.context(placeOf(new.field, new.name), new.place, i),
			Old:     cutText(a.runs[i]), New: cutText(b.runs[i]), Stamp: isStamp(a.runs[i]) && isStamp(b.runs[i]), Around: b.around(i),
		})
	}
}

// isShuffled reports whether two texts have the same words in another order.
func isShuffled(a, b string) bool {
	if len(a) != len(b) {
		return false
	}
	all, others := strings.Fields(a), strings.Fields(b)
	slices.Sort(all)
	slices.Sort(others)
	return slices.Equal(all, others)
}

// sign hashes the difference: the words that differ, or all.
func (d *draft) sign() uint64 {
	var sum xxhash.Digest
	sum.Reset()
	write := func(parts ...string) {
		for _, part := range parts {
			sum.WriteString(part)
			sum.WriteString("\x00")
		}
	}
	write(string(d.Field), d.Name)
	if d.Words == nil {
		write(d.Old, d.New)
		return sum.Sum64()
	}
	some := false
	for _, w := range d.Words { // figures besides, which may churn, do not count
		if w.Op == Same {
			continue
		}
		for word := range strings.FieldsSeq(w.Text) {
			if !isFigure(word) {
				write(string(w.Op), word)
				some = true
			}
		}
	}
	if !some {
		write(d.Old, d.New)
	}
	return sum.Sum64()
}

// left makes details of the facts without a match.
func (m *matching) left() {
	for _, f := range m.removed {
		if f != nil {
			d := draft{Detail: Detail{Field: f.field, Name: f.name, Old: f.text, Path: pathOf(f)}, Place: f.place, OldText: textAt(f)}
			d.Sign = d.sign()
			m.drafts = append(m.drafts, d)
		}
	}
	for _, f := range m.added {
		if f != nil {
			d := draft{Detail: Detail{Field: f.field, Name: f.name, New: f.text, Path: pathOf(f)}, Place: f.place, NewText: textAt(f)}
			d.Sign = d.sign()
			m.drafts = append(m.drafts, d)
		}
	}
}

// pathOf names the element of a block.
func pathOf(f *fact) string {
	if f.node == nil || f.field == Link || f.field == Image {
		return ""
	}
	path := strings.TrimPrefix(content.Path(f.node), "body/")
	if len(path) > 200 {
		path = "…" + strings.ToValidUTF8(path[len(path)-200:], "")
	}
	return path
}

// rank orders the details of a page.
var rank = map[Field]int{
	Status: 0, Redirect: 1, Title: 2, Description: 3, Language: 4, Canonical: 5, Robots: 6, Header: 7, Alternate: 8,
	Heading: 9, Text: 10, Link: 11, Image: 12, Data: 13, Body: 14,
}

// cut shortens the two sides of a detail.
func (d *Detail) cut() {
	d.Old, d.New = cutText(d.Old), cutText(d.New)
	size := 0
	for i := range d.Words {
		size += len(d.Words[i].Text)
	}
	if size <= MaxText {
		return
	}
	// Equal words are shown only next to words that differ.
	size = 0
	for i := range d.Words {
		w := &d.Words[i]
		if w.Op == Same {
			w.Text = around(w.Text, i > 0, i < len(d.Words)-1)
		}
		if size += len(w.Text); size > MaxText {
			w.Text = cutText(w.Text[:max(0, len(w.Text)-size+MaxText)])
			d.Words = d.Words[:i+1]
			break
		}
	}
}

// around leaves ten words at the beginning of a text, at its end, or both.
func around(text string, first, last bool) string {
	const most = 10
	words := strings.Fields(text)
	switch {
	case len(words) <= 2*most:
		return text
	case !first:
		return "… " + strings.Join(words[len(words)-most:], " ")
	case !last:
		return strings.Join(words[:most], " ") + " …"
	}
	return strings.Join(words[:most], " ") + " … " + strings.Join(words[len(words)-most:], " ")
}
