package cluster

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"math/big"
	"slices"
	"strings"
	"time"

	"github.com/weftcrawl/weft"
)

// Questions to nodes. A node answers in messages, one after the other: it sends the next when the
// asker has confirmed the one before. So a long answer waits for its reader and takes no memory on
// the way.

// The commands of questions.
const (
	askHosts = "hosts"
	askURLs  = "urls"
	askWhy   = "why"
	askDo    = "do"
)

// question is a question to nodes, of a person.
type question struct {
	Command  string         `json:"command"`
	Args     []string       `json:"args,omitempty"`
	Filter   weft.URLFilter `json:"filter"`
	Only     *big.Int       `json:"only,omitempty"`     // the partitions to list, by bits; nil: all
	Revision uint64         `json:"revision,omitempty"` // of the orders in force; 0: it does not last
	New      bool           `json:"new,omitempty"`      // it is new with that revision
}

// answer is a value of the answer of a node, or the end of what it lists.
type answer struct {
	node   string
	value  json.RawMessage
	listed *big.Int // at the end: the partitions that the answer has, by bits
}

// Header fields of answers.
const (
	headerNode  = "Weft-Node"
	headerEnd   = "Weft-End"   // the answer's last message
	headerError = "Weft-Error" // the reason why there is no more
	headerParts = "Weft-Parts" // with the end: the partitions that the node lists; bits, in base 62
)

// answerWithin is the silence after which a node counts as one that does not answer.
const answerWithin = 5 * time.Second

// errNoNode says that there is no node to ask.
var errNoNode = errors.New("no node runs")

// ask asks a node, or all that are alive, and yields their answers. An error comes last: that of
// nodes, or that some did not answer.
func (c *Client) ask(ctx context.Context, id string, q question) iter.Seq2[answer, error] {
	return func(yield func(answer, error) bool) {
		names, all, err := c.alive(ctx)
		switch {
		case err == nil && len(names) == 0:
			err = fmt.Errorf("crawl %s: %w", c.remote.name, errNoNode)
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
				yield(answer{}, fmt.Errorf("crawl %s: the node that has the host does not run", c.remote.name))
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
			yield(answer{}, fmt.Errorf("crawl %s: %w", c.remote.name, errNoNode))
			return
		}
		if err := c.converse(ctx, id, q, names, yield); err != nil {
			yield(answer{}, err)
		}
	}
}

// converse sends a question, and reads answers until all nodes have ended theirs.
func (c *Client) converse(ctx context.Context, id string, q question, names map[string]string, yield func(answer, error) bool) error {
	inbox, err := c.remote.servers.conn.SubscribeSync(c.remote.servers.conn.NewRespInbox())
	if err != nil {
		return c.remote.servers.refused(err)
	}
	defer func() { _ = inbox.Unsubscribe() }()
	text, err := json.Marshal(q)
	if err != nil {
		return err
	}
	if err := c.remote.servers.conn.PublishRequest(c.remote.name.asks(id), inbox.Subject, text); err != nil {
		return c.remote.servers.refused(err)
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
			if !yield(answer{node: name, value: line}, nil) {
				return nil
			}
		}
		if listed, ok := new(big.Int).SetString(m.Header.Get(headerParts), big.MaxBase); ok && !yield(answer{node: name, listed: listed}, nil) {
			return nil
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
			return c.remote.servers.refused(err)
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

// alive returns the names of the nodes that are there, by their IDs, and those of all. Its error
// may be ErrOver.
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
		return nil, all, fmt.Errorf("crawl %s: %w", c.remote.name, ErrOver)
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
