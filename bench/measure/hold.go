package measure

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"time"

	"github.com/weftcrawl/weft/bench/lab"
	"golang.org/x/sys/unix"
)

// bound is the number of connections at which the lab stops a way before the system does.
type bound struct {
	most int
	why  string
}

// bounds are the bounds of ways for which a connection costs a process or a thread, to keep the
// machine usable.
var bounds = map[string]bound{
	"blocking":  {1, "it fetches one page after the other"},
	"processes": {100, "the lab's limit: each is a whole program"},
	"threads":   {4000, "the lab's limit: Go itself ends a program that has 10,000 threads"},
}

// atOnce returns how many of n connections a way may have at once, and why not all.
func atOnce(way string, n int) (int, string) {
	if b, ok := bounds[way]; ok && n > b.most {
		return b.most, b.why
	}
	return n, ""
}

// Holding configures Hold.
type Holding struct {
	Ways        []lab.Way
	Connections int           // at once
	For         time.Duration // once all are there
	Quiet       time.Duration // time without a new connection after which no more are expected; 0: 5 s

	Begin func(lab.Way) // called before each way
}

// Held has the figures of a way that held connections.
type Held struct {
	Name          string  `json:"way"`
	About         string  `json:"about"`
	Held          int     `json:"held"`                   // at once
	Memory        int64   `json:"memory_bytes"`           // while all were held
	PerConnection float64 `json:"bytes_per_connection"`   // growth per connection
	CPUMS         float64 `json:"cpu_ms"`                 // from the first connection to the last byte
	CPUPer        float64 `json:"cpu_per_connection_us"`  // its share
	Idle          float64 `json:"cpu_while_held_percent"` // of one CPU, while nothing happened
	Threads       int     `json:"threads"`
	Stopped       string  `json:"stopped,omitempty"` // the reason, if it did not hold all
}

// Hold has each way hold connections to a server that responds when all are there. The error is
// that a process did not start, or that of ctx.
func Hold(ctx context.Context, h Holding) ([]Held, error) {
	var all []Held
	for _, way := range h.Ways {
		h.Begin(way)
		held, err := h.hold(ctx, way)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", way.Name, err)
		}
		all = append(all, held)
	}
	return all, nil
}

// hold gives a way a server of its own: if each had 15,000 connections to one server, the ports
// would run out, as the kernel keeps used ones for a minute (TIME_WAIT).
func (h *Holding) hold(ctx context.Context, way lab.Way) (Held, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	r := Held{Name: way.Name, About: way.About}
	var n int
	n, r.Stopped = atOnce(way.Name, h.Connections)
	wait := cmp.Or(h.Quiet, quiet)
	s, err := startServer(ctx, serverTask{Hold: n, Quiet: wait})
	if err != nil {
		return r, err
	}
	defer s.Kill()
	p, err := start(ctx, wayName, wayTask{way.Name, s.urls(n), n, roundTimeout})
	if err != nil {
		return r, err
	}
	defer p.Kill()
	var base before
	if err := p.receive(ctx, &base); err != nil {
		return r, err
	}
	if err := p.in.Encode("round"); err != nil {
		return r, cmp.Or(context.Cause(ctx), err)
	}
	var o outcome
	done, full := make(chan error, 1), make(chan serverMessage, 1)
	go func() { done <- p.receive(ctx, &o) }()
	go func() {
		var message serverMessage
		if s.out.Decode(&message) == nil {
			full <- message
		}
	}()

	var ended error
	select {
	case message := <-full:
		before := lookAt(p.PID())
		select {
		case <-time.After(h.For):
		case <-ctx.Done():
		}
		after := lookAt(p.PID())
		r.Held, r.Threads, r.Memory = message.Held, after.threads, after.resident+after.children
		r.PerConnection = float64(r.Memory-base.Resident) / float64(r.Held)
		r.Idle = 100 * float64(after.cpu-before.cpu) / float64(h.For)
		if err := s.in.Encode("respond"); err != nil {
			return r, cmp.Or(context.Cause(ctx), err)
		}
		ended = <-done
	case ended = <-done: // before all connections were there
	}
	if ctx.Err() != nil {
		return r, context.Cause(ctx)
	}
	if r.Held > 0 {
		r.CPUMS = ms(o.CPU)
		r.CPUPer = r.CPUMS * 1000 / float64(n)
	}
	if why := o.whyNot(ended, n); why != "" {
		r.Stopped = why
	} else if r.Held < n {
		r.Stopped = fmt.Sprintf("no more came for %v", wait)
	}
	return r, nil
}

// whyNot returns why not all n pages came, at once or at all; empty: they did.
func (o *outcome) whyNot(ended error, n int) string {
	if ended != nil {
		return ended.Error()
	}
	if o.Error != "" {
		return o.Error
	}
	times := make(map[string]int)
	for _, p := range o.Pages {
		if p.Error != "" {
			times[p.Error]++
		}
	}
	if len(times) == 0 {
		return ""
	}
	most := ""
	for why := range times {
		if most == "" || times[why] > times[most] || times[why] == times[most] && why < most {
			most = why
		}
	}
	return fmt.Sprintf("%s (%d of %d)", most, times[most], n)
}

// MaxConnections returns how many connections a server can hold, which needs some descriptors for
// itself. Go has raised the limit as far as it may.
func MaxConnections() int {
	var limit unix.Rlimit
	if unix.Getrlimit(unix.RLIMIT_NOFILE, &limit) != nil {
		return math.MaxInt
	}
	return int(min(limit.Cur, math.MaxInt32)) - 64
}
