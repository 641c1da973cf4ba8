package frontier_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/weftcrawl/weft/frontier"
)

var update = flag.Bool("update", false, "write what happened to the files in testdata")

// TestTrace runs the files in testdata: commands, a line "----", and what they
// print; an empty line, and so on. URLs are short: a/1 is http://a.example/1.
//
//	config delay=1s per-host=2    a new frontier, at time 0
//	at 1.5s                       the time is now 1.5 s
//	add a/1 b/1                   prints which were seen before
//	lease 3                       prints the leases
//	done a/1                      answers a lease
//	retry a/1 5s                  answers a lease: again at 5 s
//	next                          prints when something is due
//	stats                         prints the counts
func TestTrace(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("no files in testdata: %v", err)
	}
	for _, name := range files {
		t.Run(filepath.Base(name), func(t *testing.T) {
			text, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			var tr trace
			var all strings.Builder
			for i, block := range strings.Split(strings.TrimSpace(string(text)), "\n\n") {
				commands, want, _ := strings.Cut(block+"\n", "----\n")
				got := ""
				for _, line := range strings.Split(strings.TrimSpace(commands), "\n") {
					if !strings.HasPrefix(line, "#") {
						got += tr.command(t, line)
					}
				}
				if i > 0 {
					all.WriteString("\n")
				}
				all.WriteString(commands + "----\n" + got)
				if got != want && !*update {
					t.Errorf("after\n\n%s\ngot\n\n%s\nwant\n\n%s", commands, got, want)
				}
			}
			if *update {
				if err := os.WriteFile(name, []byte(all.String()), 0o666); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}

// trace is a frontier that is told what to do in words.
type trace struct {
	f      *frontier.Frontier
	now    time.Duration
	leased map[string]frontier.URL
}

// command does what line says and returns what there is to say about it.
func (tr *trace) command(t *testing.T, line string) string {
	t.Helper()
	name, rest, _ := strings.Cut(line, " ")
	args := strings.Fields(rest)
	switch name {
	case "config":
		var cfg frontier.Config
		for _, arg := range args {
			switch key, value, _ := strings.Cut(arg, "="); key {
			case "delay":
				cfg.Delay = duration(t, value)
			case "per-host":
				cfg.PerHost = number(t, value)
			default:
				t.Fatalf("%q: what is %s?", line, key)
			}
		}
		*tr = trace{f: frontier.New(cfg), leased: make(map[string]frontier.URL)}
	case "at":
		tr.now = duration(t, rest)
	case "add":
		said := ""
		for _, arg := range args {
			if !tr.f.Add(u(t, arg)) {
				said += fmt.Sprintf("%v add: %s was seen before\n", tr.now, arg)
			}
		}
		return said
	case "lease":
		leases := tr.f.Lease(at(tr.now), number(t, rest))
		said := ""
		for _, lease := range leases {
			tr.leased[short(lease)] = lease
			said += " " + short(lease)
			if lease.Tries > 0 {
				said += fmt.Sprintf(" (tries: %d)", lease.Tries)
			}
		}
		if said == "" {
			said = " nothing"
		}
		return fmt.Sprintf("%v lease:%s\n", tr.now, said)
	case "done":
		for _, arg := range args {
			tr.f.Done(at(tr.now), tr.leased[arg])
		}
	case "retry":
		tr.f.Retry(at(tr.now), tr.leased[args[0]], at(duration(t, args[1])))
	case "next":
		if next, ok := tr.f.Next(); ok {
			return fmt.Sprintf("%v next: %v\n", tr.now, max(tr.now, next.Sub(epoch)))
		}
		return fmt.Sprintf("%v next: never\n", tr.now)
	case "stats":
		s := tr.f.Stats()
		said := fmt.Sprintf("%v stats: %d pending, %d leased, %d done, %d hosts, %d duplicates", tr.now, s.Pending, s.Leased, s.Done, s.Hosts, s.Duplicates)
		if tr.f.Over() {
			said += ", over"
		}
		return said + "\n"
	default:
		t.Fatalf("%q: unknown command", line)
	}
	return ""
}

func duration(t *testing.T, s string) time.Duration {
	t.Helper()
	d, err := time.ParseDuration(s)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func number(t *testing.T, s string) int {
	t.Helper()
	n, err := strconv.Atoi(s)
	if err != nil {
		t.Fatal(err)
	}
	return n
}
