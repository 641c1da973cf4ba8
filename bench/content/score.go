package main

import "strings"

// score is the agreement of a text with the truth.
type score struct{ precision, recall, f1 float64 }

// measure compares a text with the truth as the benchmark of the document does: the article
// benchmark by bags of four tokens in a row, WCXB by bags of tokens in small letters.
func (d *document) measure(text []string) score {
	n := 4
	if d.kind != "" {
		n = 1
	}
	a, b := bag(text, n), bag(d.gold, n)
	var both, all, truth float64
	for key, count := range a {
		both += float64(min(count, b[key]))
		all += float64(count)
	}
	for _, count := range b {
		truth += float64(count)
	}
	switch {
	case all == 0 && truth == 0:
		return score{1, 1, 1}
	case both == 0:
		return score{}
	}
	p, r := both/all, both/truth
	return score{p, r, 2 * p * r / (p + r)}
}

func bag(tokens []string, n int) map[string]int {
	bag := make(map[string]int)
	for i := range max(1, len(tokens)-n+1) {
		if gram := tokens[i:min(i+n, len(tokens))]; len(gram) > 0 {
			bag[strings.Join(gram, " ")]++
		}
	}
	return bag
}

// total adds up scores. The article benchmark leaves pages out of the mean of precision where
// nothing was found, and has the F1 of both means; WCXB has the mean of each page's F1.
type total struct {
	pages, found float64
	sum          score
	articles     bool
}

func (t *total) add(d *document, text []string) {
	s := d.measure(text)
	t.articles = d.kind == ""
	t.pages++
	if len(text) > 0 {
		t.found++
	}
	t.sum.precision += s.precision
	t.sum.recall += s.recall
	t.sum.f1 += s.f1
}

func (t total) mean() score {
	if t.pages == 0 {
		return score{}
	}
	m := score{t.sum.precision / t.pages, t.sum.recall / t.pages, t.sum.f1 / t.pages}
	if t.articles {
		m.precision = t.sum.precision / t.found
		m.f1 = 2 * m.precision * m.recall / (m.precision + m.recall)
	}
	return m
}
