package frontier

import "time"

// delay returns the time between the end of a response of h and the next request. A host that is
// alone in its domain stands for it.
func (p *politeness) delay(h *host) time.Duration {
	delay := max(p.cfg.Delay, h.crawlDelay())
	if h.siblings == nil {
		delay = max(delay, p.groups.delay(false))
	}
	return delay
}

// earliest returns the time before which nothing of h is leased.
func (p *politeness) earliest(h *host) moment {
	if h.last == never {
		return h.pace.backOffEnd
	}
	return max(h.pace.backOffEnd, h.last+p.delay(h))
}

// freeAt returns when h may have another lease, as far as its delay, its back-off and its pace say;
// ok is false if it has as many as it may have.
func (p *politeness) freeAt(h *host) (at moment, ok bool) {
	if h.busy >= p.pace(h) {
		return 0, false
	}
	return p.earliest(h), true
}

// pace returns how many leases h may have at once. One that is parked is tried with one.
func (p *politeness) pace(h *host) int32 {
	n := h.pace.limit()
	switch {
	case p.cfg.PerHost > 0:
		n = min(n, p.cfg.PerHost)
	case p.delay(h) > 0:
		n = 1
	}
	if h.siblings == nil && p.cfg.PerDomain > 0 {
		n = min(n, p.cfg.PerDomain)
	}
	if h.failing() {
		n = min(n, 1)
	}
	return int32(n)
}

// failing reports whether h is tried with one lease at once: none of its origins responds.
func (h *host) failing() bool {
	if all := h.origins; all != nil {
		return all.vouchers == 0 && all.fails >= parkFrom
	}
	return h.own.parked() > 0
}

// usable returns how many URLs of o can be leased when its turn comes: a refill may read that many
// even without room.
func (p *politeness) usable(o *origin) int {
	return min(max(1, int(p.pace(o.host)-o.host.busy)), atOnce)
}

// steerPace brings the pace of o in line with PerHost.
func (p *politeness) steerPace(o *origin) {
	switch h := &o.host.pace; {
	case h.overload:
	case p.cfg.PerHost > 0:
		h.most = 0 // as of a new host
	case h.most == 0:
		if !isLoopback(o.host.name()) {
			h.most = startPace
		}
	}
}
