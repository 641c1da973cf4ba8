package robots

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"time"
)

// rulesVersion is the first byte of encoded Rules. It changes with their layout and with the
// meaning of a rule's text.
const rulesVersion = 1

// AppendBinary appends the rules to b, with their lines: version, Crawl-delay (0: none, else
// nanoseconds + 1), number of rules; for each, in order of precedence, the number of its line, the
// length of its text, and the text. Numbers are varints. The error is always nil.
func (r Rules) AppendBinary(b []byte) ([]byte, error) {
	b = append(b, rulesVersion)
	delay := uint64(0)
	if r.hasDelay {
		delay = uint64(r.delay) + 1
	}
	b = binary.AppendUvarint(b, delay)
	b = binary.AppendUvarint(b, uint64(len(r.rules)))
	for i := range r.rules {
		b = binary.AppendUvarint(b, uint64(r.rules[i].line))
		b = binary.AppendUvarint(b, uint64(len(r.rules[i].text)))
		b = append(b, r.rules[i].text...)
	}
	return b, nil
}

// MarshalBinary returns the rules as AppendBinary encodes them.
func (r Rules) MarshalBinary() ([]byte, error) { return r.AppendBinary(nil) }

// UnmarshalBinary decodes rules that AppendBinary encoded. On an error it leaves the rules
// unchanged.
func (r *Rules) UnmarshalBinary(data []byte) error {
	d := decoder{data: data}
	if version := d.number(math.MaxUint8); d.err == nil && version != rulesVersion {
		return fmt.Errorf("robots: rules of version %d, expected %d", version, rulesVersion)
	}
	var rules Rules
	if delay := d.number(math.MaxInt64); delay > 0 {
		rules.delay, rules.hasDelay = time.Duration(delay-1), true
	}
	if n := d.number(uint64(len(data))); n > 0 {
		rules.rules = make([]rule, 0, min(n, uint64(len(data)/2))) // each takes at least two bytes
		for range n {
			rules.rules = append(rules.rules, d.rule())
			if d.err != nil {
				break
			}
		}
	}
	if d.err == nil && len(d.data) > 0 {
		d.err = fmt.Errorf("%d bytes after the last rule", len(d.data))
	}
	if d.err != nil {
		return fmt.Errorf("robots: encoded rules: %w", d.err)
	}
	rules.index = newIndex(rules.rules)
	*r = rules
	return nil
}

// decoder reads encoded rules. After the first error there is nothing left to read.
type decoder struct {
	data []byte
	err  error
}

func (d *decoder) fail(err error) {
	if d.err == nil {
		d.err, d.data = err, nil
	}
}

// number reads a number of at most max.
func (d *decoder) number(max uint64) uint64 {
	n, size := binary.Uvarint(d.data)
	switch {
	case size <= 0:
		d.fail(errors.New("cut short"))
		return 0
	case n > max:
		d.fail(fmt.Errorf("%d where at most %d is expected", n, max))
		return 0
	}
	d.data = d.data[size:]
	return n
}

// rule reads a rule. Its text is parsed as it was in the file.
func (d *decoder) rule() rule {
	line := d.number(math.MaxInt32)
	size := d.number(math.MaxInt64)
	if size > uint64(len(d.data)) {
		d.fail(errors.New("cut short"))
	}
	if d.err != nil {
		return rule{}
	}
	text := d.data[:size]
	d.data = d.data[size:]
	switch of, pattern := parts(text); of {
	case allowField, disallowField:
		return newRule(of == allowField, int(line), text, pattern)
	}
	d.fail(fmt.Errorf("%.40q where a rule is expected", text))
	return rule{}
}
