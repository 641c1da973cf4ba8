package seen

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/weftcrawl/weft/internal/long"
)

// fingerprints returns n random ones.
func fingerprints(n int, seed uint64) [][16]byte {
	r := rand.New(rand.NewPCG(seed, 1))
	all := make([][16]byte, n)
	for i := range all {
		binary.BigEndian.PutUint64(all[i][:], r.Uint64())
		binary.BigEndian.PutUint64(all[i][8:], r.Uint64())
	}
	return all
}

// TestUnlimited checks that a set without a limit holds exactly what was added, at 8 to 10 bytes a
// URL.
func TestUnlimited(t *testing.T) {
	n := long.Or(300_000, 1_000_000)
	for _, reserve := range []int{0, 10_000, n + n/5} {
		t.Run(fmt.Sprintf("room for %d", reserve), func(t *testing.T) {
			s := New(0)
			s.Reserve(reserve)
			all := fingerprints(2*n, 1)
			in, out := all[:n], all[n:]
			for i, fp := range in {
				if !s.Add(fp) || s.Add(fp) {
					t.Fatalf("fingerprint %d is not new, or new twice", i)
				}
				added := i + 1
				if bytes := float64(s.bytes) / float64(added); added >= 200_000 && added > reserve && added%50_000 == 0 && (bytes < 8 || bytes > 10) {
					t.Errorf("%.2f bytes a URL at %d", bytes, added)
				}
			}
			for i, fp := range in {
				if found, final := s.Has(fp); !found || !final {
					t.Fatalf("fingerprint %d is lost", i)
				}
			}
			for i, fp := range out {
				if found, final := s.Has(fp); found || !final {
					t.Fatalf("fingerprint %d was not added", i)
				}
			}
		})
	}
}

// TestLimited checks that a set at its limit keeps to its size and holds as many fingerprints as
// fit, always including the last one, and never denies for certain one that was added.
func TestLimited(t *testing.T) {
	const n = 400_000
	for _, limit := range []int{1, 64, 100 * 64, 1_000_000, 1_200_000, 2_000_000, 2_100_001} {
		t.Run(fmt.Sprintf("%d bytes", limit), func(t *testing.T) {
			s := New(limit)
			all := fingerprints(2*n, 2)
			for i, fp := range all[:n] {
				s.Add(fp)
				if found, final := s.Has(fp); !found && (final || s.share(int(fp[0])<<2|int(fp[1])>>6) > 0) {
					t.Fatalf("fingerprint %d was added, and is lost at once", i)
				}
			}
			if s.bytes > limit {
				t.Errorf("%d bytes", s.bytes)
			}
			held := 0
			for i, fp := range all[:n] {
				found, final := s.Has(fp)
				if !found && final {
					t.Fatalf("fingerprint %d was added, but is final and not found", i)
				}
				if found {
					held++
				}
			}
			if least := s.bytes / 2 * packedKeys / 64 * 9 / 10; held < least {
				t.Errorf("%d are held, expected at least %d", held, least)
			}
			unsure := 0
			for i, fp := range all[n:] {
				found, final := s.Has(fp)
				if found {
					t.Fatalf("fingerprint %d was not added", i)
				}
				if !final {
					unsure++
				}
			}
			if unsure > n*24/100 && limit >= 5*n/2 { // at 10 bits a URL for the filter
				t.Errorf("%d of %d fingerprints not added need a look-up", unsure, n)
			}
		})
	}
}

// TestRoomy checks that every reply is final while the set reports room.
func TestRoomy(t *testing.T) {
	s := New(1 << 20)
	for i, fp := range fingerprints(200_000, 3) {
		roomy := s.Roomy(1)
		s.Add(fp)
		if _, final := s.Has(fp); roomy && !final {
			t.Fatalf("no room for fingerprint %d, though there was", i)
		}
		if !roomy {
			if i < 120_000 {
				t.Errorf("room for %d in a MiB", i)
			}
			return
		}
	}
	t.Error("there is always room")
}

// TestPacked checks that a packed segment holds exactly what was added, however far from home,
// yields keys whole enough to be added to another, and takes less than 6 bytes a URL.
func TestPacked(t *testing.T) {
	for _, buckets := range []int{1, 2, 3, 5, 63, 64, 65, 1000, 6001} {
		t.Run(fmt.Sprintf("%d buckets", buckets), func(t *testing.T) {
			r := rand.New(rand.NewPCG(uint64(buckets), 1))
			p, room := newPacked(buckets), packedRoom(buckets)
			added := make(map[uint64]bool)
			for range room + 20 {
				key := r.Uint64()
				if !p.put(key) || p.put(key) || !p.has(key, false) {
					t.Fatalf("%x is not new, new twice, or lost at once", key)
				}
				added[p.cut(key)] = true
			}
			n := 0
			for key := range p.keys {
				if n++; !added[key] {
					t.Fatalf("%x comes back, and was not added", key)
				}
			}
			if n != len(added) {
				t.Errorf("%d keys come back, expected %d", n, len(added))
			}
			for key := range added {
				if !p.has(key, false) {
					t.Fatalf("%x is lost", key)
				}
			}
			for range 100_000 {
				if key := r.Uint64(); p.has(key, false) && !added[p.cut(key)] {
					t.Fatalf("%x was not added", key)
				}
			}
			if size := float64(buckets*bucketBytes+8*len(p.far)) / float64(room+20); buckets > 1000 && size > 6 {
				t.Errorf("%.2f bytes a URL", size)
			}
		})
	}
}

