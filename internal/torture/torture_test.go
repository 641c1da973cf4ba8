package torture_test

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/weftcrawl/weft/internal/frontier/store"
	"github.com/weftcrawl/weft/internal/frontier/store/storetest"
	"github.com/weftcrawl/weft/internal/long"
	"github.com/weftcrawl/weft/internal/process"
	"github.com/weftcrawl/weft/internal/torture"
	"github.com/weftcrawl/weft/internal/webtest"
)

const (
	killsPerCrawl = 8
	atOnce        = 3 // concurrent crawls, which mostly wait
	delay         = 60 * time.Millisecond
	timeout       = 300 * time.Millisecond
	lag           = 50 * time.Millisecond // of a busy server
	retries       = 1
)

// web has hosts so small that their delays add up to seconds. It leaves out two things that would
// look like a missing delay: the target of a moved robots.txt, fetched before its Crawl-delay is
// known, and requests sent again after a kept connection ended.
var web = webtest.Config{
	Seed: 2, Hosts: 12, Pages: 4, Links: 5, SlowDelay: 100 * time.Millisecond, CrawlDelay: 80 * time.Millisecond, Fails: 1,
	Rates: webtest.Rates{Broken: -1, MovedRobots: -1, Stalled: 0.02},
}

// TestKilled kills the command at random instants, from its start to its end, and runs it again
// until it ends by itself. After each kill no record is torn or doubled, and committed ones stay;
// at the end the job holds what an undisturbed crawl finds. The server checks every host's delay.
func TestKilled(t *testing.T) {
	want := long.Or(16, 24) // two crawls, of which one has an archive
	if s := os.Getenv("WEFT_KILLS"); s != "" {
		var err error
		if want, err = strconv.Atoi(s); err != nil || want < 1 {
			t.Fatalf("WEFT_KILLS=%s, expected a number of kills", s)
		}
	}
	command, err := process.Build(t.Context(), t.TempDir(), "weft")
	if err != nil {
		t.Fatal(err)
	}
	calm := newVictim(t, command, 0, nil)
	calm.crawl(0)
	if t.Failed() {
		return
	}
	report := report{calm: calm.result}
	var mu sync.Mutex
	var crawls sync.WaitGroup
	kills := 0
	for i := range atOnce {
		crawls.Go(func() {
			for seed := uint64(1 + i); !t.Failed(); seed += atOnce {
				mu.Lock()
				n := min(killsPerCrawl, want-kills)
				kills += n
				mu.Unlock()
				if n <= 0 {
					return
				}
				v := newVictim(t, command, seed, calm)
				v.crawl(n)
				mu.Lock()
				report.results = append(report.results, v.result)
				kills += len(v.result.kills) - n // it may have ended before
				mu.Unlock()
			}
		})
	}
	crawls.Wait()
	slices.SortFunc(report.results, func(a, b result) int { return cmp.Compare(a.seed, b.seed) })
	t.Log("\n" + report.String())
	if name := os.Getenv("WEFT_REPORT"); name != "" {
		if err := os.WriteFile(name, []byte(report.String()), 0o666); err != nil {
			t.Fatal(err)
		}
	}
}

// victim is a crawl to kill.
type victim struct {
	t       *testing.T
	command string
	dir     string
	served  *webtest.Running
	rng     *rand.Rand
	calm    *victim // the undisturbed crawl; nil for itself
	result  result
	links   map[string]string // of the calm one: links by page, without the port
	left    torture.Left      // after the last run
}

func newVictim(t *testing.T, command string, seed uint64, calm *victim) *victim {
	v := &victim{
		t: t, command: command, dir: t.TempDir(), served: webtest.Start(t, web),
		rng: rand.New(rand.NewPCG(seed, 0)), calm: calm, result: result{seed: seed},
	}
	return v
}

// crawl kills a number of runs, lets the next one end, and judges their joint result.
func (v *victim) crawl(kills int) {
	began := time.Now()
	for !v.t.Failed() {
		var at *instant
		if len(v.result.kills) < kills {
			i := v.draw(kills)
			at = &i
		}
		if v.run(at) {
			break
		}
	}
	v.result.took = time.Since(began)
	if v.t.Failed() {
		return
	}
	v.look()
	v.judge()
}

// run runs the command until it ends by itself or is killed, and reports which.
func (v *victim) run(at *instant) (ended bool) {
	args := []string{"crawl", "--quiet", "--job", "job", "--links", "--bodies",
		"--scope", "any", "--concurrency", "16", "--delay", delay.String(), "--timeout", timeout.String(), "--retries", strconv.Itoa(retries),
		"--dns", v.served.DNS.Addr(), v.served.Web.Home(0)}
	if v.result.seed%2 == 1 {
		args = append(args, "--warc", "--assets=none", "--warc-size", "100KB")
	}
	asked := v.served.Log.Len()
	v.result.runs = append(v.result.runs, run{time.Now(), asked})
	p, err := process.Start(v.t.Context(), process.Options{Dir: v.dir}, v.command, args...)
	if err != nil {
		v.t.Error(err)
		return true
	}
	began := time.Now()
	if at != nil && v.await(*at, asked, p) {
		p.Kill()
		lived := time.Since(began)
		if p.ExitCode() == -1 { // otherwise it had just ended
			v.look()
			v.result.kills = append(v.result.kills, kill{*at, lived, len(v.left.Records)})
			return false
		}
	}
	if err := p.Wait(); err != nil {
		v.t.Errorf("seed %d, run %d: %v", v.result.seed, len(v.result.runs), err)
	}
	return true
}

