package share

import (
	"fmt"
	"math/rand/v2"
	"net/netip"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/weftcrawl/weft/internal/shard/ownership"
)

const (
	modelParts = 3
	tick       = 10 * time.Millisecond
)

// model is processes that want the same addresses, on a network that delays, reorders, repeats and
// loses, and a store that shows everything late, in order.
type model struct {
	*rand.Rand
	t       *testing.T
	now     time.Duration // the real time
	delay   time.Duration // of addresses
	rough   bool          // messages are lost, processes die, and partitions move
	calm    bool          // not any more
	still   bool          // no partition moves whose owner lives
	idle    bool          // nobody has anything to request
	all     []*process
	parts   [modelParts]owned // as the store has it
	store   []change          // its revisions, from 1 on
	pending []parcel
	addrs   []netip.Addr
	last    map[netip.Addr]request
}

// owned is the owner of a partition.
type owned struct {
	owner *process
	epoch uint64
}

// change is a revision of the store: a partition has another owner, or a process runs or has ended.
type change struct {
	part    int // -1: none
	process *process
	runs    bool
	first   bool
}

// parcel is a message on its way.
type parcel struct {
	at  time.Duration
	run func()
}

// request is the last one to an address.
type request struct {
	by    *process
	ended time.Duration
}

// process is one with a clock of its own, a home, a holder, and what a frontier does.
type process struct {
	*model
	self    ownership.Owner
	rate    float64 // of its clock
	offset  time.Duration
	dead    bool
	home    *Home
	holder  *Holder
	seen    int               // revisions that it has been shown
	view    [modelParts]owned // as of then
	running []ownership.Owner
	load    map[netip.Addr]*load
}

// load is the requests of a process to an address.
type load struct {
	admitted bool
	queue    int // requests that wait
	busy     int
	notUntil time.Time // the delay
	starts   int
}

func newModel(t *testing.T, seed uint64, rough bool) *model {
	m := &model{
		Rand: rand.New(rand.NewPCG(seed, 1)), t: t, rough: rough, still: seed%4 > 1, last: make(map[netip.Addr]request),
		delay: []time.Duration{300 * time.Millisecond, 3 * time.Second}[seed%2],
	}
	for i := range 3 {
		m.addrs = append(m.addrs, netip.AddrFrom4([4]byte{10, 0, 0, byte(i)}))
	}
	for i := range 4 {
		m.start(fmt.Sprint(i))
	}
	for p := range m.parts {
		m.give(p, m.all[m.IntN(len(m.all))])
	}
	return m
}

func (m *model) start(id string) {
	p := &process{
		model: m, self: ownership.Owner{ID: id, Incarnation: m.Uint64() | 1}, rate: 1 + m.Float64()/4,
		offset: time.Duration(m.Int64N(1e12)), load: make(map[netip.Addr]*load),
	}
	p.home, p.holder = NewHome(modelParts), NewHolder(p)
	for _, a := range m.addrs {
		p.load[a] = new(load)
	}
	m.all = append(m.all, p)
	m.store = append(m.store, change{part: -1, process: p, runs: true})
}

func (p *process) clock() time.Duration { return p.offset + time.Duration(float64(p.now)*p.rate) }
func (p *process) time() time.Time      { return time.Unix(0, 0).Add(p.clock()) }

// Admit, Shut and Use make p a Gate.
func (p *process) Admit(now time.Time, a netip.Addr, waits bool) {
	l := p.load[a]
	for _, q := range p.all {
		if q != p && !q.dead && q.load[a].admitted {
			p.t.Fatalf("%v: %v is admitted to %v beside %v", p.now, p.self, a, q.self)
		}
	}
	l.admitted = true
	if waits {
		l.notUntil = now.Add(p.delay)
	}
}

func (p *process) Shut(_ time.Time, a netip.Addr) { p.load[a].admitted = false }

func (p *process) Use(now time.Time, a netip.Addr) (wanted, rests bool, soon time.Time) {
	l := p.load[a]
	return l.queue > 0, l.busy == 0 && !now.Before(l.notUntil), soon
}

// give makes a partition a process's; the last owner acts for it no more.
func (m *model) give(part int, to *process) {
	m.store = append(m.store, change{part: part, process: to, first: m.parts[part].owner == nil})
	m.parts[part] = owned{to, uint64(len(m.store))}
}

// die ends a process, which the store shows later. What it has in flight is broken off.
func (m *model) die(p *process) {
	p.dead = true
	for a, last := range m.last {
		if last.by == p && last.ended > m.now {
			m.last[a] = request{p, m.now}
		}
	}
	m.after(time.Second, func() {
		m.store = append(m.store, change{part: -1, process: p})
		for part, o := range m.parts {
			if o.owner == p {
				m.give(part, m.alive()[0])
			}
		}
	})
}

func (m *model) alive() []*process {
	return slices.DeleteFunc(slices.Clone(m.all), func(p *process) bool { return p.dead })
}

