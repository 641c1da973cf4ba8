package cluster

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/weftcrawl/weft"
	"github.com/weftcrawl/weft/internal/shard/partition"
)

// Questions to nodes. A node answers in messages, one after the other: it sends the next when the asker has
// confirmed the one before. So a long answer waits for its reader and takes no memory on the way.

// The commands of questions.
const (
	askHosts = "hosts"
	askURLs  = "urls"
	askWhy   = "why"
	askDo    = "do"
)

// question is what a node is asked.
type question struct {
	Command  string         `json:"command"`
	Args     []string       `json:"args,omitempty"`
	Filter   weft.URLFilter `json:"filter"`
	Revision uint64         `json:"revision,omitempty"` // of the orders in force, with this one; 0: it does not last
	New      bool           `json:"new,omitempty"`      // it is new with that revision
}

// answer is a value of the answer of a node.
type answer struct {
	node  string
	value json.RawMessage
}

// Header fields of answers.
const (
	headerNode  = "Weft-Node"
	headerEnd   = "Weft-End"   // the answer's last message
	headerError = "Weft-Error" // why there is no more
)

const (
	answerBytes   = 128 << 10       // of a message of an answer, about
	answerWithin  = 5 * time.Second // a node that is silent for longer does not answer
	readWithin    = time.Minute     // an asker that is silent for longer has gone
	answersAtOnce = 4
)

// answering makes the node answer questions until stop is called.
func (n *node) answering() (stop func()) {
	room := make(chan struct{}, answersAtOnce)
	var all []*nats.Subscription
	stop = func() {
		for _, s := range all {
			_ = s.Unsubscribe() // the connection may be gone
		}
	}
	for _, subject := range []string{n.asks(""), n.asks(n.dir.Node)} {
		s, err := n.conn.Subscribe(subject, func(m *nats.Msg) {
			select {
			case room <- struct{}{}:
				n.ops.Go(func() {
					defer func() { <-room }()
					n.answer(m)
				})
			default: // the asker learns it by the silence
			}
		})
		if err != nil {
			n.warn(fmt.Errorf("weft hosts, urls, why and ctl cannot ask this node: %w", n.refused(err)))
			break
		}
		all = append(all, s)
	}
	return stop
}

// answer answers one question.
func (n *node) answer(m *nats.Msg) {
	ctx, cancel := context.WithCancel(n.ctx)
	defer cancel()
	to := &reply{node: n, ctx: ctx, inbox: m.Reply}
	n.ops.Go(func() { to.showLife(ctx) })
	err := to.about(m.Data)
	_ = to.send(err, true) // who does not listen needs no answer
}

// reply is an answer on its way.
type reply struct {
	node  *node
	ctx   context.Context
	inbox string
	lines bytes.Buffer
}

// about answers a question, but for the last message.
func (r *reply) about(text []byte) error {
	var q question
	if err := json.Unmarshal(text, &q); err != nil {
		return fmt.Errorf("the question: %w", err)
	}
	job, err := weft.OpenJob(r.ctx, r.node.crawler.Job())
	if err != nil {
		return err
	}
	defer job.Close()
	switch q.Command {
	case askHosts:
		return put(r, ofListed(r, job.Hosts(r.ctx), func(h weft.HostStatus) string { return h.Host }))
	case askURLs:
		return put(r, ofListed(r, job.URLs(r.ctx, q.Filter), func(u weft.URLStatus) string { return u.URL }))
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
func ofListed[T any](r *reply, all iter.Seq2[T, error], href func(T) string) iter.Seq2[T, error] {
	came := make(chan []bool, 1)
	r.node.mail.post(func() { came <- r.node.listed() })
	return func(yield func(T, error) bool) {
		var listed []bool
		select {
		case listed = <-came:
		case <-r.ctx.Done():
			return
		}
		for v, err := range all {
			if err == nil && !listed[partition.OfURL(href(v), len(listed))] {
				continue
			}
			if !yield(v, err) {
				return
			}
		}
	}
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
	if most := r.node.mostData(); len(data) > most {
		return fmt.Errorf("an answer of %d bytes, expected at most %d", len(data), most)
	}
	m := r.message(data)
	if end {
		m.Header.Set(headerEnd, "1")
	}
	if failed != nil {
		m.Header.Set(headerError, strings.NewReplacer("\r", " ", "\n", " ").Replace(failed.Error()))
	}
	if end {
		return r.node.conn.PublishMsg(m)
	}
	ctx, cancel := context.WithTimeout(r.ctx, readWithin)
	defer cancel()
	_, err := r.node.conn.RequestMsgWithContext(ctx, m)
	return err
}

// message returns a message of the answer.
func (r *reply) message(data []byte) *nats.Msg {
	return &nats.Msg{Subject: r.inbox, Data: data, Header: nats.Header{headerNode: {r.node.dir.Node}}}
}

// showLife lets the asker know, until ctx ends, that an answer is being looked for.
func (r *reply) showLife(ctx context.Context) {
	tick := time.NewTicker(answerWithin / 4)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			_ = r.node.conn.PublishMsg(r.message(nil)) // the next one is as good
		case <-ctx.Done():
			return
		}
	}
}

