//go:build linux

// Frontier measures what a URL costs the frontier and its store, as the crawl grows, and
// writes a page of it.
//
//	frontier [-o FILE] [-dir DIR] [-urls N,N,…] [-hosts N] [-memory BYTES] [-tenth] [-command TEXT]
//
// Each line is from a process of its own, which makes a crawl of so many URLs: they are
// found in batches, added to a frontier that tells a store on disk, and committed in groups
// as the desk makes them. Then URLs are checked, 70 % of them known, in batches of 256, as
// the desk does it: what the table in memory cannot tell is looked up in the store.
package main

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

func main() {
	if len(os.Args) > 2 && os.Args[1] == "measure" {
		if err := measure(os.Args[2]); err != nil {
			fmt.Fprintln(os.Stderr, "frontier:", err)
			os.Exit(1)
		}
		return
	}
	out := flag.String("o", "", "file to write; empty: standard output")
	dir := flag.String("dir", os.TempDir(), "folder for the stores: 250 bytes a URL")
	urls := flag.String("urls", "1000000,10000000", "URLs of the crawls")
	hosts := flag.Int("hosts", 1_000_000, "hosts of each crawl")
	memory := flag.Int("memory", 1<<30, "limit of the Go runtime's memory; the table of fingerprints may have three quarters")
	tenth := flag.Bool("tenth", true, "also with a table of a tenth of what it needs")
	command := flag.String("command", "make bench-frontier", "how the figures were made")
	flag.Parse()
	page, err := write(*command, *dir, *urls, task{Hosts: *hosts, Memory: *memory}, *tenth)
	if err == nil && *out != "" {
		err = os.WriteFile(*out, page, 0o666)
	} else if err == nil {
		_, err = os.Stdout.Write(page)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "frontier:", err)
		os.Exit(1)
	}
}

// task is what a process is asked to measure.
type task struct {
	Dir     string
	URLs    int
	Hosts   int
	Memory  int
	Seen    int    // bytes for fingerprints
	Profile string // file for a CPU profile; empty: none
}

// result is what it answers. CPU is seconds of user and system time, of all threads.
type result struct {
	New     int     // URLs that were found
	CPU     float64 // of finding them, until the store has come to rest
	Wall    float64
	Checks  int // and how many of them the store was asked about
	Asked   int
	Check   float64 // CPU of the checks
	Looked  float64 // their wall time
	Stored  float64 // bytes
	Written float64 // bytes, to whatever file
	Peak    float64 // bytes of the process at its largest
	Table   int     // bytes of fingerprints
}

func write(command, dir, urls string, t task, tenth bool) ([]byte, error) {
	var b bytes.Buffer
	fmt.Fprintf(&b, "# Frontier and store, by the size of the crawl\n\nWritten by internal/bench/frontier, which says what each line measures.\n\n")
	fmt.Fprintf(&b, "| | |\n|---|---|\n| machine | %s, %d cores, %s |\n| Go | %s |\n| commit | %s |\n| date | %s |\n| command | `%s` |\n| hosts | %s |\n| memory limit | %d MiB |\n",
		cpuModel(), runtime.NumCPU(), kernel(), runtime.Version(), commit(), time.Now().Format(time.DateOnly), command, thousands(float64(t.Hosts)), t.Memory>>20)
	fmt.Fprintf(&b, "\nNew URLs and checks are for one second of CPU time of the whole process, compactions and garbage collection included. Asked is the part of the checks that the store was asked about.\n\n")
	fmt.Fprintf(&b, "| URLs | fingerprints in | new URLs | checks | asked | peak of the process | files | written for a URL |\n|---|---|---|---|---|---|---|---|\n")
	for _, field := range strings.Split(urls, ",") {
		n, err := strconv.Atoi(field)
		if err != nil {
			return nil, fmt.Errorf("urls: %w", err)
		}
		tables := []int{t.Memory / 4 * 3}
		if tenth {
			tables = append(tables, n)
		}
		for _, seen := range tables {
			t.Dir, t.URLs, t.Seen = dir, n, seen
			r, err := run(t)
			if err != nil {
				return nil, err
			}
			fmt.Fprintf(&b, "| %s | %.1f MB | %s/s | %s/s | %.0f %% | %.0f MB | %.0f MB | %.0f B |\n", thousands(float64(n)), float64(r.Table)/1e6,
				thousands(float64(r.New)/r.CPU), thousands(float64(r.Checks)/r.Check), 100*float64(r.Asked)/float64(r.Checks), r.Peak/1e6, r.Stored/1e6, r.Written/float64(r.New))
		}
	}
	return b.Bytes(), nil
}

// run measures in a process of its own, in a folder of its own.
func run(t task) (*result, error) {
	dir, err := os.MkdirTemp(t.Dir, "weft-bench-frontier")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	t.Dir = filepath.Join(dir, "job")
	arg, err := json.Marshal(t)
	if err != nil {
		return nil, err
	}
	fmt.Fprintf(os.Stderr, "%s\n", arg)
	cmd := exec.Command(os.Args[0], "measure", string(arg))
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", arg, err)
	}
	fmt.Fprintf(os.Stderr, "%s", out)
	r := new(result)
	return r, json.Unmarshal(out, r)
}

func thousands(n float64) string {
	s := fmt.Sprintf("%.0f", n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

func cpuModel() string {
	info, _ := os.ReadFile("/proc/cpuinfo")
	for line := range strings.Lines(string(info)) {
		if name, value, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(name) == "model name" {
			return strings.TrimSpace(value)
		}
	}
	return "unknown processor"
}

func kernel() string {
	var u unix.Utsname
	if unix.Uname(&u) != nil {
		return runtime.GOOS
	}
	return strings.ToLower(unix.ByteSliceToString(u.Sysname[:])) + " " + unix.ByteSliceToString(u.Release[:])
}

func commit() string {
	out, err := exec.Command("git", "rev-parse", "--short", "HEAD").Output()
	if err != nil {
		return "unknown"
	}
	return strings.TrimSpace(string(out))
}
