package main

import (
	"fmt"

	"github.com/weftcrawl/weft"
)

// inWords says how long a crawl takes; empty: that is unknown.
func inWords(e weft.Estimate) string {
	switch {
	case e.Growing:
		return fmt.Sprintf("growing: %s new URLs per URL, no end in sight", perSecond(e.NewPerURL))
	case e.Left == 0:
		return ""
	}
	left := "about " + clock(roundUp(e.Left)) + " left"
	switch e.Bound {
	case "":
		return left
	case "limit", "max-time":
		return left + " by --" + e.Bound
	}
	return left + " for " + printable(e.Bound)
}