// watch shows a process some of the revisions that it has not seen.
func (p *process) watch() {
	if p.seen == len(p.store) || p.rough && !p.calm && p.IntN(10) > 0 {
		return
	}
	for range 1 + p.IntN(len(p.store)-p.seen) {
		c := p.store[p.seen]
		p.seen++
		switch {
		case c.part < 0 && c.runs:
			p.running = append(p.running, c.process.self)
		case c.part < 0:
			p.running = slices.DeleteFunc(p.running, func(o ownership.Owner) bool { return o == c.process.self })
		default:
			p.view[c.part] = owned{c.process, uint64(p.seen)}
			if p.home.Disown(c.part); c.process == p {
				p.home.Own(p.clock(), c.part, uint64(p.seen), c.first)
			}
		}
	}
	p.home.See(p.clock(), uint64(p.seen), p.running)
}

func (m *model) late() time.Duration {
	if m.rough && !m.calm && m.IntN(20) == 0 {
		return time.Duration(m.Int64N(int64(8 * time.Second)))
	}
	return time.Duration(m.IntN(int(50 * time.Millisecond)))
}

func (m *model) after(d time.Duration, fn func()) {
	m.pending = append(m.pending, parcel{m.now + d, fn})
}

// send sends a message: it comes some time later, never, or twice.
func (p *process) send(to ownership.Owner, msg Message) {
	msg.From, msg.To, msg.Delay = p.self, to, p.delay
	sent, err := Decode(Encode(&msg))
	if err != nil {
		p.t.Fatal(err)
	}
	if p.rough && !p.calm && p.IntN(15) == 0 {
		return
	}
	for range 1 + p.IntN(12)/11 {
		p.after(p.late(), func() {
			i := slices.IndexFunc(p.all, func(q *process) bool { return q.self == to })
			if q := p.all[i]; !q.dead {
				q.hear(sent)
			}
		})
	}
}

// tell sends asks to their homes, as far as they are known.
func (p *process) tell(asks []Ask) {
	for _, a := range asks {
		if o := p.view[Partition(a.Addr, modelParts)]; o.owner != nil {
			a.Epoch = o.epoch
			p.send(o.owner.self, Message{Asks: []Ask{a}})
		}
	}
}

// hear takes in a message.
func (p *process) hear(m *Message) {
	p.home.Hear(p.clock(), m)
	late := func(part int, epoch uint64) bool { return p.view[part].epoch != epoch }
	p.tell(p.holder.Replied(p.time(), slices.DeleteFunc(slices.Clone(m.Replies), func(r Reply) bool { return late(Partition(r.Addr, modelParts), r.Epoch) })))
	if needs := slices.DeleteFunc(slices.Clone(m.Needs), func(t Table) bool { return late(t.Part, t.Epoch) }); len(needs) > 0 {
		p.send(m.From, Message{Declared: p.holder.Declare(needs, modelParts)})
	}
}

// play has a process do what is due at a moment.
func (p *process) play() {
	p.watch()
	now := p.time()
	for _, a := range p.addrs {
		p.request(now, a, p.load[a])
	}
	p.tell(p.holder.Tick(now))
	if p.IntN(10) == 0 {
		for to, needs := range p.home.Needs() {
			p.send(to, Message{Needs: needs})
		}
	}
	for to, replies := range p.home.Replies() {
		p.send(to, Message{Replies: replies})
	}
}

// request starts a request to an address, if there is one and it may.
func (p *process) request(now time.Time, a netip.Addr, l *load) {
	if p.idle {
		l.queue = 0
	} else if p.IntN(200) == 0 {
		l.queue += p.IntN(8)
	}
	if l.queue == 0 {
		return
	}
	if !l.admitted {
		p.holder.Want(now, a)
		return
	}
	if l.busy > 0 || now.Before(l.notUntil) {
		return
	}
	if last, ok := p.last[a]; ok && p.now-last.ended < p.delay*4/5 {
		p.t.Fatalf("%v: %v requests from %v, %v after the end of a request of %v", p.now, p.self, a, p.now-last.ended, last.by.self)
	}
	l.queue--
	l.busy++
	l.starts++
	p.last[a] = request{p, 1 << 62}
	takes := time.Duration(p.IntN(int(100 * time.Millisecond)))
	if p.IntN(30) == 0 {
		takes *= 50
	}
	p.after(takes, func() {
		if p.dead {
			return
		}
		l.busy--
		p.last[a] = request{p, p.now}
		l.notUntil = p.time().Add(p.delay)
	})
}

// run lets time pass.
func (m *model) run(until time.Duration) {
	for ; m.now < until; m.now += tick {
		slices.SortStableFunc(m.pending, func(a, b parcel) int { return int(a.at - b.at) })
		for len(m.pending) > 0 && m.pending[0].at <= m.now {
			next := m.pending[0]
			m.pending = m.pending[1:]
			next.run()
		}
		if m.rough && !m.calm {
			m.misfortune()
		}
		for _, p := range m.all {
			if !p.dead {
				p.play()
			}
		}
	}
}

