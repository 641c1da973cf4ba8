package job

import (
	"bytes"
	"encoding/json"
	"os"
	"reflect"
	"testing"
	"time"

	"github.com/weftcrawl/weft/internal/golden"
	"github.com/weftcrawl/weft/record"
)

// fill sets every field below v, each number to another value.
func fill(v reflect.Value, n *int64) {
	*n++
	switch v.Kind() {
	case reflect.Int, reflect.Int64:
		v.SetInt(*n)
	case reflect.Uint64:
		v.SetUint(uint64(*n))
	case reflect.Float64:
		v.SetFloat(float64(*n))
	case reflect.Bool:
		v.SetBool(true)
	case reflect.String:
		v.SetString("text")
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		fill(v.Index(0), n)
	case reflect.Map:
		key, value := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
		fill(key, n)
		fill(value, n)
		v.Set(reflect.MakeMap(v.Type()))
		v.SetMapIndex(key, value)
	case reflect.Struct:
		if v.Type() == reflect.TypeFor[time.Time]() {
			v.Set(reflect.ValueOf(time.Date(2026, 11, 22, 12, 0, int(*n%60), 0, time.UTC)))
			return
		}
		for i := range v.NumField() {
			fill(v.Field(i), n)
		}
	}
}

// TestHistoryOnDisk: every field of a history comes back from the disk, under its own key or that
// of earlier versions.
func TestHistoryOnDisk(t *testing.T) {
	var h History
	n := int64(100)
	fill(reflect.ValueOf(&h).Elem(), &n)
	h.Summary.Broken = nil // a note of its own
	h.Summary.InFlight = 0 // on disk a leased URL is pending
	h.Summary.Failed = record.Failed(h.Summary.Errors, h.Summary.Refused)
	encoded := h.Encode()

	var indented bytes.Buffer
	if err := json.Indent(&indented, encoded, "", "  "); err != nil {
		t.Fatal(err)
	}
	indented.WriteByte('\n')
	golden.Equal(t, "testdata/history.json", indented.String())

	if back := read(t, encoded); !reflect.DeepEqual(back, h) {
		t.Errorf("%+v, expected %+v", back, h)
	}
	earlier, err := os.ReadFile("testdata/history-camel.json") // keys as they were once
	if err != nil {
		t.Fatal(err)
	}
	s := read(t, earlier).Summary
	if s.OverLimit != 108 || s.BytesSaved != 119 || s.Stopped != "text" || s.SeedsFetched == 0 || len(s.Slowest) != 1 || s.Slowest[0].TotalMS == 0 {
		t.Errorf("%+v, expected what the file says", s)
	}
}

func read(t *testing.T, written []byte) History {
	t.Helper()
	var s stored
	if err := json.Unmarshal(written, &s); err != nil {
		t.Fatal(err)
	}
	return s.history()
}

// TestNextVisit: a visit starts with empty counts; reasons of the earlier ones add up.
func TestNextVisit(t *testing.T) {
	h := History{Summary: record.NewSummary(), NotFollowed: map[string]int{"scope": 1}}
	h.Summary.NotFollowed["scope"], h.Summary.Done, h.Summary.Hosts, h.Summary.Finished = 2, 9, 3, true
	next := h.nextVisit()
	if next.Summary.Visit != 2 || !next.Turning || next.NotFollowed["scope"] != 3 || next.Summary.Done != 0 || next.Summary.Hosts != 3 || next.Summary.Finished {
		t.Errorf("%+v", next)
	}
}
