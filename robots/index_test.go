package robots

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

// alone returns the rules without their index, which are compared one by one.
func (r Rules) alone() Rules {
	r.index = nil
	return r
}

// FuzzIndex: with an index, every target has the verdict that it has without, or takes too long to
// decide. The seed makes rules and targets that match now and then.
func FuzzIndex(f *testing.F) {
	for seed := range uint64(50) {
		f.Add(seed, "/a%7Eb?c")
	}
	f.Fuzz(func(t *testing.T, seed uint64, target string) {
		rnd := rand.New(rand.NewPCG(seed, 0))
		word := func(letters string, most int) string {
			var b strings.Builder
			for range rnd.IntN(most) {
				b.WriteByte(letters[rnd.IntN(len(letters))])
			}
			return strings.NewReplacer("e", "%7E", "f", "%7e", "g", "%2f", "h", "é").Replace(b.String())
		}
		letters := []string{"ab/*", "abcefgh/?~***$", "abcd/efgh~", "a*"}[rnd.IntN(4)]
		var file strings.Builder
		file.WriteString("User-agent: *\n")
		for range fewRules + 1 + rnd.IntN(300) {
			kind := []string{"Allow", "Disallow", "Disallow"}[rnd.IntN(3)]
			end := []string{"", "", "$", "*", "*$", "**"}[rnd.IntN(6)]
			fmt.Fprintf(&file, "%s: /%s%s\n", kind, word(letters, 12), end)
		}
		r := Parse([]byte(file.String())).Agent("weft")
		if r.index == nil {
			t.Fatal("no index")
		}
		targets := []string{target}
		for range 30 {
			targets = append(targets, "/"+word(strings.NewReplacer("*", "", "$", "").Replace(letters)+"x", 20))
		}
		for _, target := range targets {
			if got, want := r.Test(target), r.alone().Test(target); got != want && !got.Undecided() {
				t.Errorf("%q: %+v, alone %+v, of\n%s", target, got, want, &file)
			}
		}
	})
}

// compared counts the rules that are compared with a target.
func compared(r Rules, target string) int {
	n := 0
	for _, form := range []variant{literalTarget, normalTarget} {
		marks := make([]uint64, len(r.index.wild)/64+1)
		r.index.mark(target, marks)
		for i, v := range r.index.wild {
			if marks[i/64]>>(i%64)&1 != 0 && v.forms()&form != 0 {
				n++
			}
		}
		if r.index.forms == 0 {
			break
		}
	}
	return n
}

// TestFewAreCompared: of thousands of rules, few are compared with a target.
func TestFewAreCompared(t *testing.T) {
	file := func(format string) Rules {
		var b strings.Builder
		b.WriteString("User-agent: *\n")
		for i := 0; b.Len() < MaxSize-2000; i++ {
			fmt.Fprintf(&b, format, i)
		}
		return Parse([]byte(b.String())).Agent("weft")
	}
	long := strings.Repeat("a", 1950)
	for name, c := range map[string]struct {
		format, target string
		most           int
	}{
		"another last letter":     {"Disallow: /*" + long + "b%d\n", "/" + long, 0},
		"the same, shorter":       {"Disallow: /*aaaaaaaaaaaab%d\n", "/" + long, 0},
		"parameters":              {"Disallow: /*?sort=%d&\n", "/a?page=17&sort=4711&lang=en", 20},
		"sections":                {"Disallow: /section-%d/*?sort=\n", "/section-4711/a?sort=down", 20},
		"endings":                 {"Disallow: /*.%d.html$\n", "/a.4711.html", 20},
		"prefixes, no wildcard":   {"Disallow: /section/%d/\n", "/section/4711/", 0},
		"prefixes, last wildcard": {"Disallow: /section/%d/*\n", "/section/4711/", 0},
	} {
		r := file(c.format)
		if n := compared(r, c.target); n > c.most {
			t.Errorf("%s: %d of %d rules are compared, expected at most %d", name, n, len(r.rules), c.most)
		}
		if got, want := r.Test(c.target), r.alone().Test(c.target); got != want {
			t.Errorf("%s: %+v, alone %+v", name, got, want)
		}
	}
}

// TestUndecided: a target with which too many rules would have to be compared is disallowed, unless
// a rule that stands before them decides.
func TestUndecided(t *testing.T) {
	var b strings.Builder
	b.WriteString("User-agent: *\nAllow: /" + strings.Repeat("a", 50) + "\nAllow: /b\n")
	for i := range 10_000 {
		fmt.Fprintf(&b, "Disallow: /*a*%d*%d\n", i%100, i/100)
	}
	r := Parse([]byte(b.String())).Agent("weft")
	var digits strings.Builder
	for i := range 100 {
		fmt.Fprintf(&digits, "%d-", i)
	}
	for target, want := range map[string]Verdict{
		"/" + digits.String(): {},
		"/x":                  {Allowed: true},
		"/b/":                 {Allowed: true, Line: 3, Rule: "Allow: /b"},
		"/" + strings.Repeat("a", 50) + digits.String(): {Allowed: true, Line: 2, Rule: "Allow: /" + strings.Repeat("a", 50)},
		"/a/7/7": {Line: 711, Rule: "Disallow: /*a*7*7"},
	} {
		got := r.Test(target)
		if got != want || got.Undecided() != (want == Verdict{}) {
			t.Errorf("%.60s: %+v, expected %+v", target, got, want)
		}
	}
}
