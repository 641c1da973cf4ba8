package blocklist

import "strings"

// rule is a block rule or an exception. There may be a million of them.
type rule struct {
	line      string // as in the list
	pattern   string // in lower case unless matchCase is set, without anchors
	domains   *domains
	types     typeSet
	anchors   anchors
	party     party
	matchCase bool
}

// anchors are the places in a URL to which a pattern is tied.
type anchors uint8

const (
	atStart  anchors = 1 << iota // at the beginning
	atDomain                     // at the host, or at a domain within it
	atHost                       // at the host
	atEnd                        // up to the end
)

// setPattern sets pattern and anchors from the text of a filter.
func (r *rule) setPattern(text string) (ok bool) {
	if rest, found := strings.CutPrefix(text, "||"); found {
		r.anchors, text = atDomain, rest
	} else if rest, found := strings.CutPrefix(text, "|"); found {
		r.anchors, text = atStart, rest
	}
	if rest, found := strings.CutSuffix(text, "|"); found {
		r.anchors, text = r.anchors|atEnd, rest
	}
	if r.anchors&(atStart|atDomain) == 0 {
		text = strings.TrimLeft(text, "*")
	}
	if r.anchors&atEnd == 0 {
		text = strings.TrimRight(text, "*")
	}
	if !r.matchCase {
		text = lower(text)
	}
	if r.anchors&atDomain != 0 && hostEnd(text) > 0 {
		end := hostEnd(text)
		host, ok := canonicalHost(text[:end])
		if !ok {
			return false
		}
		if host != text[:end] { // otherwise the pattern stays a part of the list
			text = host + text[end:]
		}
	}
	r.pattern = text
	return true
}

// matches reports whether a rule is for a request.
func (r *rule) matches(q *query) bool {
	return r.types&q.typ != 0 && r.matchesURL(q) && r.matchesPage(q)
}

func (r *rule) matchesPage(q *query) bool {
	return (r.domains == nil || r.domains.include(q.page.Hostname())) &&
		(r.party == anyParty || r.party == q.party())
}

func (r *rule) matchesURL(q *query) bool {
	text, toEnd := q.lower, r.anchors&atEnd != 0
	if r.matchCase {
		text = q.text
	}
	switch {
	case r.anchors&atStart != 0:
		return matchesAt(r.pattern, text, 0, toEnd)
	case r.anchors&atHost != 0:
		return matchesAt(r.pattern, text, q.hostAt, toEnd)
	case r.anchors&atDomain == 0:
		return matchesWithin(r.pattern, text, 0, toEnd)
	}
	for at := q.hostAt; at < q.hostEnd; at++ {
		if (at == q.hostAt || text[at-1] == '.') && matchesAt(r.pattern, text, at, toEnd) {
			return true
		}
	}
	return false
}
