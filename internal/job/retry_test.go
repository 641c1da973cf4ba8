package job

import (
	"bufio"
	"io"
	"strings"
	"testing"

	"github.com/weftcrawl/weft/record"
)

// TestReadRecord: lines longer than the buffer are read, half a line is none, and one without end
// is refused soon.
func TestReadRecord(t *testing.T) {
	short, long := record.Record{URL: "http://a.test/"}, record.Record{URL: "http://b.test/", Title: strings.Repeat("x", 1<<20)}
	text := string(short.Line()) + string(long.Line())
	in := bufio.NewReader(strings.NewReader(text + `{"url":"http`))
	for _, want := range []record.Record{short, long} {
		got, n, err := readRecord(in)
		if err != nil || got.URL != want.URL || got.Title != want.Title || n != len(want.Line()) {
			t.Errorf("%s: %d bytes, %v, expected %d", got.URL, n, err, len(want.Line()))
		}
	}
	if _, _, err := readRecord(in); err != io.EOF {
		t.Errorf("half a line: %v", err)
	}
	endless := &endless{}
	if _, _, err := readRecord(bufio.NewReader(endless)); err == nil || err == io.EOF || endless.read > longestRecord+1<<16 {
		t.Errorf("a line without end: %v after %d bytes", err, endless.read)
	}
}

// endless is a line without end.
type endless struct{ read int }

func (e *endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = 'x'
	}
	e.read += len(p)
	return len(p), nil
}
