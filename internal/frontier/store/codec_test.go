package store

import (
	"bytes"
	"cmp"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/weftcrawl/weft/internal/frontier"
	"github.com/weftcrawl/weft/weburl"
)

func parse(t testing.TB, raw string) weburl.URL {
	t.Helper()
	u, err := weburl.Parse(raw)
	if err != nil {
		t.Fatal(err)
	}
	return u.Canonical()
}

// urls returns URLs of every shape that a frontier may write.
func urls(t testing.TB) []frontier.URL {
	at := time.UnixMicro(1_700_000_000_123_456)
	long := "https://example.org/" + string(bytes.Repeat([]byte("x"), weburl.MaxLength-1000))
	return []frontier.URL{
		{URL: parse(t, "http://a.test/"), Seq: 1},
		{URL: parse(t, "http://a.test:8080/p/q?r=s"), From: "http://a.test:8080/p", Data: "a\x00b", Depth: 3, Hops: 2, Priority: -128, Rank: 127, Seq: 1 << 40},
		{URL: parse(t, "https://user:word@b.test/x"), From: "https://b.test/", Priority: 127, Depth: 1 << 30, Rank: -128, Seq: 255},
		{URL: parse(t, "http://xn--bcher-kva.test/%C3%BC?%FF"), From: "\xff not a URL", Seq: 256},
		{URL: parse(t, "http://[::1]:81//a//b"), From: "", Tries: 3, NotBefore: at, Seq: 9, Past: []frontier.Try{
			{At: at, Status: 503}, {At: at.Add(time.Second), Kind: "connect", Reason: "no \x00 luck"}, {},
		}},
		{URL: parse(t, "http://a.test./#x"), From: "http://a.test.evil/", Seq: 2},
		{URL: parse(t, "http://a.test/known"), Seq: 4, Known: &frontier.Snapshot{
			Number: 2, Change: "changed", At: at, First: at.Add(-time.Hour), Changed: at, Status: 200, Redirect: "http://b.test/", Content: [32]byte{1, 31: 2},
			Text: 1<<64 - 1, Bytes: 1 << 40, Link: 1<<32 - 1, RobotsTag: 1, ETag: `W/"x"`, Modified: "Sun, 06 Nov 1994 08:49:37 GMT", Type: "text/html", Title: "A title",
		}},
		{URL: parse(t, "http://a.test/known"), Seq: 5, Known: &frontier.Snapshot{}},
		{URL: parse(t, "http://a.test/archived"), Seq: 8, Known: &frontier.Snapshot{Title: "x", Capture: frontier.Capture{At: at.UTC(), Payload: [16]byte{1}}}},
		{URL: parse(t, "http://a.test/page"), Seq: 10, Known: &frontier.Snapshot{About: frontier.About{
			Description: "A page", H1: "A heading", Canonical: "http://a.test/", Words: 300, Indexability: "canonical",
		}}},
		{URL: parse(t, "http://a.test/both"), Seq: 11, Known: &frontier.Snapshot{
			Capture: frontier.Capture{At: at.UTC(), Payload: [16]byte{15: 2}}, About: frontier.About{Words: 1}, Gone: 3,
		}},
		{URL: parse(t, "http://a.test/asset"), Hops: 1<<14 - 1, Role: frontier.RoleAsset, Seq: 6},
		{URL: parse(t, "http://a.test/external"), Role: frontier.RoleExternal, Seq: 7},
		{URL: parse(t, long), From: long, Seq: 3},
	}
}

func TestPendingRoundTrip(t *testing.T) {
	for _, u := range urls(t) {
		origin := u.URL.Origin()
		key, value := appendPendingKey(nil, origin, u.QueueKey()), appendKnown(appendPending(nil, origin, u), u.Known)
		got, err := decodePending(key, value)
		if err != nil || !reflect.DeepEqual(got, u) {
			t.Errorf("%.80s: %v\n got %.300v\nwant %.300v", u.URL, err, got, u)
		}
		entry, err := decodeEntry(appendRefused(nil, frontier.Refusal{URL: u, Kind: "k", Reason: "r"}, time.UnixMicro(5)))
		want := Entry{URL: u, State: Refused, At: time.UnixMicro(5), Kind: "k", Reason: "r"}
		if err != nil || !reflect.DeepEqual(entry, want) {
			t.Errorf("%.80s: %v\n got %.300v\nwant %.300v", u.URL, err, entry, want)
		}
	}
}

func TestOriginRoundTrip(t *testing.T) {
	at := time.UnixMicro(1_700_000_000_123_456)
	for _, o := range []frontier.OriginState{
		{Name: "http://a.test"},
		{
			Name: "http://a.test", Pending: 1 << 30, Tried: 3, Answered: 7, Errors: 2, Capped: true, Asked: at, Took: time.Hour, Best: -1, Most: 255,
			BackOffEnd: at.Add(time.Hour), Strikes: 4, Overload: true, Responded: true,
			Trouble: frontier.TroubleState{Since: at, Failures: 8, Until: at.Add(time.Minute), GivenUp: true, Kind: "connect", Reason: "refused"},
			Robots:  frontier.RobotsState{Have: true, Shut: true, Until: at, Tries: 2, Kind: "http-503", Reason: "\x1b[0m"},
		},
	} {
		got, err := decodeOrigin(o.Name, appendOrigin(nil, o))
		if err != nil || got != o {
			t.Errorf("%v\n got %v\nwant %v", err, got, o)
		}
	}
	b := appendOrigin(nil, frontier.OriginState{Name: "http://a.test", Most: 2, Seed: true})
	got, err := decodeOrigin("http://a.test", b[:len(b)-7]) // a job from before hosts were parked
	if want := (frontier.OriginState{Name: "http://a.test", Most: 2, Seed: true}); err != nil || got != want {
		t.Errorf("old job: %v\n got %v\nwant %v", err, got, want)
	}
}

