package login

import (
	"bytes"
	"net/http"
	"net/url"
	"slices"
	"strings"
)

// leastSecret is the least length of a value that is taken for a secret, in bytes.
const leastSecret = 8

// mostSet bounds the values of cookies that are remembered beside those of the file. A script may
// send one that the jar has no more, as others have come since its page began.
const mostSet = 1000

// secrets are in order, and none begins with another: a text that has one in it has that, too. As
// many as a file has are looked for at once.
type secrets []string

// newSecrets takes over the values.
func newSecrets(values []string) (all secrets) {
	slices.Sort(values)
	all = values[:0]
	for _, value := range values {
		if len(all) == 0 || !strings.HasPrefix(value, all[len(all)-1]) {
			all = append(all, value)
		}
	}
	return slices.Clip(all)
}

// in reports whether a text has one in it.
func (all secrets) in(text string) bool {
	for ; len(text) >= leastSecret; text = text[1:] {
		i, found := slices.BinarySearch(all, text)
		if found || i > 0 && strings.HasPrefix(text, all[i-1]) {
			return true
		}
	}
	return false
}

// secretsOf returns the values of cookies in a file, as scripts decode them, too, and what is
// between the quotes of stores: all of a value, JSON, or JSON within that, whose quotes have
// backslashes.
func secretsOf(text []byte, stores []Store) secrets {
	var all []string
	for line := range bytes.Lines(text) {
		if fields := strings.Split(strings.TrimRight(string(line), "\r\n"), "\t"); len(fields) == 7 {
			all = append(all, forms(fields[6])...)
		}
	}
	for _, store := range stores {
		for _, item := range store.Items {
			for part := range strings.FieldsFuncSeq(item[1], func(r rune) bool { return r == '"' || r == '\\' }) {
				if len(part) >= leastSecret {
					all = append(all, part)
				}
			}
		}
	}
	return newSecrets(all)
}

// forms returns the value of a cookie as scripts may send it.
func forms(value string) (all []string) {
	decoded, _ := url.PathUnescape(value)
	for _, form := range []string{value, decoded} {
		if len(form) >= leastSecret && !slices.Contains(all, form) {
			all = append(all, form)
		}
	}
	return all
}

// setCookie is a cookie that was set since the file was read.
type setCookie struct {
	site, name string
	forms      [2]string // of its value; empty: there is none
}

// remember takes in cookies that a site of the session has set. Of too many, one goes of which
// there is a newer value.
func (s *Session) remember(site string, all []*http.Cookie) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, c := range all {
		one := setCookie{site: site, name: c.Name}
		if copy(one.forms[:], forms(c.Value)) == 0 || slices.Contains(s.mu.set, one) {
			continue
		}
		if s.mu.set = append(s.mu.set, one); len(s.mu.set) > mostSet {
			i := replaced(s.mu.set)
			s.mu.set = slices.Delete(s.mu.set, i, i+1)
		}
	}
}

// replaced returns the first cookie of which there is a newer value, or the first of all.
func replaced(all []setCookie) int {
	for i, one := range all {
		if slices.ContainsFunc(all[i+1:], func(o setCookie) bool { return o.site == one.site && o.name == one.name }) {
			return i
		}
	}
	return 0
}

// Holds reports whether a text has a secret in it: a value of a cookie or a store of the file, or
// of a cookie that a site of the session has set since that was read.
func (s *Session) Holds(text string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	isIn := func(form string) bool { return form != "" && strings.Contains(text, form) }
	return s.mu.holds.in(text) || slices.ContainsFunc(s.mu.set, func(one setCookie) bool { return slices.ContainsFunc(one.forms[:], isIn) })
}
