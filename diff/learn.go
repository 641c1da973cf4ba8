package diff

import (
	"slices"

	"github.com/cespare/xxhash/v2"
)

// Numbers of pages by which a site is judged.
const (
	fewestChurn    = 3 // pages on which a figure differs
	fewestRotation = 3 // pages on which a text was replaced
	fewestShared   = 5 // pages that have the same difference
)

// maxSample is the most hashes that are remembered of the pages of a site: 32 MB.
const maxSample = 4 << 20

// sighting is the part of a page that is remembered until its site has been read, as hashes.
type sighting struct {
	url      uint64
	folder   uint64
	contexts []uint64 // of its figures, each once
	places   []uint64 // of its blocks and links, each once
	old, new []uint64 // these, with their places
	marks    []mark
}

// mark is a draft of a sighting.
type mark struct {
	field    Field
	place    uint64
	figures  []markedFigure
	old, new uint64 // texts at the place
	sign     uint64
}

type markedFigure struct {
	context, pair, sign uint64
	stamp               bool
}

// sightingOf remembers a page; old is nil if both sides are the same.
func sightingOf(url string, old, new *facts, drafts []draft) *sighting {
	s := &sighting{url: xxhash.Sum64String(url), folder: folderOf(url)}
	for _, f := range []*facts{old, new} {
		if f == nil {
			continue
		}
		for i := range f.all {
			one := &f.all[i]
			one.contexts(func(context, _ uint64) { s.contexts = append(s.contexts, context) })
			if !rotates(one.field) {
				continue
			}
			s.places = append(s.places, one.place)
			if f == old {
				s.old = append(s.old, textAt(one))
			} else {
				s.new = append(s.new, textAt(one))
			}
		}
	}
	s.contexts, s.places, s.old, s.new = once(s.contexts), once(s.places), once(s.old), once(s.new)
	for i := range drafts {
		d := &drafts[i]
		m := mark{field: d.Field, place: d.Place, old: d.OldText, new: d.NewText, sign: d.Sign}
		for k := range d.Figures {
			f := &d.Figures[k]
			m.figures = append(m.figures, markedFigure{f.Context, f.pair(), f.sign(), f.Stamp})
		}
		s.marks = append(s.marks, m)
	}
	return s
}

func (s *sighting) size() int {
	return len(s.contexts) + len(s.places) + len(s.old) + len(s.new) + 8*len(s.marks) + 16
}

func once(all []uint64) []uint64 {
	slices.Sort(all)
	return slices.Clip(slices.Compact(all))
}

// rotates reports whether facts of a field may change places among pages.
func rotates(f Field) bool { return f == Text || f == Heading || f == Link || f == Image }

// folderOf hashes a URL up to the last part of its path.
func folderOf(url string) uint64 {
	end := len(url)
	for i := range len(url) {
		if url[i] == '?' || url[i] == '#' {
			end = i
			break
		}
	}
	for end > 0 && url[end-1] != '/' {
		end--
	}
	return xxhash.Sum64String(url[:end])
}

// sample is the pages of a site that are remembered: those whose URLs have the lowest hashes.
type sample struct {
	all  []*sighting
	most uint64 // hash of a URL; 0: any
	size int
}

func (s *sample) wants(url string) bool { return s.most == 0 || xxhash.Sum64String(url) < s.most }

func (s *sample) add(one *sighting) {
	s.all = append(s.all, one)
	for s.size += one.size(); s.size > maxSample && len(s.all) > 1; {
		slices.SortFunc(s.all, func(a, b *sighting) int {
			if a.url < b.url {
				return -1
			}
			return 1
		})
		half := len(s.all) / 2
		s.most = s.all[half].url
		s.all = slices.Delete(s.all, half, len(s.all))
		s.size = 0
		for _, one := range s.all {
			s.size += one.size()
		}
	}
}

// tally counts pages.
type tally struct {
	pages  int    // on which it differs
	has    int    // that have it
	pair   uint64 // the old and the new text of the first
	varies bool   // there are others
	stamps bool
}

// lesson is the knowledge of a site.
type lesson struct {
	churn    map[uint64]*tally // contexts
	rotation map[uint64]*tally // places
	texts    map[uint64]int    // pages that have a text, in places of rotation, on either side
	shared   map[uint64]int    // signs
}

// learn looks for candidates.
func learn(s *sample) *lesson {
	l := &lesson{make(map[uint64]*tally), make(map[uint64]*tally), make(map[uint64]int), make(map[uint64]int)}
	for _, page := range s.all {
		met := make(map[uint64]bool)
		for i := range page.marks {
			m := &page.marks[i]
			for _, f := range m.figures {
				count(l.churn, f.context, f.pair, f.stamp, met)
			}
			if len(m.figures) == 0 && rotates(m.field) {
				count(l.rotation, m.place, m.sign, false, met)
			}
		}
	}
	keepFrom(l.churn, fewestChurn)
	keepFrom(l.rotation, fewestRotation)
	for _, page := range s.all {
		l.see(page, 1)
	}
	return l
}

