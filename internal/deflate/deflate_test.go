package deflate

import (
	"bytes"
	"compress/flate"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"io"
	"math/rand/v2"
	"os/exec"
	"strings"
	"testing"

	"github.com/weftcrawl/weft/internal/inflate"
)

// page is HTML of about a length in bytes.
func page(length int) []byte {
	r := rand.New(rand.NewPCG(1, 2))
	var b bytes.Buffer
	b.WriteString("<!DOCTYPE html>\n<html><head><title>A page</title></head>\n<body>\n")
	words := strings.Fields("the crawler reads a page of some host and follows every link that leads to another")
	for b.Len() < length {
		fmt.Fprintf(&b, "<li class=\"entry\"><a href=\"/section/%d/page-%d.html\">", r.IntN(20), r.IntN(1000))
		for range 3 + r.IntN(9) {
			b.WriteString(words[r.IntN(len(words))] + " ")
		}
		b.WriteString("</a></li>\n")
	}
	return b.Bytes()
}

func noise(length int) []byte {
	b := make([]byte, length)
	for i, r := 0, rand.New(rand.NewPCG(3, 4)); i < length; i++ {
		b[i] = byte(r.Uint32())
	}
	return b
}

// far has a match at a distance.
func far(distance int) []byte {
	b := noise(distance + 100)
	copy(b[distance:], b[:100])
	return b
}

func everyByte() (b []byte) {
	for i := range 256 {
		b = append(b, byte(i))
	}
	return b
}

// texts are the inputs of the tests, in parts.
func texts() map[string][][]byte {
	all := map[string][][]byte{
		"none":        {},
		"empty":       {{}},
		"empty parts": {{}, {}, {}},
		"one byte":    {{'x'}},
		"every byte":  {everyByte()},
		"run":         {make([]byte, 300_000)},
		"period":      {bytes.Repeat([]byte("abcdefghi"), 20_000)},
		"page":        {page(15_000)},
		"noise":       {noise(300_000)},
		"mixed":       {page(70_000), noise(70_000), page(70_000)},
		"long parts":  {page(200_000), {}, page(200_000), []byte("\r\n\r\n"), {}},
		"Cyrillic":    {[]byte(strings.Repeat("Съешь же ещё этих мягких французских булок. ", 300))},
		"Chinese":     {[]byte(strings.Repeat("天地玄黃宇宙洪荒日月盈昃辰宿列張", 300))},
		"portion":     {page(portion)[:portion]},
		"block":       {page(maxBlock)[:maxBlock]},
		"block and 1": {page(maxBlock + 1)[:maxBlock+1]},
		"joined":      {page(joined - 1)[:joined-1], {'x'}},
		"separate":    {page(joined)[:joined], {'x'}},
	}
	for _, d := range []int{1, 2, 3, 4, 5, 7, 8, 9, 255, 256, 257, 32767, 32768, 32769, 65535, 65536, 65537} {
		all[fmt.Sprint("distance ", d)] = [][]byte{far(d), page(3000)}
	}
	for n := 1; n < 30; n++ {
		all[fmt.Sprint("length ", n)] = [][]byte{page(n)[:n]}
	}
	for _, n := range []int{3, 4, 5, 7, 8, 9, 10, 11, 16, 17, 257, 258, 259, 260, 266, 516} {
		b := append(page(600)[:600], "!!!"...)
		all[fmt.Sprint("match ", n)] = [][]byte{append(append(b, b[:n]...), "?????????"...)}
	}
	return all
}

// check decompresses a stream with two decoders.
func check(t *testing.T, stream, want []byte) {
	t.Helper()
	r := bytes.NewReader(stream)
	text, err := io.ReadAll(flate.NewReader(r))
	if err != nil || !bytes.Equal(text, want) || r.Len() != 0 {
		t.Fatalf("compress/flate: %d bytes, want %d; %v, %d bytes beyond it", len(text), len(want), err, r.Len())
	}
	text, used, err := new(inflate.Decoder).Append(nil, stream, len(want))
	if err != nil || !bytes.Equal(text, want) || used != len(stream) {
		t.Fatalf("inflate: %d bytes, want %d; %v, %d of %d bytes used", len(text), len(want), err, used, len(stream))
	}
}

