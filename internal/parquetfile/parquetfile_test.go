package parquetfile

import (
	"bytes"
	"crypto/sha512"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"
)

// written returns the file of a table.
func written(t *testing.T, columns []Column, rows [][]any) []byte {
	t.Helper()
	var file bytes.Buffer
	w, err := New(&file, "table", "weft version 1 (build )", columns)
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range rows {
		if err := w.Add(row); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return file.Bytes()
}

// opened returns what another library finds in a file.
func opened(t *testing.T, file []byte) *parquet.File {
	t.Helper()
	f, err := parquet.OpenFile(bytes.NewReader(file), int64(len(file)))
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// read returns the rows of a file, as they were added.
func read(t *testing.T, columns []Column, f *parquet.File) (all [][]any) {
	t.Helper()
	r := parquet.NewReader(f)
	defer r.Close()
	for batch := make([]parquet.Row, 100); ; {
		n, _ := r.ReadRows(batch)
		for _, row := range batch[:n] {
			values := make([]any, len(columns))
			for at, of := range row.Range {
				values[at] = value(columns[at], of)
			}
			all = append(all, values)
		}
		if n == 0 {
			return all
		}
	}
}

func value(c Column, all []parquet.Value) any {
	v := all[0]
	switch {
	case v.IsNull():
		return nil
	case c.Repetition == Repeated:
		var list []string
		for _, v := range all {
			list = append(list, v.String())
		}
		return list
	}
	switch c.Type {
	case Integer:
		return v.Int64()
	case Number:
		return v.Double()
	case Boolean:
		return v.Boolean()
	case Time:
		return time.UnixMicro(v.Int64()).UTC()
	}
	return v.String()
}

// made returns a value for a column: of few different ones if different is small.
func made(random *rand.Rand, c Column, different int) any {
	n := random.IntN(different)
	switch {
	case c.Repetition == Optional && n%3 == 0:
		return nil
	case c.Repetition == Repeated && n%3 == 0:
		return nil
	case c.Repetition == Repeated:
		list := make([]string, 1+n%4)
		for i := range list {
			list[i] = fmt.Sprint("tag ", n+i)
		}
		return list
	}
	switch c.Type {
	case Integer:
		return int64(n) - 5
	case Number:
		return float64(n)/8 - 1
	case Boolean:
		return n%2 == 0
	case Time:
		return time.UnixMicro(1_795_274_100_326_125 + int64(n) - 3).UTC()
	}
	return strings.Repeat("é", n%40)
}

// TestRoundTrip: another library reads the rows that were added, whatever their types.
func TestRoundTrip(t *testing.T) {
	var all []Column
	for _, kind := range []Type{Text, Integer, Number, Boolean, Time} {
		for _, r := range []Repetition{Required, Optional, Repeated} {
			for _, few := range []bool{false, true} {
				if r == Repeated && kind != Text || kind == Boolean && few {
					continue
				}
				all = append(all, Column{fmt.Sprint("c", len(all)), kind, r, few})
			}
		}
	}
	for seed, count := range []int{0, 1, 7, 8, 9, 1000, pageValues, pageValues + 1, 2*pageValues + 77} {
		columns := all[:min(13+seed, len(all))] // a list of 15 or more has a longer header
		random := rand.New(rand.NewPCG(uint64(seed), 0))
		rows := make([][]any, count)
		for i := range rows {
			different := 2
			if i/700%2 == 0 { // runs, then none
				different = 3000
			}
			for _, c := range columns {
				if i%11 > 0 && different == 2 {
					rows[i] = append(rows[i], rows[i-1][len(rows[i])])
				} else {
					rows[i] = append(rows[i], made(random, c, different))
				}
			}
		}
		got := read(t, columns, opened(t, written(t, columns, rows)))
		if len(got) != count {
			t.Fatalf("%d rows, expected %d", len(got), count)
		}
		for i := range rows {
			for at, v := range rows[i] {
				if fmt.Sprint(got[i][at]) != fmt.Sprint(v) {
					t.Fatalf("%d rows: row %d, column %+v: %v, expected %v", count, i, columns[at], got[i][at], v)
				}
			}
		}
	}
}

// TestGroups: after a number of rows, or of bytes in memory, another group begins.
func TestGroups(t *testing.T) {
	columns := []Column{{"n", Integer, Required, false}}
	rows := make([][]any, 2*groupRows+1)
	for i := range rows {
		rows[i] = []any{int64(i)}
	}
	f := opened(t, written(t, columns, rows))
	if got := f.RowGroups(); f.NumRows() != int64(len(rows)) || len(got) != 3 || got[0].NumRows() != groupRows || got[2].NumRows() != 1 {
		t.Errorf("%d rows in %d groups", f.NumRows(), len(got))
	}
	if got := read(t, columns, f); got[groupRows][0] != int64(groupRows) {
		t.Errorf("first row of the second group: %v", got[groupRows])
	}

	random := rand.NewChaCha8([32]byte{})
	var large [][]any
	for range 20 {
		b := make([]byte, 4<<20) // that does not shrink
		_, _ = random.Read(b)
		large = append(large, []any{string(b)})
	}
	f = opened(t, written(t, []Column{{"text", Text, Required, false}}, large))
	if got := f.RowGroups(); f.NumRows() != 20 || len(got) != 2 {
		t.Errorf("%d large rows in %d groups", f.NumRows(), len(got))
	}
}

// TestDictionary: it has a bound, behind which values are plain, and a group has its own.
func TestDictionary(t *testing.T) {
	columns := []Column{{"text", Text, Optional, true}}
	rows := make([][]any, groupRows+1000)
	for i := range rows {
		rows[i] = []any{fmt.Sprintf("%x", sha512.Sum512([]byte{byte(i), byte(i % 50_000 >> 8)}))}
	}
	rows[0][0] = nil
	file := written(t, columns, rows)
	f := opened(t, file)
	got := read(t, columns, f)
	for i := range rows {
		if got[i][0] != rows[i][0] {
			t.Fatalf("row %d: %v", i, got[i][0])
		}
	}
	for i, group := range f.Metadata().RowGroups {
		c := group.Columns[0].MetaData
		if want := int64(1 - i); c.Statistics.NullCount != want {
			t.Errorf("group %d: %d absent, expected %d", i, c.Statistics.NullCount, want)
		}
		if size := c.DataPageOffset - c.DictionaryPageOffset; c.DictionaryPageOffset == 0 || size > dictionaryBytes+1000 {
			t.Errorf("dictionary at %d, data at %d", c.DictionaryPageOffset, c.DataPageOffset)
		}
	}

	// A reader refuses a page that names a dictionary where there is none.
	file = written(t, columns, [][]any{{nil}, {nil}})
	at := opened(t, file).Metadata().RowGroups[0].Columns[0].MetaData.DataPageOffset
	var header format.PageHeader
	if err := thrift.NewDecoder(new(thrift.CompactProtocol).NewReader(bytes.NewReader(file[at:]))).Decode(&header); err != nil {
		t.Fatal(err)
	}
	if got := header.DataPageHeader.V.Encoding; got != format.Plain {
		t.Errorf("a page without values: %v, expected %v", got, format.Plain)
	}

	rows = make([][]any, 10_000)
	for i := range rows {
		rows[i] = []any{fmt.Sprintf("%0100d", i%10)}
	}
	few := len(written(t, columns, rows))
	columns[0].Few = false
	if many := len(written(t, columns, rows)); few > 6_000 || many < few {
		t.Errorf("%d bytes with a dictionary, %d without", few, many)
	}
}

// TestBounds: a chunk says its least and greatest value and how many are absent.
func TestBounds(t *testing.T) {
	long := strings.Repeat("z", boundBytes+1)
	for _, c := range []struct {
		kind           Type
		rows           []any
		min, max, none string
	}{
		{Text, []any{"b", nil, "", "é"}, "", "é", "1"},
		{Text, []any{"b", long}, "", "", "0"},
		{Text, []any{nil, nil}, "", "", "2"},
		{Integer, []any{int64(7), int64(-300), nil}, "-300", "7", "1"},
		{Number, []any{-1.5, 2.25}, "-1.5", "2.25", "0"},
		{Boolean, []any{true, false}, "false", "true", "0"},
		{Time, []any{time.UnixMicro(5), time.UnixMicro(-5)}, "-5", "5", "0"},
	} {
		var rows [][]any
		for _, v := range c.rows {
			rows = append(rows, []any{v})
		}
		for _, few := range []bool{false, c.kind != Boolean} {
			f := opened(t, written(t, []Column{{"c", c.kind, Optional, few}}, rows))
			s := f.Metadata().RowGroups[0].Columns[0].MetaData.Statistics
			kind := f.Schema().Fields()[0].Type().Kind()
			low, high := "", ""
			if len(s.MaxValue) > 0 {
				low, high = kind.Value(s.MinValue).String(), kind.Value(s.MaxValue).String()
			}
			if none := fmt.Sprint(s.NullCount); low != c.min || high != c.max || none != c.none {
				t.Errorf("%v: %q to %q, %s absent", c.rows, low, high, none)
			}
		}
	}
}

// TestRuns: the examples of the format, and what a run may look like.
func TestRuns(t *testing.T) {
	same := slices.Repeat([]uint32{5}, 100)
	for _, c := range []struct {
		values []uint32
		width  int
		want   string
	}{
		{[]uint32{0, 1, 2, 3, 4, 5, 6, 7}, 3, "03 88 c6 fa"},
		{same, 3, "c8 01 05"},
		{slices.Repeat([]uint32{0x1234}, 8), 13, "10 34 12"},
		{[]uint32{1}, 1, "03 01"},
		{append([]uint32{1, 0, 1, 1, 0, 0, 0, 0}, slices.Repeat([]uint32{1}, 8)...), 1, "03 0d 10 01"},
		{[]uint32{1, 0, 1, 1, 0, 0, 0, 0, 0, 1}, 1, "05 0d 02"},
		{nil, 1, ""},
	} {
		if got := fmt.Sprintf("% x", appendRuns(nil, c.values, c.width)); got != c.want {
			t.Errorf("%v, %d bits: %s, expected %s", c.values, c.width, got, c.want)
		}
	}
}

// TestRefused: a value that its column does not have, and a full disk, are errors.
func TestRefused(t *testing.T) {
	for _, c := range []struct {
		column Column
		value  any
	}{
		{Column{"c", Text, Required, false}, nil},
		{Column{"c", Text, Optional, false}, 7},
		{Column{"c", Text, Optional, false}, int64(7)},
		{Column{"c", Text, Optional, false}, []string{"a"}},
		{Column{"c", Text, Optional, false}, []string{}},
		{Column{"c", Text, Repeated, false}, "a"},
		{Column{"c", Time, Optional, false}, int64(7)},
	} {
		w, err := New(new(bytes.Buffer), "table", "", []Column{c.column})
		if err == nil {
			err = w.Add([]any{c.value})
		}
		if err == nil || !strings.Contains(err.Error(), "column c") {
			t.Errorf("%#v in %+v: %v", c.value, c.column, err)
		}
	}
	full := &disk{left: 100}
	w, err := New(full, "table", "", []Column{{"c", Text, Required, false}})
	for err == nil {
		if err = w.Add([]any{"text"}); w.rows > 2*groupRows {
			t.Fatal("a full disk is no error")
		}
	}
	if !errors.Is(err, errFull) || !errors.Is(w.Close(), errFull) {
		t.Errorf("full disk: %v", err)
	}
}

var errFull = errors.New("full")

// disk is a writer with room for a number of bytes.
type disk struct{ left int }

func (d *disk) Write(b []byte) (int, error) {
	if d.left -= len(b); d.left < 0 {
		return 0, errFull
	}
	return len(b), nil
}
