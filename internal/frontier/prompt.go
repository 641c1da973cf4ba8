package frontier

import "time"

// A host is prompt if each of its last promptPages came within PromptTime, and while it has leases,
// if one of them has ended within that time. Prompt hosts have turns like all hosts, and a reserve:
// what the caller leases by LeasePrompt only. So hosts that keep leases for long, from the first on
// or all of a sudden, hold up each other and new hosts, but none that is known to be prompt.
const (
	PromptTime  = time.Second
	promptPages = 4 // more than a quick home page before slow ones

	// reserveFor is how long the reserve is kept after the last prompt lease: a crawl of hosts none
	// of which is prompt has no use for it.
	reserveFor = time.Minute
)

// LeasePrompt is Lease for prompt hosts only.
func (f *Frontier) LeasePrompt(now time.Time, max int) []URL {
	f.clock.tell(now)
	return f.leaseOf(max, false)
}

// NextPrompt returns the earliest time at which LeasePrompt will have a lease or a refusal, as Next
// does.
func (f *Frontier) NextPrompt() (at time.Time, ok bool) {
	h, due := f.nextTurn(false)
	if h == nil || f.stuck(h) {
		return time.Time{}, false
	}
	return f.clock.time(max(due, f.free)), true
}

// Reserves reports whether prompt hosts need a reserve: there were some lately.
func (f *Frontier) Reserves(now time.Time) bool {
	p := &f.politeness
	return p.lastly != never && f.clock.moment(now) < p.lastly+reserveFor
}

// stalls reports whether h has leases of which none has ended for too long.
func (p *politeness) stalls(now moment, h *host) bool {
	return h.busy > 0 && now > h.moved+PromptTime
}

// judgePrompt takes in the end of a lease of h.
func (p *politeness) judgePrompt(now moment, h *host, a *Result) {
	h.moved = now
	if a.Total <= 0 {
		return
	}
	if a.Total > PromptTime {
		h.quick = 0
	} else if h.quick < promptPages {
		h.quick++
	}
	prompt := h.quick == promptPages
	if prompt {
		p.lastly = now
	}
	if prompt != h.prompt {
		p.setPrompt(now, h, prompt)
	}
}

// setPrompt makes h prompt, or not. It keeps its turn, if it has one.
func (p *politeness) setPrompt(now moment, h *host, prompt bool) {
	turn := h.hasTurn()
	p.withdraw(h)
	h.prompt = prompt
	if turn {
		p.giveTurn(now, h, h.turn.at, h.turn.order)
	}
}