func count(all map[uint64]*tally, key, pair uint64, stamp bool, met map[uint64]bool) {
	t := all[key]
	if t == nil {
		t = &tally{pair: pair, stamps: stamp}
		all[key] = t
	}
	t.varies = t.varies || t.pair != pair
	t.stamps = t.stamps && stamp
	if !met[key] {
		t.pages++
	}
	met[key] = true
}

func keepFrom(all map[uint64]*tally, fewest int) {
	for key, t := range all {
		if t.pages < fewest {
			delete(all, key)
		}
	}
}

// isSure reports whether pages that have not changed would teach nothing.
func (l *lesson) isSure() bool { return len(l.churn)+len(l.rotation) == 0 }

// see counts a page that has candidates; times: it stands for so many.
func (l *lesson) see(page *sighting, times int) {
	for _, context := range page.contexts {
		if t := l.churn[context]; t != nil {
			t.has += times
		}
	}
	for _, place := range page.places {
		if t := l.rotation[place]; t != nil {
			t.has += times
		}
	}
}

// judge drops the candidates that are none.
func (l *lesson) judge(s *sample) {
	for context, t := range l.churn {
		// A number that has become the same other number everywhere is a change that pages share.
		same := !t.varies && !t.stamps && t.pages >= fewestShared
		if 2*t.pages < t.has || same {
			delete(l.churn, context)
		}
	}
	// Texts of a place rotate if both sides have the replaced ones somewhere.
	type sides struct{ old, new int }
	replaced := make(map[uint64]map[uint64]bool) // texts, by place
	seen := make(map[uint64]*sides)
	for _, page := range s.all {
		for i := range page.marks {
			m := &page.marks[i]
			if len(m.figures) > 0 || l.rotation[m.place] == nil {
				continue
			}
			if replaced[m.place] == nil {
				replaced[m.place] = make(map[uint64]bool)
			}
			for _, text := range []uint64{m.old, m.new} {
				if text != 0 {
					replaced[m.place][text] = true
					seen[text] = new(sides)
				}
			}
		}
	}
	for _, page := range s.all {
		for _, text := range page.old {
			if c := seen[text]; c != nil {
				c.old++
			}
		}
		for _, text := range page.new {
			if c := seen[text]; c != nil {
				c.new++
			}
		}
	}
	for place, t := range l.rotation {
		both := 0
		for text := range replaced[place] {
			if c := seen[text]; c.old > 0 && c.new > 0 {
				both++
			}
		}
		if 3*t.pages < t.has || 2*both < len(replaced[place]) {
			delete(l.rotation, place)
			continue
		}
		for text := range replaced[place] {
			l.texts[text] = seen[text].old + seen[text].new
		}
	}
}

// share finds those of the reported differences that several pages have.
func (l *lesson) share(s *sample) {
	for _, page := range s.all {
		met := make(map[uint64]bool)
		add := func(sign uint64) {
			if !met[sign] {
				l.shared[sign]++
			}
			met[sign] = true
		}
		for i := range page.marks {
			m := &page.marks[i]
			for _, f := range m.figures {
				if l.churn[f.context] == nil {
					add(f.sign)
				}
			}
			if len(m.figures) == 0 && !l.hasRotated(m.field, m.place, m.old, m.new) {
				add(m.sign)
			}
		}
	}
	for sign, n := range l.shared {
		if n < fewestShared {
			delete(l.shared, sign)
		}
	}
}

// hasRotated reports whether texts have changed places with those of other pages.
func (l *lesson) hasRotated(field Field, place, old, new uint64) bool {
	if l.rotation[place] == nil || !rotates(field) {
		return false
	}
	for _, text := range []uint64{old, new} {
		if text != 0 && l.texts[text] < 2 {
			return false
		}
	}
	return true
}

// isRotation is hasRotated for a detail.
func (l *lesson) isRotation(d *draft) bool {
	return len(d.Figures) == 0 && l.hasRotated(d.Field, d.Place, d.OldText, d.NewText)
}

// allShared reports whether pages share all of a detail.
func (l *lesson) allShared(d *draft) bool {
	for i := range d.Figures {
		if l.shared[d.Figures[i].sign()] == 0 {
			return false
		}
	}
	return len(d.Figures) > 0 || l.shared[d.Sign] > 0
}

// leaveFigures leaves figures out of a detail, and reports whether any is left.
func (d *draft) leaveFigures(out func(*figure) bool) bool {
	left := slices.DeleteFunc(slices.Clone(d.Figures), func(f figure) bool { return out(&f) })
	if len(left) == len(d.Figures) {
		return true
	}
	if d.Figures = left; len(left) == 0 {
		return false
	}
	if d.Words == nil {
		return true
	}
	// Words that are left out are equal on both sides.
	a, b := figuresOf(d.Old), figuresOf(d.New)
	if a.String() != b.String() {
		return true
	}
	for i := range a.runs {
		differs := slices.ContainsFunc(left, func(f figure) bool { return f.Old == a.runs[i] && f.New == b.runs[i] })
		if !differs {
			a.shape[a.at[i]] = b.runs[i]
		} else {
			a.shape[a.at[i]] = a.runs[i]
		}
	}
	d.Words = wordsOf(a.String(), d.New)
	return true
}