// TestPackedRemove checks that a packed segment keeps all keys but those that were removed, however
// far from home.
func TestPackedRemove(t *testing.T) {
	for _, buckets := range []int{1, 2, 3, 5, 64, 500} {
		r := rand.New(rand.NewPCG(uint64(buckets), 2))
		p, kept := newPacked(buckets), make(map[uint64]bool)
		for range packedRoom(buckets) + 20 {
			key := r.Uint64()
			p.put(key)
			kept[key] = true
		}
		for key := range kept {
			if !p.remove(key, false) || p.has(key, false) {
				t.Fatalf("%d buckets: %x is still there", buckets, key)
			}
			if delete(kept, key); len(kept)%16 > 0 {
				continue
			}
			for key := range kept {
				if !p.has(key, false) {
					t.Fatalf("%d buckets: %x is lost", buckets, key)
				}
			}
		}
		if len(p.far) > 0 {
			t.Errorf("%d buckets: %d keys are left far from home", buckets, len(p.far))
		}
	}
}

// FuzzSet checks that a set without a limit is exact, and that one with a limit holds nothing that
// was not added and denies nothing for certain that was.
func FuzzSet(f *testing.F) {
	f.Add([]byte("some text that is long enough for a few short keys, and others"), 0)
	f.Add(slices.Repeat([]byte{0}, 64), 64)
	f.Add([]byte("\xff\xff\xff\xff\xff\xff\xff\xff\xff\xfe\xff\xff\xff\xff\xff\xff"), 1)
	f.Fuzz(func(t *testing.T, data []byte, limit int) {
		s, set := New(limit), make(map[[16]byte]bool)
		for i := range data {
			var fp [16]byte // alike, so that they collide, and not only in bits that packing drops
			fp[1], fp[2] = data[i]&0x40, data[i]&0xc0
			fp[5] = data[(i+1)%len(data)]
			found, final := s.Has(fp)
			if found != set[fp] && (final || found) {
				t.Fatalf("%x: found %t, final %t, added %t", fp, found, final, set[fp])
			}
			if data[i]%3 == 0 {
				s.Remove(fp)
				delete(set, fp)
				continue
			}
			s.Add(fp)
			set[fp] = true
		}
		for fp := range set {
			if found, final := s.Has(fp); !found && final {
				t.Fatalf("%x is lost", fp)
			}
		}
	})
}

// TestRemove checks that a set from which some were removed holds exactly the others, or is unsure;
// and that those can be added again.
func TestRemove(t *testing.T) {
	const n = 30_000
	for _, limit := range []int{0, 3 * n, 6 * n, 8 * n} {
		t.Run(fmt.Sprintf("%d bytes", limit), func(t *testing.T) {
			s := New(limit)
			all := fingerprints(n, 4)
			for _, fp := range all {
				s.Add(fp)
			}
			for round := range 3 {
				for i, fp := range all {
					if i%3 == round {
						s.Remove(fp)
						s.Remove(fp)
					}
				}
				for i, fp := range all {
					found, final := s.Has(fp)
					if removed := i%3 == round; removed && found || !removed && !found && final {
						t.Fatalf("fingerprint %d: removed %t, found %t, final %t", i, removed, found, final)
					}
				}
				bytes := s.bytes
				for i, fp := range all {
					if i%3 == round && !s.Add(fp) {
						t.Fatalf("fingerprint %d is not new, though it was removed", i)
					}
				}
				if s.bytes > max(bytes+bytes/20, limit) {
					t.Errorf("%d bytes before adding what was removed, %d after", bytes, s.bytes)
				}
			}
		})
	}
}

// BenchmarkSet looks up one fingerprint, 70 % of them in the set, in batches of 256.
func BenchmarkSet(b *testing.B) {
	for _, size := range []struct{ n, limit int }{{1_000_000, 0}, {1_000_000, 5_900_000}, {20_000_000, 0}, {20_000_000, 118_000_000}} {
		n, s := size.n, New(size.limit)
		r := rand.New(rand.NewPCG(1, 1))
		some := make([][16]byte, 0, 1<<20)
		for i := range n {
			var fp [16]byte
			binary.BigEndian.PutUint64(fp[:], r.Uint64())
			binary.BigEndian.PutUint64(fp[8:], r.Uint64())
			s.Add(fp)
			if i%(n/cap(some)+1) == 0 && len(some) < cap(some) {
				some = append(some, fp)
			}
		}
		r.Shuffle(len(some), func(i, j int) { some[i], some[j] = some[j], some[i] })
		for i := range some {
			if i%10 >= 7 {
				binary.BigEndian.PutUint64(some[i][:], r.Uint64())
			}
		}
		for _, touch := range []bool{false, true} {
			b.Run(fmt.Sprintf("urls=%d/limit=%d/touch=%t", n, size.limit, touch), func(b *testing.B) {
				found := 0
				for i := 0; i < b.N; i += 256 {
					at := i % (len(some) - 256)
					batch := some[at : at+256]
					if touch {
						s.Touch(batch)
					}
					for _, fp := range batch {
						if ok, _ := s.Has(fp); ok {
							found++
						}
					}
				}
				if b.N > 1000 && found == 0 {
					b.Error("none is found")
				}
			})
		}
		b.Run(fmt.Sprintf("new/urls=%d/limit=%d", n, size.limit), func(b *testing.B) {
			for range b.N {
				var fp [16]byte
				binary.BigEndian.PutUint64(fp[:], r.Uint64())
				binary.BigEndian.PutUint64(fp[8:], r.Uint64())
				s.Add(fp)
			}
		})
	}
}
