package firecrawl

import (
	"errors"
	"regexp/syntax"
	"slices"
)

// Around what an expression matches in a path: scheme and host, the path before, the query.
const (
	before = `^[^:/?#]+://[^/?#]+`
	within = `[^?]*?`
	after  = `(?:\?.*)?$`
)

// onPath returns the expression for whole URLs that matches those whose path an expression matches.
func onPath(text string) (string, error) {
	re, err := syntax.Parse(text, syntax.Perl)
	if err != nil {
		return "", err
	}
	head, err1 := syntax.Parse(before, syntax.Perl)
	between, err2 := syntax.Parse(within, syntax.Perl)
	tail, err3 := syntax.Parse(after, syntax.Perl)
	if err := errors.Join(err1, err2, err3); err != nil {
		return "", err
	}
	branches := []*syntax.Regexp{re}
	if re.Op == syntax.OpAlternate {
		branches = re.Sub
	}
	for i, b := range branches {
		anchored := begins(b)
		if has(b, syntax.OpBeginText) {
			return "", errors.New("a ^ within is not supported")
		}
		ends(b, tail)
		all := []*syntax.Regexp{head, b}
		if !anchored {
			all = []*syntax.Regexp{head, between, b}
		}
		branches[i] = &syntax.Regexp{Op: syntax.OpConcat, Sub: all, Flags: re.Flags}
	}
	return (&syntax.Regexp{Op: syntax.OpAlternate, Sub: branches, Flags: re.Flags}).String(), nil
}

// begins reports whether an expression matches at the beginning of a path alone, and takes the sign
// of that out of it.
func begins(re *syntax.Regexp) bool {
	switch re.Op {
	case syntax.OpBeginText, syntax.OpBeginLine:
		re.Op = syntax.OpEmptyMatch
		return true
	case syntax.OpConcat, syntax.OpCapture:
		return len(re.Sub) > 0 && begins(re.Sub[0])
	}
	return false
}

// has reports whether an operator is somewhere in an expression.
func has(re *syntax.Regexp, op syntax.Op) bool {
	return re.Op == op || slices.ContainsFunc(re.Sub, func(sub *syntax.Regexp) bool { return has(sub, op) })
}

// ends puts tail in place of the end of a path.
func ends(re, tail *syntax.Regexp) {
	if re.Op == syntax.OpEndText || re.Op == syntax.OpEndLine {
		*re = *tail
		return
	}
	for _, sub := range re.Sub {
		ends(sub, tail)
	}
}
