package dns

import (
	"bufio"
	"errors"
	"hash/maphash"
	"io"
	"io/fs"
	"net/netip"
	"slices"
	"strings"

	"github.com/weftcrawl/weft/internal/regular"
)

const (
	// maxHostsFile bounds the part of a hosts file that is read: those that block advertisements
	// have a few megabytes.
	maxHostsFile = 64 << 20

	maxHostAddrs = 32 // of a name
	maxZone      = 64 // bytes of the zone of an address: names of interfaces have 15 at most
)

// eachHost calls visit for each name of a hosts file (hosts(5)): on each line an address, then
// names for it; # begins a comment. Lines that do not begin with an address are ignored. Names are
// in lower case, without a final dot.
func eachHost(file io.Reader, visit func(name string, addr netip.Addr)) error {
	lines := bufio.NewReader(io.LimitReader(file, maxHostsFile))
	for {
		line, err := lines.ReadString('\n')
		line, _, _ = strings.Cut(line, "#")
		if fields := strings.Fields(line); len(fields) > 1 {
			if addr, err := netip.ParseAddr(fields[0]); err == nil && len(addr.Zone()) <= maxZone {
				for _, name := range fields[1:] {
					if name = strings.TrimSuffix(strings.ToLower(name), "."); valid(name) {
						visit(name, addr.Unmap())
					}
				}
			}
		}
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// addrsIn returns the addresses of a name in a hosts file; none if there is no such file.
func addrsIn(path, name string) (addrs []netip.Addr, err error) {
	file, err := regular.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer file.Close()
	err = eachHost(file, func(is string, addr netip.Addr) {
		if is == name && len(addrs) < maxHostAddrs && !slices.Contains(addrs, addr) {
			addrs = append(addrs, addr)
		}
	})
	return addrs, err
}

// names is the set of the names that a hosts file may have, in a sixteenth of its size: a Bloom
// filter. Files that block advertisements have millions of names, of which a crawl meets few. The
// zero names has none.
type names struct {
	seed maphash.Seed
	bits []uint64 // a power of two of them
}

// A name has probes bits. Bits of a file that is shorter than maxNames*16 bytes come to two for
// each of its bytes at least, so that hardly any other name looks like one of them.
const (
	probes   = 4
	maxNames = 2 << 20 // bytes
)

// namesOf returns the names of a hosts file of a size in bytes.
func namesOf(file io.Reader, size int64) (names, error) {
	words := 1
	for words*8 < maxNames && int64(words)*128 < size {
		words *= 2
	}
	n := names{maphash.MakeSeed(), make([]uint64, words)}
	return n, eachHost(file, func(name string, _ netip.Addr) {
		for word, bit := range n.places(name) {
			n.bits[word] |= bit
		}
	})
}

// has reports whether a name may be in the file. If it says no, it is not.
func (n *names) has(name string) bool {
	if len(n.bits) == 0 {
		return false
	}
	for word, bit := range n.places(name) {
		if n.bits[word]&bit == 0 {
			return false
		}
	}
	return true
}

// places yields the bits of a name, each with the index of its word.
func (n *names) places(name string) func(yield func(word uint64, bit uint64) bool) {
	hash := maphash.String(n.seed, name)
	step := hash>>32 | 1
	return func(yield func(word, bit uint64) bool) {
		for range probes {
			if !yield(hash>>6%uint64(len(n.bits)), 1<<(hash&63)) {
				return
			}
			hash += step
		}
	}
}
