package cluster

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"math/big"
	"strings"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/weftcrawl/weft"
	"github.com/weftcrawl/weft/internal/shard/partition"
)

const (
	answerBytes   = 128 << 10   // of a message of an answer, about
	readWithin    = time.Minute // an asker that is silent for longer has gone
	answersAtOnce = 4
)

// answers are those of a node to questions of people. Each is an operation.
type answers struct {
	remote     *remote
	loop       *loop
	watch      *watch
	orders     *obedience      // Owner: the loop
	listed     func() *big.Int // by the loop: the partitions that the node lists, by bits
	id         string          // of the node
	job        string          // its folder
	partitions int             // of the crawl
}

// listen has the node answer questions until stop is called.
func (a *answers) listen() (stop func()) {
	servers := a.remote.servers
	begin := a.loop.ops.few(answersAtOnce)
	var all []*nats.Subscription
	stop = func() {
		for _, s := range all {
			_ = s.Unsubscribe() // the connection may be gone
		}
	}
	for _, subject := range []string{a.remote.name.asks(""), a.remote.name.asks(a.id)} {
		s, err := servers.conn.Subscribe(subject, func(m *nats.Msg) {
			// Else the silence tells the asker.
			_ = begin(func(ctx context.Context) { a.answer(ctx, m) })
		})
		if err != nil {
			servers.warn(fmt.Errorf("weft hosts, urls, why and ctl cannot ask this node: %w", servers.refused(err)))
			break
		}
		all = append(all, s)
	}
	return stop
}

// answer answers one question.
func (a *answers) answer(ctx context.Context, m *nats.Msg) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	to := &reply{from: a, ctx: ctx, inbox: m.Reply}
	// The asker learns now and then that an answer is being looked for.
	a.loop.ops.until(ctx, answerWithin/4, func() {
		_ = a.remote.servers.conn.PublishMsg(to.message(nil)) // the next one is as good
	})
	err := to.about(m.Data)
	_ = to.send(err, true) // who does not listen needs no answer
}

// reply is an answer on its way.
type reply struct {
	from  *answers
	ctx   context.Context
	inbox string
	lines bytes.Buffer
	parts *big.Int // the partitions that the answer lists, by bits; nil: it lists none
}

// about answers a question, but for the last message.
func (r *reply) about(text []byte) error {
	var q question
	if err := json.Unmarshal(text, &q); err != nil {
		return fmt.Errorf("the question: %w", err)
	}
	job, err := weft.OpenJob(r.ctx, r.from.job)
	if err != nil {
		return err
	}
	defer job.Close()
	switch q.Command {
	case askHosts:
		return put(r, ofListed(r, q.Only, job.Hosts(r.ctx), func(h weft.HostStatus) string { return h.Host }))
	case askURLs:
		return put(r, ofListed(r, q.Only, job.URLs(r.ctx, q.Filter), func(u weft.URLStatus) string { return u.URL }))
	case askWhy:
		if len(q.Args) != 1 {
			return errors.New("why: expected a URL")
		}
		why, err := job.Why(r.ctx, q.Args[0])
		return put(r, func(yield func(weft.Why, error) bool) { yield(why, err) })
	case askDo:
		lines, err := r.do(job, q)
		if err != nil {
			return err
		}
		return put(r, func(yield func(string, error) bool) {
			for _, l := range lines {
				if !yield(l, nil) {
					return
				}
			}
		})
	}
	return fmt.Errorf("question %.32q: expected %s, %s, %s or %s", q.Command, askHosts, askURLs, askWhy, askDo)
}

// do carries out an order, or reports the result of one that lasts.
func (r *reply) do(job *weft.Job, q question) ([]string, error) {
	o, err := weft.ParseOrder(q.Args...)
	if err != nil {
		return nil, err
	}
	if q.Revision > 0 {
		return r.order(q)
	}
	return job.Do(r.ctx, o)
}

// ofListed drops what has a URL or an origin in a partition that the node does not list.
func ofListed[T any](r *reply, only *big.Int, all iter.Seq2[T, error], href func(T) string) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		listed, err := r.lists(only)
		if err != nil || listed.Sign() == 0 {
			return
		}
		// A partition that has left before the snapshot is not in it, or in parts.
		still := func() bool {
			if r.parts == nil {
				r.parts, err = r.lists(listed)
			}
			return err == nil
		}
		for v, err := range all {
			if !still() {
				return
			}
			if err == nil && r.parts.Bit(partition.OfURL(href(v), r.from.partitions)) == 0 {
				continue
			}
			if !yield(v, err) {
				return
			}
		}
		still()
	}
}

// lists returns which of these partitions the node lists now, by bits; of nil: of all.
func (r *reply) lists(these *big.Int) (*big.Int, error) {
	all, err := ask(r.ctx, r.from.loop, r.from.listed)
	if err == nil && these != nil {
		all.And(all, these)
	}
	return all, err
}

// put answers with values.
func put[T any](r *reply, all iter.Seq2[T, error]) error {
	for v, err := range all {
		if err != nil {
			return err
		}
		line, err := json.Marshal(v)
		if err != nil {
			return err
		}
		r.lines.Write(append(line, '\n'))
		if r.lines.Len() >= answerBytes {
			if err := r.send(nil, false); err != nil {
				return err
			}
		}
	}
	return nil
}

// send sends what there is, and waits until the asker has it.
func (r *reply) send(failed error, end bool) error {
	data := bytes.Clone(r.lines.Bytes())
	r.lines.Reset()
	if most := r.from.remote.servers.mostData(); len(data) > most {
		return fmt.Errorf("an answer of %d bytes, expected at most %d", len(data), most)
	}
	m := r.message(data)
	if end {
		m.Header.Set(headerEnd, "1")
		if r.parts != nil && failed == nil {
			m.Header.Set(headerParts, r.parts.Text(big.MaxBase))
		}
	}
	if failed != nil {
		m.Header.Set(headerError, strings.NewReplacer("\r", " ", "\n", " ").Replace(failed.Error()))
	}
	if end {
		return r.from.remote.servers.conn.PublishMsg(m)
	}
	ctx, cancel := context.WithTimeout(r.ctx, readWithin)
	defer cancel()
	_, err := r.from.remote.servers.conn.RequestMsgWithContext(ctx, m)
	return err
}

// message returns a message of the answer.
func (r *reply) message(data []byte) *nats.Msg {
	return &nats.Msg{Subject: r.inbox, Data: data, Header: nats.Header{headerNode: {r.from.id}}}
}

// order answers with the results of the orders in a question.
func (r *reply) order(q question) (lines []string, err error) {
	if err := r.from.watch.seen.wait(r.ctx, q.Revision); err != nil {
		return nil, err
	}
	all, err := ask(r.ctx, r.from.loop, func() []*outcome { return r.from.orders.outcomes(q) })
	if err != nil {
		return nil, err
	}
	if len(all) == 0 {
		return []string{"another order has replaced it"}, nil
	}
	for _, o := range all {
		some, err := o.lines.wait(r.ctx)
		if err != nil {
			return nil, err
		}
		lines = append(lines, some...)
	}
	return lines, nil
}
