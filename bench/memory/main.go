//go:build linux

// Memory measures the memory that the command takes, by budget, on webs that are made to take much,
// and writes docs/proof/memory.md.
//
//	memory [-o FILE] [-command TEXT] [-budgets SIZE,SIZE…] [-web NAME] [-runs N] WEFT
//
// Each figure is the peak resident size (VmHWM) of a process of its own. The last table has the CPU
// time of a crawl by GOGC.
package main

import (
	"bytes"
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/weftcrawl/weft/bench/machine"
	"github.com/weftcrawl/weft/internal/process"
	"github.com/weftcrawl/weft/internal/webtest"
)

func main() {
	out := flag.String("o", "", "file to write; empty: standard output")
	command := flag.String("command", "CGO_ENABLED=0 go -C bench run ./memory ./weft", "command to name on the page")
	budgets := flag.String("budgets", "64MiB,128MiB,512MiB", "values of --memory")
	runs := flag.Int("runs", 11, "crawls per setting of the collector; 0: leave that table out")
	waits := flag.Int("waits", 5, "crawls whose requests wait, by protocol; 0: leave that table out")
	only := flag.String("web", "", "measure only webs whose name contains this")
	flag.Parse()
	if flag.NArg() != 1 {
		fmt.Fprintln(os.Stderr, "memory: expected the command to measure, such as ./weft")
		os.Exit(3)
	}
	page, err := write(flag.Arg(0), *command, strings.Split(*budgets, ","), *only, *runs, *waits)
	machine.Publish("memory", *out, page, err)
}

// load is a web, and how to crawl it.
type load struct {
	name string
	args []string
	web  func() (running, error)
}

// running is a web being served.
type running struct {
	seeds []string
	args  []string
	close func() error
}

var loads = []load{
	{"32 hosts that each send 16 MB, at most 64 MB per second", []string{"--retries", "0", "--no-robots"}, served(32, slow)},
	{"8 hosts that each send 16 MB except the last byte", []string{"--retries", "0", "--no-robots"}, served(8, stalled)},
	{"32 hosts that each send 16 KB that decompress to 16 MB", []string{"--no-robots"}, served(32, bomb)},
	{"150 hosts with different robots.txt files of 500 KB", nil, served(150, longRobots)},
	{"30 pages of 10,000 new URLs on one host", []string{"--limit", "30", "-c", "4"}, hub(manyLinks)},
	{"64 pages of 20,000 links of 2,000 bytes on one host", []string{"--limit", "65", "--per-host", "64", "--delay", "0s"}, hub(longLinks)},
	{"40 hosts with a sitemap of 100,000 URLs, 500 KB that decompress to 15 MB", []string{"--sitemaps", "--limit", "200"}, served(40, longSitemap)},
	{"60 hosts that each send 16 MB in windows-874, 16 KB compressed", []string{"--no-robots"}, served(60, thai)},
	{"200 hosts over TLS with 240 KB of needless certificates", []string{"--no-robots", "--insecure"}, servedTLS(200)},
	{"2,000 hosts over TLS with 240 KB of needless certificates", []string{"--no-robots", "--insecure"}, servedTLS(2000)},
	{"2,000 hosts with heads of 60 KB", []string{"--no-robots"}, served(2000, longHead)},
	{"1,000 hosts of 30 pages, in 10 s", []string{"--max-time", "10s", "--timeout", "5s"}, synthetic(1000, 30)},
	{"10,000 hosts of 10 pages, in 10 s", []string{"--max-time", "10s", "--timeout", "5s"}, synthetic(10_000, 10)},
}

// served serves a number of hosts that all respond alike.
func served(hosts int, send http.HandlerFunc) func() (running, error) {
	return func() (running, error) { return hostsOf("http", hosts, send, nil) }
}

// servedTLS serves a number of hosts over TLS, whose certificates come with needless ones.
func servedTLS(hosts int) func() (running, error) {
	return func() (running, error) {
		config, err := webtest.Needless(240 << 10)
		if err != nil {
			return running{}, err
		}
		return hostsOf("https", hosts, page, config)
	}
}

