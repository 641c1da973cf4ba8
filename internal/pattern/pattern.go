// Package pattern tells what regular expressions cost, before they are compiled: a few bytes such
// as (x{100}){10} stand for a program of a thousand instructions.
package pattern

import (
	"errors"
	"fmt"
	"math"
	"regexp/syntax"
)

const (
	longest = 4 << 10 // bytes of an expression whose cost is told
	perWord = 10      // an instruction is as long as so many runes of a class
)

// Cost returns about how many instructions the program of an expression has: it takes 50 bytes for
// each, and as much time for each byte of a text. An expression that is wrong costs nothing. One of
// more than 4 KiB costs math.MaxInt32.
func Cost(expression string) int {
	if len(expression) > longest {
		return math.MaxInt32
	}
	re, err := syntax.Parse(expression, syntax.Perl)
	var e *syntax.Error
	switch {
	case errors.As(err, &e) && e.Code == syntax.ErrLarge:
		return math.MaxInt32
	case err != nil:
		return 0
	}
	return cost(re)
}

func cost(re *syntax.Regexp) int {
	n := 1
	switch re.Op {
	case syntax.OpLiteral:
		return len(re.Rune)
	case syntax.OpCharClass:
		return 1 + len(re.Rune)/perWord
	case syntax.OpRepeat:
		times, each := max(re.Min, re.Max, 1), cost(re.Sub[0])
		if re.Min != re.Max {
			each++
		}
		return n + times*each // at most 1,000 times, together with those within
	}
	for _, sub := range re.Sub {
		n = min(n+cost(sub), math.MaxInt32)
	}
	return n
}

// Room bounds the cost of expressions together.
type Room int

// Take takes the cost of expressions, and refuses what there is no room for.
func (r *Room) Take(expressions ...string) error {
	for _, e := range expressions {
		if *r -= Room(Cost(e)); *r < 0 {
			return fmt.Errorf("%.64q: too long, with what its repetitions stand for, expected shorter expressions or fewer", e)
		}
	}
	return nil
}
