package shardtest

import (
	"maps"
	"slices"
	"time"

	"github.com/weftcrawl/weft/internal/shard/ownership"
)

// tick is the time between two calls of Tick by a process.
const tick = 250 * time.Millisecond

// Process is one run of a node.
type Process struct {
	Node   *ownership.Node
	Config ownership.Config
	World  *World
	// OnOrder carries out an order. Started and Drained may be called from it.
	OnOrder func(ownership.Order)
	// Ended: it has died, or its node has ended for the reason Err.
	Ended bool
	Err   error

	Slow time.Duration // further time of each of its messages

	clock    clock
	stopped  time.Duration // until then it handles nothing
	cut      time.Duration // until then it is cut off
	handling bool
	pumps    bool // a pump is planned
}

// Start starts a process. Its view of the store comes by watch.
func (w *World) Start(c ownership.Config, order func(p *Process, o ownership.Order)) (*Process, error) {
	node, err := ownership.New(c)
	if err != nil {
		return nil, err
	}
	p := &Process{Node: node, Config: c, World: w, clock: clock{since: w.Now, rate: 1}}
	p.OnOrder = func(o ownership.Order) { order(p, o) }
	w.Processes = append(w.Processes, p)
	for _, key := range slices.Sorted(maps.Keys(w.Store.entries)) {
		p.watch(w.Store.entries[key])
	}
	p.After(2*w.Network.Latency, p.ticks)
	return p, nil
}

func (p *Process) ticks() { p.After(tick, p.ticks) }

// clock is a clock of its own speed: it showed at when the world's time was since.
type clock struct {
	since, at time.Duration
	rate      float64
}

func (c *clock) now(world time.Duration) time.Duration {
	return c.at + time.Duration(float64(max(0, world-c.since))*c.rate)
}

// Clock is the process's own time.
func (p *Process) Clock() time.Duration { return p.clock.now(p.World.Now) }

// Run makes the process's clock run at another speed.
func (p *Process) Run(rate float64) {
	now := p.World.Now
	p.clock = clock{max(now, p.clock.since), p.clock.now(now), rate}
}

// Jump makes the process's clock jump ahead.
func (p *Process) Jump(d time.Duration) { p.clock.at += d }

// Stop makes the process handle nothing for a time. If frozen, its clock stands still, too.
func (p *Process) Stop(d time.Duration, frozen bool) {
	p.stopped = max(p.stopped, p.World.Now+d)
	if frozen {
		p.clock = clock{p.stopped, p.Clock(), p.clock.rate}
	}
}

// Cut cuts the process off for a time.
func (p *Process) Cut(d time.Duration) { p.cut = max(p.cut, p.World.Now+d) }

// Kill ends the process without a word.
func (p *Process) Kill() { p.Ended = true }

// After calls a function in the process when time has passed, then does what its node wants.
func (p *Process) After(d time.Duration, do func()) {
	p.World.After(d, func() { p.Do(do) })
}

// Do calls a function in the process: now, or when it is no longer stopped.
func (p *Process) Do(do func()) {
	switch {
	case p.Ended:
	case p.World.Now < p.stopped:
		p.After(p.stopped-p.World.Now, do)
	case p.handling:
		do()
	default:
		p.handling = true
		do()
		if p.World.Network.Batch == 0 {
			p.pump()
		} else if !p.pumps {
			p.pumps = true
			p.World.After(p.World.Network.Batch, p.later)
		}
		p.handling = false
	}
}

// later pumps at the end of a batch.
func (p *Process) later() {
	switch {
	case p.Ended:
	case p.World.Now < p.stopped:
		p.World.After(p.stopped-p.World.Now, p.later)
	default:
		p.pumps, p.handling = false, true
		p.pump()
		p.handling = false
	}
}

// pump does what the node wants.
func (p *Process) pump() {
	for !p.Ended {
		writes, orders := p.Node.Tick(p.Clock())
		for _, w := range writes {
			p.write(w)
		}
		for _, o := range orders {
			p.OnOrder(o)
			if o.Kind == ownership.End {
				p.Ended, p.Err = true, o.Err
			}
		}
		if len(orders) == 0 {
			return
		}
	}
}

func (p *Process) write(w ownership.Write) {
	var wrote ownership.Entry
	p.Call(func() (ok bool) {
		if wrote, ok = p.World.Store.Put(w); ok {
			p.World.show(wrote)
		}
		return ok
	}, func(ok bool) {
		if !ok {
			p.Node.Failed(p.Clock(), w)
			return
		}
		p.see(wrote)
	})
}

// show lets all watches show an entry.
func (w *World) show(e ownership.Entry) {
	for _, p := range w.Processes {
		if !p.Ended {
			p.watch(e)
		}
	}
}

// watch shows an entry to the process, sooner or later.
func (p *Process) watch(e ownership.Entry) {
	for again := true; again; again = p.World.Chance(p.World.Network.Twice) {
		p.World.Events++
		p.After(p.oneWay(), func() { p.see(e) })
	}
}

func (p *Process) see(e ownership.Entry) {
	if err := p.Node.See(p.Clock(), e); err != nil {
		panic(err) // only nodes write values
	}
}

// oneWay is the time that a message to or from the process takes, if it is not lost.
func (p *Process) oneWay() time.Duration {
	return max(0, p.cut-p.World.Now) + p.World.delay() + p.Slow
}

func (p *Process) loses() bool {
	return p.World.Chance(p.World.Network.Lost) || p.cut > p.World.Now && p.World.Chance(0.5)
}

// Call sends a request to the servers of the cluster. There, it is carried out by a function, which
// may refuse it. If the reply does not come in time, the process learns that the request was
// refused, whatever became of it.
func (p *Process) Call(carryOut func() bool, reply func(ok bool)) {
	w := p.World
	w.Calls++
	replied := false
	answer := func(ok bool) {
		if !replied {
			replied = true
			reply(ok)
		}
	}
	p.After(w.Network.TimeOut, func() { answer(false) })
	if p.loses() {
		return
	}
	w.After(p.oneWay(), func() {
		ok := carryOut()
		if !p.loses() {
			p.After(p.oneWay(), func() { answer(ok) })
		}
	})
}