// hostsOf serves hosts, over TLS if there is a configuration.
func hostsOf(scheme string, hosts int, send http.HandlerFunc, config *tls.Config) (running, error) {
	s, err := serve(send, config)
	if err != nil {
		return running{}, err
	}
	b := running{args: []string{"-c", "64", "--address-delay", "0s", "--domain-delay", "0s", "--resolve", "*:" + s.port + ":127.0.0.1"}, close: s.close}
	for i := range hosts {
		b.seeds = append(b.seeds, fmt.Sprintf("%s://h%03d.test:%s/", scheme, i, s.port))
	}
	return b, nil
}

// hub serves one host.
func hub(send http.HandlerFunc) func() (running, error) {
	return func() (running, error) {
		s, err := serve(send, nil)
		if err != nil {
			return running{}, err
		}
		return running{[]string{"http://127.0.0.1:" + s.port + "/"}, []string{"--no-robots"}, s.close}, nil
	}
}

func site() (running, error) {
	s, err := serve(page, nil)
	if err != nil {
		return running{}, err
	}
	return running{[]string{"http://127.0.0.1:" + s.port + "/0"}, nil, s.close}, nil
}

func synthetic(hosts, pages int) func() (running, error) {
	return func() (running, error) {
		r, err := webtest.Run(webtest.Config{Seed: 1, Hosts: hosts, Pages: pages}, webtest.Addresses{Log: io.Discard})
		if err != nil {
			return running{}, err
		}
		return running{[]string{r.Web.Home(0)}, []string{"-c", "256", "--scope", "any", "--allow-private", "--dns", r.DNS.Addr()}, r.Close}, nil
	}
}

// The prose of the page. The conclusions in take are to be reviewed whenever it is measured again.
const (
	take = `Weft stays within --memory from 512 MiB on, and takes up to 183 MiB at 128. At 64 MiB, the least,
ordinary webs of up to 10,000 hosts take up to 115 MiB, hosts over TLS up to 99, and webs that are
made to take much up to 155: there a body of 16 MiB, as sent and as decoded, is half of the budget.
About 35 MiB of each figure are pages of the program's own file, which the system can take back.

A page of an ordinary web costs about a tenth more CPU time at 64 MiB than at 512. Where the budget
is what binds, the collector runs more often: long sitemaps and large bodies cost two to three times
as much.`

	how = `Each figure is the peak resident size (VmHWM) of a process of its own, in MiB, with the outcome
of the crawl, its duration and its CPU time.`
)

func write(weft, command string, budgets []string, only string, runs, waits int) ([]byte, error) {
	var b bytes.Buffer
	fmt.Fprintf(&b, "# Memory of whole crawls\n\n%s\n\n## How it was measured\n\n`%s`, on %s, %s, %d CPUs.\n%s\n\n## By `--memory`\n\n", take, command, time.Now().UTC().Format(time.DateOnly), runtime.Version(), runtime.NumCPU(), how)
	fmt.Fprintf(&b, "| web | %s |\n|---|%s\n", strings.Join(budgets, " | "), strings.Repeat("---|", len(budgets)))
	for _, l := range loads {
		if !strings.Contains(l.name, only) {
			continue
		}
		fmt.Fprintf(&b, "| %s |", l.name)
		for _, budget := range budgets {
			m, err := measure(weft, budget, nil, l)
			if err != nil {
				return nil, fmt.Errorf("%s, %s: %w", l.name, budget, err)
			}
			text := fmt.Sprintf("**%d**: %s in %.0f s, %.1f s of CPU", m.resident>>20, m.outcome, m.took.Seconds(), m.cpu.Seconds())
			fmt.Fprintf(&b, " %s |", text)
			fmt.Fprintf(os.Stderr, "%s, %s: %s\n", l.name, budget, text)
		}
		fmt.Fprintln(&b)
	}
	if waits > 0 {
		if err := waiting(&b, weft, waits); err != nil {
			return nil, err
		}
	}
	if runs > 0 {
		if err := collector(&b, weft, runs); err != nil {
			return nil, err
		}
	}
	return b.Bytes(), nil
}

