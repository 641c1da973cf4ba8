package webhook

import (
	"maps"
	"time"
)

// Deliveries at once. A receiver that is slow has one at a time, and all that are slow leave places
// to the others, so that it keeps nobody waiting but itself; and one user leaves places to others.
const (
	mostAtAll    = 64
	mostOwn      = 32              // of one user
	mostSlow     = 16              // of these, to receivers that are slow
	mostPrompt   = 4               // to a receiver that is prompt; to any other, 1
	promptWithin = 2 * time.Second // a receiver takes a delivery in, or else it is slow
)

// endpoint is the host that takes the deliveries of a user.
type endpoint struct{ by, host string }

// standing is the state of a receiver.
type standing struct {
	busy         int  // deliveries on their way
	prompt, slow bool // the last one was so; neither: there was none
}

// places are those of deliveries.
type places struct {
	all       int
	own, slow map[string]int // by user
	at        map[endpoint]*standing
}

func newPlaces() places {
	return places{own: make(map[string]int), slow: make(map[string]int), at: make(map[endpoint]*standing)}
}

// enter takes a place, if there is one. Leave gives it back.
func (p *places) enter(to endpoint) (leave func(), ok bool) {
	s := p.at[to]
	if s == nil {
		s = new(standing)
		p.at[to] = s
	}
	most := 1
	if s.prompt {
		most = mostPrompt
	}
	if p.all >= mostAtAll || p.own[to.by] >= mostOwn || s.busy >= most || s.slow && p.slow[to.by] >= mostSlow {
		return nil, false
	}
	count := func(slow bool, n int) {
		p.all += n
		s.busy += n
		add(p.own, to.by, n)
		if slow {
			add(p.slow, to.by, n)
		}
	}
	slow := s.slow
	count(slow, 1)
	return func() { count(slow, -1) }, true
}

func add(to map[string]int, key string, n int) {
	if to[key] += n; to[key] == 0 {
		delete(to, key)
	}
}

// note notes how a receiver has taken a delivery.
func (p *places) note(to endpoint, prompt bool) {
	if s := p.at[to]; s != nil {
		s.prompt, s.slow = prompt, !prompt
	}
}

// forget forgets the receivers that are not wanted any more.
func (p *places) forget(wanted map[endpoint]bool) {
	maps.DeleteFunc(p.at, func(to endpoint, s *standing) bool { return s.busy == 0 && !wanted[to] })
}
