package deflate

import "sync"

// tables are the codes to choose from.
var tables = sync.OnceValue(func() (all [len(trained)]*codes) {
	for i, t := range trained {
		var lengths [litCodes + distCodes]uint8
		for s, digit := range []byte(t.lit + t.dist) {
			if lengths[s] = digit - '0'; digit >= 'a' {
				lengths[s] = digit - 'a' + 10
			}
		}
		all[i] = newCodes(lengths[:litCodes], lengths[litCodes:])
	}
	return all
})

const (
	priceBits = 12
	// samples is the number of bytes that decide which codes a block has: as many as sums of prices
	// hold.
	samples = (1<<priceBits - 1) / maxLength
)

// prices has for each byte the lengths of its codes, priceBits for each table.
var prices = sync.OnceValue(func() *[literals]uint64 {
	all := new([literals]uint64)
	for i, c := range tables() {
		for b := range all {
			all[b] |= uint64(c.lit[b]&63) << (priceBits * i)
		}
	}
	return all
})

// choose returns the codes that are the shortest for samples of a text without its matches.
func choose(text []byte) *codes {
	step, sum, prices := len(text)/samples+1, uint64(0), prices()
	for i := 0; i < len(text); i += step {
		sum += prices[text[i]]
	}
	best, least := 0, uint64(1<<priceBits)
	for i := range tables() {
		if price := sum >> (priceBits * i) % (1 << priceBits); price < least {
			best, least = i, price
		}
	}
	return tables()[best]
}