// TestQueueKeysAreOrdered checks that encoded queue keys sort like the keys themselves, since the
// store reads an origin's URLs in the order of its queue.
func TestQueueKeysAreOrdered(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	edge := []uint64{0, 1, 127, 128, 255, 256, 65535, 65536, 1<<31 - 1}
	var keys []frontier.QueueKey
	for range 500 {
		keys = append(keys, frontier.QueueKey{
			Tried: rng.IntN(2) == 0, Priority: int8(rng.Uint32()), Depth: int(edge[rng.IntN(len(edge))]), Rank: int8(rng.Uint32()), Seq: edge[rng.IntN(len(edge))],
		})
		p := &keys[len(keys)-1]
		p.Kept = !p.Tried && rng.IntN(2) == 0
		p.ByDepth = !p.Tried && !p.Kept && rng.IntN(2) == 0
	}
	keys = append(keys, firstUntried)
	for _, p := range keys {
		if got, err := decodeQueueKey(appendQueueKey(nil, p)); err != nil || got != p {
			t.Fatalf("%v decodes to %v, %v", p, got, err)
		}
		for _, q := range keys {
			a, b := appendQueueKey(nil, p), appendQueueKey(nil, q)
			if got, want := bytes.Compare(a, b), p.Compare(q); cmp.Compare(got, 0) != cmp.Compare(want, 0) {
				t.Fatalf("%v and %v: order %d, want %d", p, q, got, want)
			}
		}
	}
}

// FuzzDecode checks that arbitrary bytes decode to an error or a value, without a panic and without
// allocating more than their size, and that a value survives encoding and decoding.
func FuzzDecode(f *testing.F) {
	for _, u := range urls(f)[:8] {
		f.Add(appendPendingKey(nil, u.URL.Origin(), u.QueueKey()), appendKnown(appendPending(nil, u.URL.Origin(), u), u.Known))
		f.Add([]byte{}, appendDone(nil, u))
		f.Add([]byte("0123456789abcdef"), appendRedirect(nil, 3, &u))
	}
	f.Add([]byte{}, appendOrigin(nil, frontier.OriginState{Pending: 3}))
	f.Add([]byte{}, appendCounts(nil, frontier.Stats{Done: 3}))
	f.Fuzz(func(t *testing.T, key, value []byte) {
		if u, err := decodePending(append([]byte{keyPending}, key...), value); err == nil {
			origin := string(key[:bytes.IndexByte(key, 0)])
			again, err := decodePending(appendPendingKey(nil, origin, frontier.QueueKey{Tried: key[len(origin)+1] == classTried, Kept: key[len(origin)+1] == classKept, ByDepth: key[len(origin)+1] == classByDepth, Priority: u.Priority, Depth: u.Depth, Rank: u.Rank, Seq: u.Seq}),
				appendKnown(appendPending(nil, origin, u), u.Known))
			if err != nil || !reflect.DeepEqual(u, again) {
				t.Fatalf("pending: %v, then %v, %v", u, again, err)
			}
		}
		if e, err := decodeEntry(value); err == nil {
			b := appendDone(nil, e.URL)
			if e.State == Refused {
				b = appendRefused(nil, frontier.Refusal{URL: e.URL, Kind: e.Kind, Reason: e.Reason}, e.At)
			}
			if again, err := decodeEntry(b); err != nil || !reflect.DeepEqual(e, again) {
				t.Fatalf("entry: %v, then %v, %v", e, again, err)
			}
		}
		if r, err := decodeRedirect(key, value); err == nil {
			if again, err := decodeRedirect(key, appendRedirect(nil, r.Fewest, r.Target)); err != nil || !reflect.DeepEqual(r, again) {
				t.Fatalf("redirect: %v, then %v, %v", r, again, err)
			}
		}
		if o, err := decodeOrigin(string(key), value); err == nil {
			if again, err := decodeOrigin(string(key), appendOrigin(nil, o)); err != nil || again != o {
				t.Fatalf("origin: %v, then %v, %v", o, again, err)
			}
		}
		if c, err := decodeCounts(value); err == nil {
			if again, err := decodeCounts(appendCounts(nil, c)); err != nil || again != c {
				t.Fatalf("counts: %v, then %v, %v", c, again, err)
			}
		}
		_, _ = decodeNumber(value)
		_, _ = decodeQueueKey(slices.Clone(value))
		_ = printable(key)
	})
}

// TestOriginKeys checks that the key of an origin identifies it, whatever its form, and starts
// with the host name.
func TestOriginKeys(t *testing.T) {
	for origin, name := range map[string]string{
		"http://a.test": "a.test", "https://a.test": "a.test", "http://a.test:8080": "a.test", "http://a.test.": "a.test.",
		"http://127.0.0.1:81": "127.0.0.1", "http://[::1]": "[::1]", "https://[2001:db8::1]:8443": "[2001:db8::1]",
		"ftp://a.test:2121": "a.test", "null": "",
	} {
		for _, of := range []byte{originRules, originState} {
			key := originKey(origin, of)
			got, named, ok := originOf(key)
			if got != origin || named != name || !ok || key[len(key)-1] != of || !bytes.HasPrefix(key, nameKey(name)) {
				t.Errorf("%s: key %q, of %q, name %q, %t; want name %q", origin, key, got, named, ok, name)
			}
		}
	}
	for _, key := range []string{"", "h", "h\x00", "ha.test\x01", "ha.test\x00rest\x00"} {
		if origin, name, ok := originOf([]byte(key)); ok && origin != "" {
			t.Errorf("key %q: of %q, name %q, want none", key, origin, name)
		}
	}
}