// errNoNode says that there is no node to ask.
var errNoNode = errors.New("no node runs")

// ask asks a node, or all that are alive, and yields their answers. An error comes last: that of nodes, or
// that some did not answer.
func (c *Client) ask(ctx context.Context, id string, q question) iter.Seq2[answer, error] {
	return func(yield func(answer, error) bool) {
		names, all, err := c.alive(ctx)
		switch {
		case err == nil && len(names) == 0:
			err = fmt.Errorf("crawl %s: %w", c.layout, errNoNode)
			fallthrough
		case errors.Is(err, ErrOver):
			yield(answer{}, fmt.Errorf("%w, and what its nodes have done is in their folders: %s", err, folders(all)))
			return
		case err != nil:
			yield(answer{}, err)
			return
		}
		if id != "" {
			if _, ok := names[id]; !ok {
				yield(answer{}, fmt.Errorf("crawl %s: the node that has the host does not run", c.layout))
				return
			}
			names = map[string]string{id: names[id]}
		}
		for a, err := range c.askAll(ctx, id, q, names) {
			if !yield(a, err) {
				return
			}
		}
	}
}

// askAll is like ask, for the nodes with these names.
func (c *Client) askAll(ctx context.Context, id string, q question, names map[string]string) iter.Seq2[answer, error] {
	return func(yield func(answer, error) bool) {
		if len(names) == 0 {
			yield(answer{}, fmt.Errorf("crawl %s: %w", c.layout, errNoNode))
			return
		}
		if err := c.converse(ctx, id, q, names, yield); err != nil {
			yield(answer{}, err)
		}
	}
}

// converse sends a question, and reads answers until all nodes have ended theirs.
func (c *Client) converse(ctx context.Context, id string, q question, names map[string]string, yield func(answer, error) bool) error {
	inbox, err := c.conn.SubscribeSync(c.conn.NewRespInbox())
	if err != nil {
		return c.refused(err)
	}
	defer func() { _ = inbox.Unsubscribe() }()
	text, err := json.Marshal(q)
	if err != nil {
		return err
	}
	if err := c.conn.PublishRequest(c.asks(id), inbox.Subject, text); err != nil {
		return c.refused(err)
	}
	var failures []error
	for len(names) > 0 {
		short, cancel := context.WithTimeout(ctx, answerWithin)
		m, err := inbox.NextMsgWithContext(short)
		cancel()
		if err != nil {
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			var silent []string
			for _, name := range names {
				silent = append(silent, name)
			}
			slices.Sort(silent)
			failures = append(failures, fmt.Errorf("%s: no answer; %s", strings.Join(silent, ", "), q.unanswered()))
			break
		}
		node := m.Header.Get(headerNode)
		name, ok := names[node]
		if !ok {
			continue
		}
		for line := range bytes.Lines(m.Data) {
			if !yield(answer{name, line}, nil) {
				return nil
			}
		}
		if text := m.Header.Get(headerError); text != "" {
			failures = append(failures, fmt.Errorf("%s: %s", name, text))
		}
		if m.Header.Get(headerEnd) != "" {
			delete(names, node)
			continue
		}
		if m.Reply == "" {
			continue // the node is looking for more
		}
		if err := m.Respond(nil); err != nil {
			return c.refused(err)
		}
	}
	return errors.Join(failures...)
}

// unanswered says what follows if nodes do not answer.
func (q *question) unanswered() string {
	if q.Revision > 0 {
		return "the order reaches them later"
	}
	return "the output leaves them out"
}

// alive returns the names of the nodes that are there, by their IDs, and those of all. Its error may be ErrOver.
func (c *Client) alive(ctx context.Context) (names map[string]string, all []string, err error) {
	s, err := c.Status(ctx)
	if err != nil {
		return nil, nil, err
	}
	names = make(map[string]string)
	for _, n := range s.Nodes {
		all = append(all, n.Name)
		if n.there() {
			names[n.ID] = n.Name
		}
	}
	if s.Over {
		return nil, all, fmt.Errorf("crawl %s: %w", c.layout, ErrOver)
	}
	return names, all, nil
}

// mostFolders bounds the folders that an error names.
const mostFolders = 5

func folders(names []string) string {
	text := strings.Join(names[:min(len(names), mostFolders)], ", ")
	if more := len(names) - mostFolders; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}
