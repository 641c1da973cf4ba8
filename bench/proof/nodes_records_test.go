package proof

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/weftcrawl/weft"
	"github.com/weftcrawl/weft/internal/webtest"
)

// TestAgain: a blow explains that a node's pages are fetched again which it finished shortly before
// the last fetch that it began, and no others: neither older ones, nor those of a node that nothing
// happened to.
func TestAgain(t *testing.T) {
	cfg := LatencyWeb(3)
	cfg.Port = 80
	web, err := webtest.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	struck := time.Unix(1000, 0)
	at := func(before time.Duration) time.Time { return struck.Add(-before) }
	for name, tt := range map[string]struct {
		blow   Blow
		node   int
		first  time.Time // record of the page that is fetched again
		others int
	}{
		"in time":              {Kill, 0, at(time.Minute + unacknowledged), 0},
		"too old":              {Kill, 0, at(time.Minute + mostWithin + 2*time.Second), 1},
		"of another node":      {Kill, 1, at(time.Minute), 1},
		"after a kill":         {Kill, 0, at(-time.Second), 1},
		"after a cut":          {Cut, 0, at(-mostAfter + 2*time.Second), 0},
		"too long after a cut": {Cut, 0, at(-mostAfter), 1},
		"too old before a cut": {Off, 0, at(time.Minute + mostWithin + 2*time.Second), 1},
	} {
		dir := t.TempDir()
		url := slices.Sorted(func(yield func(string) bool) {
			for u, fate := range web.Truth(policy()) {
				if fate == (webtest.Fate{Status: 200}) && !yield(u) {
					return
				}
			}
		})
		write(t, dir, "a", weft.Record{URL: url[0], ErrorKind: "dial-timeout", Started: tt.first, TotalMS: 1000}, weft.Record{URL: url[1], Status: 200, Started: at(time.Minute), TotalMS: 10})
		write(t, dir, "b", weft.Record{URL: url[0], Status: 200, Started: at(-time.Hour), TotalMS: 10})
		jobs := []left{{node: 0, job: filepath.Join(dir, "a")}, {node: 1, job: filepath.Join(dir, "b")}}
		records, again, err := compareNodes(jobs, web, []Struck{{Blow: tt.blow, Node: tt.node, At: struck}})
		if err != nil {
			t.Fatal(err)
		}
		if again.N != 1 || again.Same != 0 || again.Others != tt.others || tt.others == 0 && again.Within > mostWithin {
			t.Errorf("%s: %+v", name, again)
		}
		if records.Right != 2 || records.Wrong > 0 { // the record that was made last counts
			t.Errorf("%s: %d right, %d wrong, expected 2 and 0", name, records.Right, records.Wrong)
		}
	}
}

func write(t *testing.T, dir, job string, records ...weft.Record) {
	t.Helper()
	var lines []byte
	for _, r := range records {
		lines = append(lines, r.Line()...)
	}
	if err := os.Mkdir(filepath.Join(dir, job), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, job, "pages.jsonl"), lines, 0o666); err != nil {
		t.Fatal(err)
	}
}

// TestStoodStill: a partition stands still from a blow until another process fetches from it. A
// node that is cut off goes on for a while; what it had long before, or nobody fetches from again,
// does not count.
func TestStoodStill(t *testing.T) {
	blow := time.Unix(1000, 0)
	at := func(seconds int) time.Time { return blow.Add(time.Duration(seconds) * time.Second) }
	all := []fetched{
		{partition: 1, node: 0, at: at(-9)}, {partition: 1, node: 1, at: at(14)}, {partition: 1, node: 1, at: at(12)},
		{partition: 2, node: 0, at: at(-1)}, {partition: 2, node: 0, at: at(5)}, {partition: 2, node: 0, at: at(22)},
		{partition: 3, node: 0, at: at(-1)}, {partition: 3, node: 1, at: at(13)},
		{partition: 4, node: 0, at: at(-1)},
		{partition: 5, node: 0, at: at(-20)}, {partition: 5, node: 1, at: at(90)},
		{partition: 6, node: 1, at: at(-1)}, {partition: 6, node: 1, at: at(1)},
	}
	cut := stoodStill(all, &Struck{Blow: Cut, Node: 0, At: blow, Over: at(20)})
	if want := (Stood{3, 13 * time.Second, 13 * time.Second, 22 * time.Second}); cut != want {
		t.Errorf("%+v, expected %+v", cut, want)
	}
	killed := stoodStill(all, &Struck{Blow: Kill, Node: 0, At: blow, Over: at(2)})
	if want := (Stood{3, 12 * time.Second, 12 * time.Second, 13 * time.Second}); killed != want {
		t.Errorf("%+v, expected %+v", killed, want)
	}
}
