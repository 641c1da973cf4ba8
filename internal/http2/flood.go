package http2

import "time"

// Idle frames are allowed at a rate, and some at once. A response that moves on earns its own: a
// server may well send an empty DATA at the end of each, or a PING for each to measure the path.
const (
	idleBurst   = 200
	idleRate    = 20 // a second
	idleEarned  = 2  // for each head of a response, and each frame with data
	fullestIdle = 1000
)

// flood counts the idle frames that a peer may send still.
type flood struct {
	left float64
	at   time.Time
}

// idle takes an idle frame; false: there were too many.
func (f *flood) idle(now time.Time) bool {
	if f.at.IsZero() {
		f.left = idleBurst
	} else if passed := now.Sub(f.at); passed > 0 {
		f.left = max(f.left, min(idleBurst, f.left+passed.Seconds()*idleRate))
	}
	f.at = now
	f.left--
	return f.left >= 0
}

// moved takes a frame that moved a response on.
func (f *flood) moved() {
	if !f.at.IsZero() {
		f.left = min(fullestIdle, f.left+idleEarned)
	}
}