// collector writes the cost of a crawl by GOGC.
func collector(b *bytes.Buffer, weft string, runs int) error {
	small := load{"a site", []string{"-c", "64", "--no-robots"}, site}
	settings := []string{"", "100", "200", "400"} // empty: as the command sets it
	all := make(map[string][]measured)
	for range runs { // in turns, so that other work on the machine affects all alike
		for _, percent := range settings {
			m, err := measure(weft, "512MiB", []string{"GOGC=" + percent}, small)
			if err != nil {
				return fmt.Errorf("GOGC %s: %w", percent, err)
			}
			all[percent] = append(all[percent], m)
		}
	}
	fmt.Fprintf(b, "\n## The collector\n\nA crawl of one host (%s) with `--memory 512MiB -c 64`, by GOGC: medians of %d runs in\nturns, and the middle half of the runs. The command bounds the garbage to 24 MiB, or to what is\nalive if that is more.\n\n", all[settings[0]][0].outcome, runs)
	fmt.Fprintf(b, "| GOGC | CPU time, s | middle half | resident, MiB |\n|---|---|---|---|\n")
	for _, percent := range settings {
		cpu := sorted(all[percent], func(m measured) float64 { return m.cpu.Seconds() })
		resident := sorted(all[percent], func(m measured) float64 { return float64(m.resident >> 20) })
		fmt.Fprintf(b, "| %s | %.3f | %.3f to %.3f | %.0f |\n", cmp.Or(percent, "the command's"), cpu[runs/2], cpu[runs/4], cpu[runs-1-runs/4], resident[runs/2])
	}
	return nil
}

func sorted(all []measured, figure func(measured) float64) []float64 {
	var figures []float64
	for _, m := range all {
		figures = append(figures, figure(m))
	}
	slices.Sort(figures)
	return figures
}

// measured is the cost of a crawl.
type measured struct {
	resident  int64 // bytes, at most
	cpu, took time.Duration
	outcome   string
}

// measure crawls a web.
func measure(weft, budget string, env []string, l load) (_ measured, err error) {
	web, err := l.web()
	if err != nil {
		return measured{}, err
	}
	defer func() { err = errors.Join(err, web.close()) }()
	dir, err := os.MkdirTemp("", "weft-memory")
	if err != nil {
		return measured{}, err
	}
	defer os.RemoveAll(dir)
	args := append([]string{"crawl", "--memory", budget, "--job", filepath.Join(dir, "job"), "--log-format", "json"}, l.args...)
	var report bytes.Buffer
	began := time.Now()
	p, err := process.Start(context.Background(), process.Options{Env: env, Stderr: &report}, weft, append(append(args, web.args...), web.seeds...)...)
	if err != nil {
		return measured{}, err
	}
	defer p.Kill()
	most := int64(0)
	look := time.NewTicker(20 * time.Millisecond)
	defer look.Stop()
	for running := true; running; {
		select {
		case <-p.Ended():
			running = false
		case <-look.C:
			if s, err := process.ReadStatus(p.PID()); err == nil {
				most = max(most, s.Peak)
			}
		}
	}
	switch p.ExitCode() {
	case 0, 1, 4: // 1: no seed could be fetched; 4: stopped by a limit
		return measured{most, p.CPU(), time.Since(began), outcome(report.String())}, nil
	}
	return measured{}, p.Wait()
}

var figures = regexp.MustCompile(`"msg":"report".*?"urls":(\d+).*?"bytes":(\d+)`)

// outcome is the number of URLs and the volume in the report of a crawl.
func outcome(report string) string {
	found := figures.FindStringSubmatch(report)
	if found == nil {
		return "no report"
	}
	bytes, _ := strconv.Atoi(found[2])
	return fmt.Sprintf("%s URLs, %d MB", found[1], bytes/1e6)
}
