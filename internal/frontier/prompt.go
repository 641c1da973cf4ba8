package frontier

import "time"

// A host is prompt if each of its last promptPages came within PromptTime, and while it has leases,
// if one of them has ended within that time. Prompt hosts have turns like all hosts, and a reserve:
// what the caller leases by LeasePrompt only. So hosts that keep leases for long, from the first on
// or all of a sudden, hold up each other and new hosts, but none that is known to be prompt.
const (
	PromptTime  = time.Second
	promptPages = 4 // more than a quick home page before slow ones

	// reserveFor is the time for which the reserve is kept after the last prompt lease: a crawl of
	// hosts none of which is prompt has no use for it.
	reserveFor = time.Minute
)

// stalls reports whether h has leases of which none has ended for too long.
func (h *host) stalls(now moment) bool { return h.busy > 0 && now > h.moved+PromptTime }

// judgePrompt takes in the end of a lease of h, whose exchange took so long; 0: unknown. It reports
// whether h is prompt by now.
func (p *politeness) judgePrompt(now moment, h *host, took time.Duration) bool {
	h.moved = now
	switch {
	case took <= 0:
		return h.prompt
	case took > PromptTime:
		h.quick = 0
	case h.quick < promptPages:
		h.quick++
	}
	prompt := h.quick == promptPages
	if prompt {
		p.lastly = now
	}
	return prompt
}
