package results

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// written returns a job of so many records, of ten a second for a first half and forty a second
// then, each of 1,000 bytes.
func written(t *testing.T, n int) (dir string, began time.Time) {
	t.Helper()
	began = time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)
	var b strings.Builder
	b.WriteString(`{"url":"http://a.test/old","started":"2026-01-01T00:00:00Z","total_ms":1,"bytes":5}` + "\n")
	at := began
	for i := range n {
		fmt.Fprintf(&b, `{"url":"http://a.test/%d","title":"%s","started":"%s","total_ms":%d,"bytes":1000,"visit":2}`+"\n",
			i, strings.Repeat("x", i%300), at.Format(time.RFC3339Nano), i%7)
		at = at.Add(100 * time.Millisecond)
		if i > n/2 {
			at = at.Add(-75 * time.Millisecond)
		}
	}
	b.WriteString(`{"url":"half`)
	dir = t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, Pages), []byte(b.String()), 0o666); err != nil {
		t.Fatal(err)
	}
	return dir, began
}

// TestSpeed: the speed of a visit is that of its records, of few as of many, of which it reads
// samples.
func TestSpeed(t *testing.T) {
	for _, n := range []int{3, 100, 2000, 40_000} {
		dir, began := written(t, n)
		rates, err := Speed(dir, 100)
		if err != nil || len(rates) == 0 || len(rates) > 100 || rates[0].At.Before(began) {
			t.Fatalf("%d: %d rates, %v", n, len(rates), err)
		}
		if n < 100 {
			continue
		}
		first, last := rates[len(rates)/4].URLsPerSecond, rates[len(rates)-2].URLsPerSecond
		if math.Abs(first-10) > 2 || n > 100 && math.Abs(last-40) > 8 {
			t.Errorf("%d: %v, then %v URLs a second, expected 10, then 40", n, first, last)
		}
		var urls, received float64
		for i, r := range rates {
			step := rates[0].At.Sub(began).Seconds()
			if i > 0 {
				step = r.At.Sub(rates[i-1].At).Seconds()
			}
			urls, received = urls+r.URLsPerSecond*step, received+r.BytesPerSecond*step
		}
		if math.Abs(urls-float64(n)) > float64(n)/10 || math.Abs(received-1000*urls) > urls {
			t.Errorf("%d: %v URLs and %v bytes", n, urls, received)
		}
	}
}

// TestLatest: the last records come, the latest first, without a line that is being written, and
// from a file of any length.
func TestLatest(t *testing.T) {
	for _, n := range []int{3, 20_000} {
		dir, _ := written(t, n)
		got, err := Latest(dir, 5)
		if err != nil || len(got) != min(5, n+1) || got[0].URL != fmt.Sprintf("http://a.test/%d", n-1) || got[1].URL != fmt.Sprintf("http://a.test/%d", n-2) {
			t.Errorf("%d: %+v, %v", n, got, err)
		}
	}
	if _, err := Latest(t.TempDir(), 5); !os.IsNotExist(err) {
		t.Errorf("without records: %v", err)
	}
}