func TestAppend(t *testing.T) {
	e := new(Encoder)
	var all, members []byte
	for name, parts := range texts() {
		t.Run(name, func(t *testing.T) {
			text := bytes.Join(parts, nil)
			prefix := []byte("before")
			stream := e.Append(prefix, parts...)[len(prefix):]
			check(t, stream, text)
			if again := new(Encoder).Append(nil, parts...); !bytes.Equal(again, stream) {
				t.Error("a new encoder writes another stream")
			}
			if most := len(text) + 5*(len(text)/maxBlock+len(parts)+1); len(stream) > most {
				t.Errorf("%d bytes for %d, want at most %d", len(stream), len(text), most)
			}
			members = append(append(members, 0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0xff), stream...)
			members = binary.LittleEndian.AppendUint32(members, crc32.ChecksumIEEE(text))
			members = binary.LittleEndian.AppendUint32(members, uint32(len(text)))
			all = append(all, text...)
		})
	}
	gzip := exec.Command("gzip", "-dc")
	gzip.Stdin = bytes.NewReader(members)
	if out, err := gzip.Output(); err != nil || !bytes.Equal(out, all) {
		t.Errorf("gzip: %d bytes, want %d; %v", len(out), len(all), err)
	}
}

// TestSizes: what is compressed becomes about as short as with compressors at their fastest level.
func TestSizes(t *testing.T) {
	for name, most := range map[string]float64{
		"page": 0.23, "long parts": 0.21, "run": 0.013, "period": 0.014, "Cyrillic": 0.05, "Chinese": 0.05, "mixed": 0.6,
	} {
		text := bytes.Join(texts()[name], nil)
		stream := new(Encoder).Append(nil, texts()[name]...)
		if ratio := float64(len(stream)) / float64(len(text)); ratio > most {
			t.Errorf("%s: ratio %.3f, want at most %.3f", name, ratio, most)
		}
	}
}

// TestScratch: an encoder keeps no long text, and grows nothing that has room.
func TestScratch(t *testing.T) {
	e, parts := new(Encoder), texts()["long parts"]
	dst := e.Append(nil, parts...)
	if cap(e.text) > joined {
		t.Errorf("the encoder keeps %d bytes", cap(e.text))
	}
	e.Append(dst[:0], page(10_000))
	if n := testing.AllocsPerRun(10, func() { e.Append(dst[:0], page0...) }); n > 0 {
		t.Errorf("%v allocations", n)
	}
}

var page0 = [][]byte{page(5000), page(5000)}

// FuzzAppend: what is compressed decompresses to the same, whatever was compressed before.
func FuzzAppend(f *testing.F) {
	for _, parts := range texts() {
		if text := bytes.Join(parts, nil); len(text) < 1<<14 {
			f.Add(text, uint16(len(text)/2), uint8(1))
		}
	}
	e := new(Encoder)
	f.Fuzz(func(t *testing.T, text []byte, cut uint16, times uint8) {
		at := int(cut) % (len(text) + 1)
		parts := [][]byte{text[:at], text[at:], bytes.Repeat(text, int(times%64))}
		stream := e.Append(nil, parts...)
		check(t, stream, bytes.Join(parts, nil))
		if again := new(Encoder).Append(nil, parts...); !bytes.Equal(again, stream) {
			t.Error("a new encoder writes another stream")
		}
	})
}

// TestTables: codes are complete, no longer than maxLength, and bytes beyond ASCII are affordable.
func TestTables(t *testing.T) {
	complete := func(name string, lengths []uint8, most uint8) {
		sum := 0
		for s, n := range lengths {
			if n > most {
				t.Errorf("%s: symbol %d has %d bits", name, s, n)
			}
			if n > 0 {
				sum += 1 << (most - n)
			}
		}
		if sum != 1<<most {
			t.Errorf("%s: incomplete, or too many codes", name)
		}
	}
	complete("code lengths", codeLengths[:], 7)
	for i, c := range tables() {
		var lit, dist []uint8
		for _, e := range c.lit {
			lit = append(lit, uint8(e&63))
		}
		for b, n := range lit[0x80:] {
			if n > 11 && trained[i].name != "base64" {
				t.Errorf("%s: byte %#x has %d bits", trained[i].name, b+0x80, n)
			}
		}
		for _, digit := range trained[i].lit[literals:] {
			lit = append(lit, bitsOf(digit))
		}
		for _, digit := range trained[i].dist {
			dist = append(dist, bitsOf(digit))
		}
		complete(trained[i].name, lit, maxLength)
		complete(trained[i].name+", distances", dist, maxLength)
	}
}

func bitsOf(digit rune) uint8 { return uint8(strings.IndexRune("0123456789abcdef", digit)) }
