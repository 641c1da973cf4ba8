package proof

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/weftcrawl/weft"
	"github.com/weftcrawl/weft/internal/process"
	"github.com/weftcrawl/weft/internal/webtest"
)

// The marks of a healthy site beside a neighbour.
const (
	mostSlower = 3   // times its time alone
	mostOver   = 115 // percent of --memory
	mostDrain  = 30 * time.Second
)

// Beside is a crawl of a healthy site beside a neighbour, to run and judge. The crawl is
// interrupted when the site is whole, or after Patience.
type Beside struct {
	Command   string        // the weft command
	Dir       string        // an existing folder for the job
	Neighbour               // none: the site is alone
	N         int           // of the neighbour
	Pages     int           // of the healthy site
	Latency   time.Duration // of each of them
	Memory    int           // budget of the command in bytes; 0: its default
	Flags     []string      // additional ones of the command
	Patience  time.Duration
	Hurried   bool // interrupt the command twice, and do not measure its end
}

// exitInterrupted is the exit status of a command that was interrupted.
const exitInterrupted = 5

// Neighbour is a scenario of package webtest.
type Neighbour = webtest.Neighbour

// Hurt is the outcome of a Beside.
type Hurt struct {
	Beside
	Fetched int           // pages of the healthy site with status 200 in the job; if Hurried, sent
	Took    time.Duration // from the start of the command until the site was whole, or Patience
	Drain   time.Duration // from the interrupt to the end of the command
	Peak    int           // resident bytes, at most
	CPU     time.Duration // of the command
}

// Run runs the crawl.
func (b Beside) Run(ctx context.Context) (h Hurt, err error) {
	h.Beside = b
	site, err := webtest.ServeHealthy(b.Pages, b.Latency, b.Neighbour, b.N)
	if err != nil {
		return h, err
	}
	defer func() { err = errors.Join(err, site.Close()) }()
	dir, err := os.MkdirTemp(b.Dir, "beside")
	if err != nil {
		return h, err
	}
	o := process.Options{Dir: dir}
	if b.Loops > 0 {
		o.Env = []string{"GOMAXPROCS=" + strconv.Itoa(b.Loops)}
	}
	args := append([]string{"crawl", "--quiet", "--job", "job"}, b.Flags...)
	if b.Memory > 0 {
		args = append(args, "--memory", strconv.Itoa(b.Memory))
	}
	began := time.Now()
	p, err := process.Start(ctx, o, b.Command, append(append(args, site.Flags...), site.Seeds...)...)
	if err != nil {
		return h, err
	}
	defer p.Kill()
	h.watch(p, site, began)
	if code := p.ExitCode(); code != 0 && code != exitInterrupted {
		return h, p.Wait()
	}
	h.CPU = p.CPU()
	if h.Hurried {
		h.Fetched = site.Sent()
		return h, nil
	}
	h.Fetched, err = recorded(filepath.Join(dir, "job", "pages.jsonl"), site.Home)
	return h, err
}

// watch interrupts the command when the site is whole, and waits for its end.
func (h *Hurt) watch(p *process.Process, site *webtest.Healthy, began time.Time) {
	whole, late := site.Whole, time.After(h.Patience)
	look := time.NewTicker(10 * time.Millisecond)
	defer look.Stop()
	var interrupted time.Time
	interrupt := func() {
		whole, late = nil, nil
		interrupted = time.Now()
		h.Took = interrupted.Sub(began)
		p.Signal(os.Interrupt)
		if h.Hurried {
			p.Signal(syscall.SIGTERM) // another signal: two of the same may become one
		}
	}
	for {
		select {
		case <-whole:
			interrupt()
		case <-late:
			interrupt()
		case <-look.C:
			if s, err := process.ReadStatus(p.PID()); err == nil {
				h.Peak = max(h.Peak, int(s.Peak))
			}
		case <-p.Ended():
			if interrupted.IsZero() {
				interrupt()
			}
			h.Drain = time.Since(interrupted)
			return
		}
	}
}

