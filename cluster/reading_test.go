package cluster

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/weftcrawl/weft"
	"github.com/weftcrawl/weft/internal/shard/ownership"
)

// TestReading: one consumer reads the logs of many partitions: of each the last whole snapshot,
// then the changes since its beginning, including any number of changes between its pieces.
func TestReading(t *testing.T) {
	t.Parallel()
	c := begun(t)
	if _, _, err := c.begin(t.Context(), &weft.Options{Job: "job", Seeds: []string{"http://a.test/"}}, 64); err != nil {
		t.Fatal(err)
	}
	var last uint64
	add := func(p int, header string, blocks ...string) uint64 {
		t.Helper()
		var all [][]byte
		for _, b := range blocks {
			all = append(all, []byte(b))
		}
		data := pack(all)
		for i, piece := range [][]byte{data[:len(data)/2], data[len(data)/2:]} {
			// A long one comes in pieces, too.
			h := nats.Header{}
			for field := range strings.FieldsSeq(header) {
				key, value, _ := strings.Cut(field, "=")
				h.Set("Weft-"+key, value)
			}
			h.Set(headerEpoch, "1")
			if i == 0 {
				h.Set(headerMore, "1")
			} else {
				h.Set(headerLater, "1")
			}
			ack, err := c.servers.js.PublishMsg(t.Context(), &nats.Msg{Subject: c.name.log(p), Header: h, Data: piece})
			if err != nil {
				t.Fatal(err)
			}
			last = ack.Sequence
		}
		return last
	}
	if _, err := c.servers.js.Publish(t.Context(), strings.TrimSuffix(c.name.allLogs(), ">")+"stranger", nil); err != nil {
		t.Fatal(err)
	}
	many := make([]byte, mostKept/2)
	_, _ = rand.NewChaCha8([32]byte{}).Read(many) // which S2 does not make shorter
	type log struct {
		whole, to uint64
		want      []string
	}
	logs := make(map[int]log)
	for p := range 40 {
		is := func(s string) string { return fmt.Sprint(s, p) }
		old := add(p, "", is("old"))
		add(p, fmt.Sprint("Kind=snapshot Snapshot=", old), is("unfinished"))
		from := add(p, "", is("before"))
		piece := "Kind=snapshot Snapshot=" + strconv.FormatUint(from, 10)
		add(p, piece, is("one"), is("two"))
		between := []string{is("between")}
		if p == 3 { // more than is kept
			for i := range 3 {
				between = append(between, string(many[i:]))
			}
		}
		for _, b := range between {
			add(p, "", b)
		}
		add(p, piece, is("three"))
		add(p, "Kind=end Snapshot="+strconv.FormatUint(from, 10))
		add(p, "", is("after"))
		add(p, fmt.Sprint("Kind=snapshot Snapshot=", last), is("unfinished"))
		add(p, "Kind=opening")
		want := slices.Concat([]string{is("one"), is("two"), is("three")}, between, []string{is("after")})
		logs[p] = log{from, last, want}
		add(p, "", "of the next owner")
	}
	for name, partitions := range map[string]int{"by their subjects": 40 * 2 * scansAll, "among all": 40} {
		ops := newOperations(t.Context())
		reader := newLogReader(ops, &watch{remote: c, seen: newRevision()}, partitions, 0, aside{})
		var all sync.WaitGroup
		for p, l := range logs {
			all.Go(func() {
				one, err := reader.read(t.Context(), p, l.whole, l.to)
				if err != nil {
					t.Error(err)
					return
				}
				defer one.leave()
				var got []string
				for b, err := range one.blocks(t.Context()) {
					if err != nil {
						t.Error(err)
						return
					}
					got = append(got, string(b))
					if p == 5 {
						return // a reader that wants no more keeps nobody waiting
					}
				}
				if !slices.Equal(got, l.want) {
					t.Errorf("log %d, read %s: %.200q, expected %.200q", p, name, got, l.want)
				}
			})
		}
		all.Wait()
		ops.wait()
		if units, kept := len(reader.room), reader.kept.Load(); units > 0 || kept > 0 {
			t.Errorf("read %s: %d units of room and %d bytes were not given back", name, units, kept)
		}
	}
}

// TestReached: a message that names a revision which the bucket does not have is an error; one that
// the watch has not come to yet is waited for.
func TestReached(t *testing.T) {
	t.Parallel()
	c := begun(t)
	c.beat = time.Millisecond
	if _, _, err := c.begin(t.Context(), &weft.Options{Job: "job", Seeds: []string{"http://a.test/"}}, 64); err != nil {
		t.Fatal(err)
	}
	s, err := c.open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	w := &watch{remote: c, bucket: s.bucket, seen: newRevision()}
	if err := w.reached(t.Context(), 1000); !strings.Contains(errorText(err), "it names revision 1000 of bucket weft_test, which has") {
		t.Error(err)
	}
	done := make(chan error)
	go func() { done <- w.reached(t.Context(), 1) }()
	w.seen.reach(1)
	if err := <-done; err != nil {
		t.Error(err)
	}
	end := &endOfCrawl{remote: c, streams: &s, own: ownNode(t, 64)}
	for range 2 { // the probes are no links
		if empty, err := end.noLinks(t.Context()); err != nil || !empty {
			t.Error(empty, err)
		}
	}
	if _, err := c.servers.js.Publish(t.Context(), c.name.links(3), nil); err != nil {
		t.Fatal(err)
	}
	if empty, err := end.noLinks(t.Context()); err != nil || empty {
		t.Error(empty, err)
	}
}

// ownNode is a node that knows nothing yet.
func ownNode(t *testing.T, partitions int) *ownership.Node {
	t.Helper()
	n, err := ownership.New(ownership.Config{ID: "a", Incarnation: 1, Partitions: partitions})
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func errorText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// TestCalledOff: a reading that is called off has messages or an error, whatever it waits for.
func TestCalledOff(t *testing.T) {
	t.Parallel()
	ctx, stop := context.WithCancel(t.Context())
	stop()
	for name, widened := range map[string]uint64{"a message that waits for nothing": 0, "one that waits": 9} {
		r := newLogReader(nil, &watch{remote: &remote{beat: time.Hour}, seen: newRevision()}, 1, 0, aside{})
		g := &reading{logs: r, queue: make(chan *message, 1)}
		if err := r.room.take(t.Context(), 1); err != nil {
			t.Fatal(err)
		}
		g.queue <- &message{seq: 1, widened: widened, data: []byte("x")}
		close(g.queue)
		for m, err := range g.messages(ctx) {
			if (m == nil) == (err == nil) || (err == nil) != (widened == 0) {
				t.Errorf("%s: %v, %v", name, m, err)
			}
		}
	}
}
