package metrics

import (
	"bytes"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/weftcrawl/weft/inspect"
	"github.com/weftcrawl/weft/record"
)

// write writes the series of crawls, those without a value left out, and those of the process of
// their server; nil: it is none.
func write(b *bytes.Buffer, all []inspect.Figures, server *inspect.Figures) {
	for i := range table {
		s := &table[i]
		head := b.Len()
		b.WriteString("# HELP " + s.Name + " " + s.Help + "\n# TYPE " + s.Name + " " + string(s.Type) + "\n")
		began := b.Len()
		for j := range all {
			s.read(&all[j], writer{b, s.Name, nameOf(&all[j]), s.Label})
		}
		if server != nil && s.server {
			s.read(server, writer{b, s.Name, "", s.Label})
		}
		if b.Len() == began {
			b.Truncate(head)
		}
	}
}

// nameOf returns the name of a crawl: that of its folder.
func nameOf(f *inspect.Figures) string {
	if f.Job == "" {
		return ""
	}
	return filepath.Base(f.Job)
}

// writer writes the samples of a series of one crawl.
type writer struct {
	b                  *bytes.Buffer
	name, crawl, label string
}

// put writes the sample of a series without a label.
func (w writer) put(value float64) { w.line("", "", "", value) }

// by writes the sample of a label's value.
func (w writer) by(of string, value float64) { w.line("", w.label, of, value) }

// times writes the samples of durations.
func (w writer) times(t *record.Times) {
	var n int64
	for i, le := range record.TimeBounds() {
		n += t.Counts[i]
		w.line("_bucket", "le", number(le), float64(n))
	}
	n += t.Counts[len(t.Counts)-1]
	w.line("_bucket", "le", "+Inf", float64(n))
	w.line("_sum", "", "", t.Sum)
	w.line("_count", "", "", float64(n))
}

func (w writer) line(suffix, label, of string, value float64) {
	var labels []string
	if w.crawl != "" {
		labels = append(labels, `crawl="`+escape(w.crawl)+`"`)
	}
	if label != "" {
		labels = append(labels, label+`="`+escape(of)+`"`)
	}
	w.b.WriteString(w.name + suffix)
	if len(labels) > 0 {
		w.b.WriteString("{" + strings.Join(labels, ",") + "}")
	}
	w.b.WriteString(" " + number(value) + "\n")
}

func number(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }

var escaper = strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`)

// escape writes the value of a label: the name of a folder may have any bytes.
func escape(s string) string { return escaper.Replace(strings.ToValidUTF8(s, "\uFFFD")) }
