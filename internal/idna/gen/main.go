//go:build go1.27

// Gen writes the table of package idna from those that golang.org/x/net and golang.org/x/text have
// for Go 1.27 and later: `GOTOOLCHAIN=go1.27.4 go run ./internal/idna/gen internal/idna/table.bin`.
package main

import (
	"encoding/binary"
	"fmt"
	"os"
	"strings"

	"golang.org/x/net/idna"
	"golang.org/x/text/unicode/bidi"

	own "github.com/weftcrawl/weft/internal/idna"
)

var (
	options = []idna.Option{idna.MapForLookup(), idna.StrictDomainName(false), idna.CheckHyphens(false), idna.VerifyDNSLength(false)}
	plain   = idna.New(append(options, idna.CheckJoiners(false))...)
	joining = idna.New(append(options, idna.CheckJoiners(true))...)
)

// Characters with known properties, to try others beside.
const (
	alone       = "\u4e00" // does not join, nor compose with what follows
	both        = "\u0628" // joins on both sides
	transparent = "\u0610"
	nonJoiner   = "\u200c"
	joiner      = "\u200d"
)

func accepts(p *idna.Profile, label string) bool {
	_, err := p.ToUnicode(label)
	return err == nil
}

// classes maps bidirectional classes to those of package idna, which tells only these apart.
var classes = map[bidi.Class]uint32{
	bidi.L: own.ClassL, bidi.R: own.ClassR, bidi.AL: own.ClassR, bidi.AN: own.ClassAN, bidi.EN: own.ClassEN, bidi.ES: own.ClassNeutral,
	bidi.CS: own.ClassNeutral, bidi.ET: own.ClassNeutral, bidi.ON: own.ClassNeutral, bidi.BN: own.ClassNeutral, bidi.NSM: own.ClassNSM,
}

// properties returns what the rules for labels ask of a valid character.
func properties(r rune) uint32 {
	c := string(r)
	p, _ := bidi.LookupRune(r)
	v := classes[p.Class()] // none of them: ClassOther
	if !accepts(joining, c) {
		v |= own.Mark
	}
	virama := accepts(joining, alone+c+joiner)
	if virama {
		v |= own.Virama
	}
	if before := accepts(joining, alone+c+nonJoiner+both) && !virama; before {
		v |= own.JoinsNext
	} else if accepts(joining, both+c+transparent+nonJoiner+both) {
		v |= own.Transparent
	}
	if accepts(joining, both+nonJoiner+c) && v&own.Transparent == 0 {
		v |= own.JoinsLast
	}
	return v
}

func main() {
	var mappings strings.Builder
	var ranges []byte
	n, last := 0, ^uint32(0)
	for r := rune(0); r <= 0x10ffff; r++ {
		v := uint32(own.Disallowed)
		mapped, err := plain.ToUnicode(alone + string(r))
		mapped = strings.TrimPrefix(mapped, alone)
		switch to := []rune(mapped); {
		case r == '.':
			v = own.Valid | own.ClassNeutral
		case r >= 0xd800 && r < 0xe000 || err != nil:
		case mapped == "":
			v = own.Ignored
		case mapped == string(r):
			v = own.Valid | properties(r)
		case len(to) == 1:
			v = own.Moved | uint32(to[0]-r)&own.Payload
		default:
			at := strings.Index(mappings.String(), mapped)
			if at < 0 {
				at = mappings.Len()
				mappings.WriteString(mapped)
			}
			v = own.Mapped | uint32(at)<<own.LengthBits | uint32(len(mapped))
			if at<<own.LengthBits > own.Payload || len(mapped) >= 1<<own.LengthBits {
				panic("the mappings are too long")
			}
		}
		if v == last {
			continue
		}
		last = v
		n++
		ranges = append(ranges, byte(r>>16), byte(r>>8), byte(r), byte(v>>16), byte(v>>8), byte(v))
	}
	table := binary.BigEndian.AppendUint32(nil, uint32(n))
	table = append(append(table, ranges...), mappings.String()...)
	if err := os.WriteFile(os.Args[1], table, 0o666); err != nil {
		panic(err)
	}
	fmt.Printf("Unicode %s: %d ranges, %d bytes of mappings, %d bytes\n", idna.UnicodeVersion, n, mappings.Len(), len(table))
}