// recorded returns how many pages of a site a job has with status 200.
func recorded(path, home string) (n int, err error) {
	f, err := os.Open(path)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	lines := bufio.NewReader(f)
	for {
		line, err := lines.ReadBytes('\n')
		if err == io.EOF {
			return n, nil
		}
		var r weft.Record
		if err == nil {
			err = json.Unmarshal(line, &r)
		}
		if err != nil {
			return n, err
		}
		if r.Status == 200 && strings.HasPrefix(r.URL, home) {
			n++
		}
	}
}

// Wrong lists the marks that the crawl misses, given the site's time alone, and how much longer
// than three times that it may take, for short sites on busy machines.
func (h *Hurt) Wrong(alone, slack time.Duration) (wrong []string) {
	note := func(format string, args ...any) { wrong = append(wrong, fmt.Sprintf(format, args...)) }
	if h.Fetched != h.Pages {
		note("%d of %d pages, expected all", h.Fetched, h.Pages)
	}
	if h.Took > mostSlower*alone+slack {
		note("%.1f times its time alone, expected at most %d", h.Took.Seconds()/alone.Seconds(), mostSlower)
	}
	if most := h.budget() / 100 * mostOver; h.Peak > most {
		note("%d MiB, expected at most %d", h.Peak>>20, most>>20)
	}
	if h.Drain > mostDrain {
		note("an end of %v, expected at most %v", h.Drain.Round(time.Second), mostDrain)
	}
	return wrong
}

func (h *Hurt) budget() int {
	if h.Memory > 0 {
		return h.Memory
	}
	return weft.DefaultMemory
}

// Missed lists the marks that crawls beside neighbours miss, the first of which was alone.
func Missed(all []Hurt) (wrong []string) {
	for i := range all[1:] {
		h := &all[1+i]
		for _, mark := range h.Wrong(all[0].Took, 0) {
			wrong = append(wrong, fmt.Sprintf("%d %s: %s", h.N, h.Name, mark))
		}
	}
	return wrong
}

// WriteNeighbours writes the page of crawls beside neighbours, the first of which was alone.
func WriteNeighbours(w io.Writer, command string, all []Hurt) error {
	p := &page{w: w}
	alone, failures := all[0], Missed(all)
	p.line("# Healthy sites beside others\n")
	if len(failures) == 0 {
		p.line("A healthy site keeps its marks beside every one of these neighbours.\n")
	} else {
		p.line("A healthy site keeps its marks beside most of these neighbours. The section Wrong lists the others.\n")
	}
	p.line("## How it was measured\n")
	p.line("`%s`,", command)
	p.line("on %d cores, %s: the real command", runtime.GOMAXPROCS(0), runtime.Version())
	p.line("crawls a site of %d pages that come within %v each, two at a time, beside a neighbour, over", alone.Pages, alone.Latency)
	p.line("real sockets of the same machine. When each page was sent, it is interrupted. The marks: the site")
	p.line("is whole, it takes at most %d times its time alone, the process (VmHWM) at most %d %% of `--memory`,", mostSlower, mostOver)
	p.line("which is %d MiB, and its end at most %v.\n", alone.budget()>>20, mostDrain)
	p.line("| beside | pages | time | × alone | RSS MiB | end | CPU |\n|---|---:|---:|---:|---:|---:|---:|")
	for i := range all {
		h := &all[i]
		name := "nothing"
		if h.N > 0 {
			name = fmt.Sprintf("%d %s", h.N, h.Name)
		}
		p.line("| %s | %d | %.1f s | %.1f | %d | %.1f s | %.1f s |", name, h.Fetched, h.Took.Seconds(),
			h.Took.Seconds()/alone.Took.Seconds(), h.Peak>>20, h.Drain.Seconds(), h.CPU.Seconds())
	}
	p.failures(failures)
	return p.err
}