// misfortune has processes die and begin, and partitions move.
func (m *model) misfortune() {
	switch alive := m.alive(); m.IntN(2000) {
	case 0:
		if p := alive[m.IntN(len(alive))]; len(alive) > 2 {
			m.die(p)
		}
	case 1:
		if len(m.all) < 12 {
			m.start(fmt.Sprint(len(m.all)))
		}
	case 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21:
		if m.still {
			return
		}
		m.give(m.IntN(modelParts), alive[m.IntN(len(alive))])
	}
}

// TestModel: at most one process requests from an address, whatever becomes of messages, processes
// and partitions; the delay passes between the requests of two; each has its quantum; and nothing
// is kept in the end.
func TestModel(t *testing.T) {
	t.Parallel()
	seeds := uint64(8)
	if os.Getenv("WEFT_LONG") != "" {
		seeds = 300
	}
	for seed := range seeds {
		for _, rough := range []bool{false, true} {
			m := newModel(t, seed, rough)
			m.run(90 * time.Second)
			m.calm = true
			m.die(m.alive()[1]) // and no partition moves later that is not its own
			m.run(m.now + 90*time.Second)
			counts := m.starts()
			m.run(m.now + 3*time.Minute)
			for i, n := range m.starts() {
				if p := m.all[i/len(m.addrs)]; !p.dead && n == counts[i] {
					t.Fatalf("seed %d, rough %t: %v has had no quantum at %v for 3 minutes", seed, rough, p.self, m.addrs[i%len(m.addrs)])
				}
			}
			m.rest(seed)
		}
	}
}

// rest lets processes do nothing for a while.
func (m *model) rest(seed uint64) {
	m.t.Helper()
	m.idle = true
	m.run(m.now + time.Minute)
	for _, p := range m.alive() {
		if held, entries := p.holder.Len(), p.home.Len(); held > 0 || entries > 0 || !p.home.Whole() || p.holder.unanswered != 0 {
			m.t.Errorf("seed %d: %v holds %d addresses, %d open, and is the home of %d", seed, p.self, held, p.holder.unanswered, entries)
		}
	}
}

// starts counts the requests of each process to each address.
func (m *model) starts() (all []int) {
	for _, p := range m.all {
		for _, a := range m.addrs {
			all = append(all, p.load[a].starts)
		}
	}
	return all
}

// TestLostRelease: a home that has missed that an address was given up learns it when another
// process asks.
func TestLostRelease(t *testing.T) {
	a, b, addr := ownership.Owner{ID: "a", Incarnation: 1}, ownership.Owner{ID: "b", Incarnation: 1}, netip.AddrFrom4([4]byte{10, 0, 0, 1})
	h := NewHome(1)
	h.Own(1, 0, 1, true)
	h.See(1, 1, []ownership.Owner{a, b})
	h.Hear(1, &Message{From: a, Asks: []Ask{{Want, addr, 1, 1}}})
	h.Replies()
	h.Hear(2, &Message{From: b, Asks: []Ask{{Want, addr, 1, 1}}})
	asks := NewHolder(nil).Replied(time.Time{}, h.Replies()[a])
	if len(asks) != 1 || asks[0].Kind != Release {
		t.Fatalf("%+v", asks)
	}
	asks[0].Number, asks[0].Epoch = 1, 1
	h.Hear(3, &Message{From: a, Asks: asks})
	if r := h.Replies()[b]; len(r) != 1 || r[0].Verdict != Granted {
		t.Errorf("%+v", r)
	}
}

// TestQuantum: whoever has an address while others wait keeps it until its quantum is over, if a
// host there waits for its own delay and will be due by then; else it gives the address up.
func TestQuantum(t *testing.T) {
	addr := netip.AddrFrom4([4]byte{10, 0, 0, 1})
	begin := time.Unix(0, 0)
	for delay, want := range map[time.Duration]time.Duration{20 * time.Millisecond: Quantum - 20*time.Millisecond, Quantum + 1: 0, 0: 0} {
		g := &spaced{delay: delay}
		h := NewHolder(g)
		h.Want(begin, addr)
		ask := h.Tick(begin)[0]
		h.Replied(begin, []Reply{{Verdict: Granted, Addr: addr, Number: ask.Number}, {Verdict: Yield, Addr: addr}})
		for now := begin; ; now = now.Add(10 * time.Millisecond) {
			if asks := h.Tick(now); len(asks) > 0 {
				if got := now.Sub(begin); asks[0].Kind != Release || got != want {
					t.Errorf("delay %v: %+v after %v, expected a release after %v", delay, asks, got, want)
				}
				break
			}
		}
	}
}

// spaced is a gate with one host, which waits for its own delay.
type spaced struct {
	asked bool
	delay time.Duration
}

func (*spaced) Admit(time.Time, netip.Addr, bool) {}
func (*spaced) Shut(time.Time, netip.Addr)        {}
func (g *spaced) Use(now time.Time, _ netip.Addr) (wanted, rests bool, soon time.Time) {
	wanted, g.asked = !g.asked, true
	if g.delay > 0 {
		soon = now.Add(g.delay)
	}
	return wanted, true, soon
}
