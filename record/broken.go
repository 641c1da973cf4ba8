package record

import (
	"strconv"
	"strings"
)

// Broken is a URL that failed, or that was answered with a status of 4xx or 5xx, and where it was
// found. URLs that are not to be fetched, by robots.txt or by the user, are not broken, nor those
// of an overloaded host, which Summary.GivenUp lists.
type Broken struct {
	URL       string `json:"url"`
	From      string `json:"from,omitempty"` // as in Record
	Status    int    `json:"status,omitempty"`
	ErrorKind string `json:"error_kind,omitempty"`
	Error     string `json:"error,omitempty"`
}

// Outcome is the kind of error, or else the status.
func (b *Broken) Outcome() string {
	if b.ErrorKind != "" {
		return b.ErrorKind
	}
	return strconv.Itoa(b.Status)
}

const (
	maxAlike   = 10  // broken URLs of one outcome in a summary
	maxBroken  = 100 // of all
	maxInError = 200 // bytes of an error there: the Web chooses some
)

// IsBroken reports whether the URL failed, or was answered with an error.
func (r *Record) IsBroken() bool {
	switch r.ErrorKind {
	case "":
		return r.Status >= 400
	case KindRobots, KindExcluded, KindRefused, KindOverloaded, KindNothingNew:
		return false
	}
	return true
}

// broken keeps r if it is one of the first of its outcome.
func (s *Summary) broken(r *Record) {
	if !r.IsBroken() || len(s.Broken) == maxBroken {
		return
	}
	b := Broken{r.URL, r.From, r.Status, r.ErrorKind, cut(r.Error)}
	alike := 0
	for i := range s.Broken {
		if s.Broken[i].Outcome() == b.Outcome() {
			alike++
		}
	}
	if alike < maxAlike {
		s.Broken = append(s.Broken, b)
	}
}

// cut returns the beginning of an error.
func cut(text string) string {
	return strings.ToValidUTF8(text[:min(len(text), maxInError)], "")
}

// Answered returns how many URLs were answered with a status from one to another.
func (s *Summary) Answered(from, to int) int {
	n := 0
	for status, c := range s.Statuses {
		if from <= status && status <= to {
			n += c.URLs
		}
	}
	return n
}
