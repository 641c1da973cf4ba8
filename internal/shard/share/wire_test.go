package share

import (
	"net/netip"
	"reflect"
	"testing"

	"github.com/weftcrawl/weft/internal/shard/ownership"
)

func example() *Message {
	four, six := netip.MustParseAddr("10.0.0.1"), netip.MustParseAddr("fe80::1%eth0")
	return &Message{
		From: ownership.Owner{ID: "a", Incarnation: 1}, To: ownership.Owner{ID: "b", Incarnation: 1 << 52}, Delay: 1e9,
		Asks:     []Ask{{Want, four, 1, 300}, {Release, six, 1 << 40, 2}},
		Replies:  []Reply{{Waits, six, 3, 4}, {Yield, four, 5, 6}},
		Needs:    []Table{{1023, 7}},
		Declared: []Declaration{{Table{5, 8}, []Held{{four, 9}, {six, 10}}}, {Table: Table{0, 0}}},
	}
}

func TestEncode(t *testing.T) {
	m := example()
	got, err := Decode(Encode(m))
	if err != nil || !reflect.DeepEqual(got, m) {
		t.Errorf("%+v, %v; expected %+v", got, err, m)
	}
	first, rest, ok := m.Halves()
	if !ok || len(first.Asks)+len(rest.Asks) != 2 || len(first.Needs)+len(rest.Needs) != 1 || first.To != m.To || rest.From != m.From {
		t.Errorf("%+v, %+v, %t", first, rest, ok)
	}
}

// FuzzDecode: what other nodes send does no harm, and what is understood is understood alike again.
func FuzzDecode(f *testing.F) {
	data := Encode(example())
	f.Add(data)
	for i := range data {
		f.Add(data[:i])
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		m, err := Decode(data)
		if err != nil {
			return
		}
		again, err := Decode(Encode(m))
		if err != nil || !reflect.DeepEqual(again, m) {
			t.Fatalf("%+v, %v; expected %+v", again, err, m)
		}
		h := NewHome(4)
		h.Own(1, 1, 1, false)
		h.See(1, 1, []ownership.Owner{m.From})
		h.Hear(2, m)
		h.Needs()
		h.Replies()
	})
}
