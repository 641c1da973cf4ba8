// Package machine has the common parts of programs that make pages of docs/bench: their flags, the
// names of machine and commit, the page as a file.
package machine

import (
	"cmp"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"golang.org/x/sys/unix"
)

// CPU returns the model of the processor.
func CPU() string {
	info, _ := os.ReadFile("/proc/cpuinfo")
	for line := range strings.Lines(string(info)) {
		if name, value, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(name) == "model name" {
			return strings.TrimSpace(value)
		}
	}
	return "unknown processor"
}

// Load returns the load of the machine, in words.
func Load() string {
	text, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return "under an unknown load"
	}
	one, _, _ := strings.Cut(string(text), " ")
	return "under a load of " + one
}

// Kernel returns the operating system and its release.
func Kernel() string {
	var u unix.Utsname
	if unix.Uname(&u) != nil {
		return runtime.GOOS
	}
	return strings.ToLower(unix.ByteSliceToString(u.Sysname[:])) + " " + unix.ByteSliceToString(u.Release[:])
}

// Commit names the working tree's commit; "-dirty" follows if files differ from it.
func Commit() string {
	out, err := exec.Command("git", "describe", "--always", "--dirty").Output()
	if err != nil {
		return "unknown"
	}
	return strings.TrimSpace(string(out))
}

// MarkStandard is the CPU time of compiling the packages of the standard library that the command
// has, on the machine on which marks of time were set: 37 s, of which a sixth was of packages that
// only the server of NATS needs, which is a command of its own since.
const MarkStandard = 31 * time.Second

// Standard measures that time on this machine, with a build cache of its own.
func Standard() (time.Duration, error) {
	cache, err := os.MkdirTemp("/var/tmp", "standard")
	if err != nil {
		return 0, err
	}
	defer os.RemoveAll(cache)
	list := exec.Command("go", "list", "-C", "..", "-deps", "-f", "{{if .Standard}}{{.ImportPath}}{{end}}", "./cmd/weft")
	list.Env = append(os.Environ(), "CGO_ENABLED=0")
	out, err := list.Output()
	if err != nil {
		return 0, fmt.Errorf("go list: %w", err)
	}
	build := exec.Command("go", append([]string{"build"}, strings.Fields(string(out))...)...)
	build.Env = append(list.Env, "GOCACHE="+cache)
	if out, err := build.CombinedOutput(); err != nil {
		return 0, fmt.Errorf("go build: %w: %s", err, out)
	}
	return build.ProcessState.UserTime() + build.ProcessState.SystemTime(), nil
}

// Measurement is the task of a program that measures whole commands.
type Measurement struct {
	Weft    string // the command to measure
	Jobs    string // a folder for its jobs
	Runs    int
	Command string // that makes the page, to name on it
}

// Main is the main function of such a program, whose name is that of its make target without
// "bench-": it reads the flags, and publishes the page that measure returns.
func Main(program string, runs int, measure func(Measurement) (page []byte, err error)) {
	out := flag.String("o", "", "file to write; empty: standard output")
	m := Measurement{}
	flag.StringVar(&m.Weft, "weft", "", "the command to measure")
	flag.StringVar(&m.Jobs, "jobs", inMemory, "folder for the jobs")
	flag.IntVar(&m.Runs, "runs", runs, "runs of each crawl")
	flag.StringVar(&m.Command, "command", "make bench-"+program, "command to name on the page")
	flag.Parse()
	page, err := measure(m)
	Publish(program, *out, page, err)
}

// How says what the figures of a page come from: the command, commit and machine, and which of the
// runs is given, such as "the median by the node's CPU time".
func (m Measurement) How(median string) string {
	runs := "one run"
	if m.Runs > 1 {
		runs = fmt.Sprintf("of %d runs %s", m.Runs, median)
	}
	return fmt.Sprintf("`%s`, at commit %s, with %s, %s, %d cores, %s; %s.", m.Command, Commit(), runtime.Version(), CPU(), runtime.NumCPU(), Load(), runs)
}

// Disk returns the folder for jobs that belong on a disk.
func (m Measurement) Disk() string {
	if m.Jobs == inMemory {
		return "/var/tmp"
	}
	return m.Jobs
}

const inMemory = "/dev/shm" // the default of Measurement.Jobs

// Middle returns the one of some runs that has the median of a figure.
func Middle[T any, N cmp.Ordered](runs int, run func() (T, error), figure func(T) N) (T, error) {
	var all []T
	for range runs {
		one, err := run()
		if err != nil {
			return one, err
		}
		all = append(all, one)
	}
	slices.SortFunc(all, func(a, b T) int { return cmp.Compare(figure(a), figure(b)) })
	return all[len(all)/2], nil
}

// Median returns the middle one of figures, of which there is at least one.
func Median[T cmp.Ordered](all []T) T { return slices.Sorted(slices.Values(all))[len(all)/2] }

// Publish writes the page of a program to a file, or to standard output if it has no name. It ends
// the program with an error of making the page, or of writing it.
func Publish(program, file string, page []byte, err error) {
	if err == nil && file != "" {
		err = os.WriteFile(file, page, 0o666)
	} else if err == nil {
		_, err = os.Stdout.Write(page)
	}
	if err != nil {
		Exit(program, err)
	}
}

// Exit ends the process, with status 1 and a message if err is not nil.
func Exit(program string, err error) {
	if err != nil {
		fmt.Fprintf(os.Stderr, "%s: %v\n", program, err)
		os.Exit(1)
	}
	os.Exit(0)
}

// Fill breaks a paragraph into lines of at most 100 columns.
func Fill(text string) string {
	var b strings.Builder
	column := 0
	for word := range strings.FieldsSeq(text) {
		n := utf8.RuneCountInString(word)
		switch {
		case column == 0:
		case column+1+n > 100:
			b.WriteByte('\n')
			column = 0
		default:
			b.WriteByte(' ')
			column++
		}
		b.WriteString(word)
		column += n
	}
	return b.String()
}

// Micros returns how many microseconds of a time each of n things took.
func Micros(d time.Duration, n int) float64 { return float64(d.Microseconds()) / float64(max(1, n)) }

// Thousands formats n as a whole number with commas.
func Thousands[N int | float64](n N) string {
	s := fmt.Sprintf("%.0f", float64(n))
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// Size returns the size of the files in a folder, in bytes.
func Size(dir string) (bytes float64, err error) {
	err = filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		bytes += float64(info.Size())
		return nil
	})
	return bytes, err
}
