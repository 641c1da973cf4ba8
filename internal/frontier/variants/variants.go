// Package variants counts the URLs of a crawl by path, so that a path with endless queries can be
// cut off.
//
// The counts are a count-min sketch (Cormode and Muthukrishnan, 2005) with conservative update
// (Estan and Varghese, 2002). A count is never below the truth. With N URLs counted it is above
// the truth by more than N·e/2¹⁸, one in a hundred thousand, for at most e⁻⁴ of the paths, 1.8 %,
// and for far fewer in practice: see TestError.
//
// The hash has no secret, so that a crawl is the same every time. A site with pages of four paths
// counted to the limit can exhaust the count of a path elsewhere, and gains nothing by it.
package variants

import (
	"crypto/sha256"
	"encoding/binary"
	"math"
	"strings"

	"github.com/weftcrawl/weft/weburl"
)

// Counter counts variants by key. The zero Counter is empty, and takes memory from the first count
// on: 4 MiB. It is owned by one goroutine.
type Counter struct {
	counts []uint32 // by row and column
}

const (
	rows    = 4
	columns = 1 << 18
)

// Key returns what the URLs have in common that differ only in their query and in the parameters
// of their path: 128 bits of the hash of everything before the first ';' or '?'. ok is false if the
// URL has neither, and so no variants.
func Key(u weburl.URL) (key [16]byte, ok bool) {
	href, target := u.String(), u.RequestTarget()
	at := strings.IndexAny(target, ";?")
	if at < 0 {
		return key, false
	}
	sum := sha256.Sum256([]byte(href[:len(href)-len(target)+at]))
	return [16]byte(sum[:16]), true
}

// Add counts a variant unless limit of its key were counted before. It returns the new count, or 0
// if the variant was not counted.
func (c *Counter) Add(key [16]byte, limit int) int {
	cells := c.cells(key)
	n := uint32(math.MaxUint32)
	for _, cell := range cells {
		n = min(n, *cell)
	}
	if int64(n) >= int64(limit) || n == math.MaxUint32 {
		return 0
	}
	raise(cells, n+1)
	return int(n + 1)
}

// Raise sets the count of a key to n if it is lower.
func (c *Counter) Raise(key [16]byte, n int) {
	raise(c.cells(key), uint32(min(uint64(n), math.MaxUint32)))
}

func raise(cells [rows]*uint32, n uint32) {
	for _, cell := range cells {
		*cell = max(*cell, n)
	}
}

// cells returns where a key is counted.
func (c *Counter) cells(key [16]byte) (cells [rows]*uint32) {
	if c.counts == nil {
		c.counts = make([]uint32, rows*columns)
	}
	for row := range cells {
		column := binary.LittleEndian.Uint32(key[4*row:]) % columns
		cells[row] = &c.counts[row*columns+int(column)]
	}
	return cells
}