// await waits for an instant of a run; false: the command ended before it.
func (v *victim) await(at instant, asked int, p *process.Process) bool {
	var size int64
	pages := filepath.Join(v.dir, "job/pages.jsonl")
	if info, err := os.Stat(pages); err == nil {
		size = info.Size()
	}
	timer := time.NewTimer(at.after)
	defer timer.Stop()
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-p.Ended():
			return false
		case <-timer.C:
			return true
		case <-tick.C:
			if at.requests > 0 && v.served.Log.Len() >= asked+at.requests {
				return true
			}
			if at.bytes > 0 {
				if info, err := os.Stat(pages); err == nil && info.Size() >= size+at.bytes {
					return true
				}
			}
		}
	}
}

// look checks what is left. It opens a copy in memory, so that the next run finds the job as it
// was.
func (v *victim) look() {
	left, err := v.copied()
	switch {
	case errors.Is(err, fs.ErrNotExist) && v.left.Pages == "": // killed before there was a job
		return
	case err != nil:
	case !strings.HasPrefix(left.Pages, v.left.Pages):
		err = fmt.Errorf("%d bytes of pages.jsonl do not start with the %d committed before", len(left.Pages), len(v.left.Pages))
	}
	if err != nil {
		v.t.Errorf("seed %d, run %d: %v", v.result.seed, len(v.result.runs), err)
	}
	v.left = left
}

func (v *victim) copied() (torture.Left, error) {
	disk := storetest.New()
	job := os.DirFS(filepath.Join(v.dir, "job"))
	err := fs.WalkDir(job, ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case name == "bodies":
			return fs.SkipDir
		case d.IsDir():
			return disk.MkdirAll("/job/"+name, 0o777)
		case !d.Type().IsRegular(): // the socket
			return nil
		}
		data, err := fs.ReadFile(job, name)
		if err != nil {
			return err
		}
		return disk.WriteFile("/job/"+name, data)
	})
	if err != nil {
		return torture.Left{}, err
	}
	left, err := torture.Open(disk, "/job")
	if err == nil {
		if v.result.seed%2 == 1 {
			return left, left.Archive(disk, "/job")
		}
		err = left.Bodies(store.Disk, filepath.Join(v.dir, "job"))
	}
	return left, err
}

// judge compares the result of a crawl with the truth and with the undisturbed crawl, and checks
// politeness at the server.
func (v *victim) judge() {
	truth := maps.Collect(v.served.Web.Truth(torture.Policy(retries)))
	v.result.urls = len(truth)
	port := v.served.Web.Authority(0)[len(v.served.Web.Name(0)):]
	links := v.left.Links
	if v.calm == nil {
		v.links = make(map[string]string)
		for from, lines := range links {
			v.links[strings.ReplaceAll(from, port, "")] = strings.ReplaceAll(lines, port, "")
		}
	} else {
		links = make(map[string]string)
		for from := range truth {
			if lines := v.calm.links[strings.ReplaceAll(from, port, "")]; lines != "" {
				links[from] = lines
			}
		}
		for from, lines := range v.left.Links {
			v.left.Links[from] = strings.ReplaceAll(lines, port, "")
		}
	}
	if err := v.left.Whole(truth, links); err != nil {
		v.t.Errorf("seed %d: %v", v.result.seed, err)
	}
	v.polite()
}

// polite checks in the server's log that every host had its delay: between two requests, and
// between the start of a run and its first request if an earlier run had asked the host.
func (v *victim) polite() {
	requests := v.served.Log.Requests()
	for i := range requests {
		// A busy server learns late that the crawler has given up a request.
		if r := &requests[i]; r.Status == 0 && r.End.Sub(r.Start) > timeout-lag {
			r.End = r.Start.Add(timeout - lag)
		}
	}
	for host, m := range webtest.Judge(slices.Values(requests)).Hosts {
		if m.MostAtOnce > 1 || m.Requests > 1 && m.SmallGap < delay {
			v.t.Errorf("seed %d: %s: %d concurrent requests, gap %v, expected 1 and at least %v", v.result.seed, host, m.MostAtOnce, m.SmallGap, delay)
		}
	}
	known := make(map[string]bool)
	v.result.requests = len(requests)
	for i, run := range v.result.runs {
		end := len(requests)
		if i+1 < len(v.result.runs) {
			end = v.result.runs[i+1].asked
		}
		for _, r := range requests[run.asked:end] {
			if known[r.Host] && r.Start.Sub(run.began) < delay {
				v.t.Errorf("seed %d, run %d: %s was requested %v after its start, expected at least %v", v.result.seed, i+1, r.URL(), r.Start.Sub(run.began), delay)
			}
		}
		for _, r := range requests[run.asked:end] {
			known[r.Host] = true
		}
	}
}
