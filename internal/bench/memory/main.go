//go:build linux

// Memory measures how much memory the command takes, within budgets, of webs that are made to
// take much, and writes a page of it.
//
//	memory [-o FILE] [-command TEXT] [-budgets SIZE,SIZE…] WEFT
//
// Each figure is of a process of its own: its VmHWM, which is the most it ever had resident.
package main

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"time"

	"github.com/weftcrawl/weft/internal/webtest"
)

func main() {
	out := flag.String("o", "", "file to write; empty: standard output")
	command := flag.String("command", "go run ./internal/bench/memory ./weft", "how the figures were made")
	budgets := flag.String("budgets", "64MiB,128MiB,512MiB", "values of --memory")
	flag.Parse()
	if flag.NArg() != 1 {
		fmt.Fprintln(os.Stderr, "memory: expected the command to measure, such as ./weft")
		os.Exit(3)
	}
	page, err := write(flag.Arg(0), *command, strings.Split(*budgets, ","))
	if err == nil && *out == "" {
		_, err = os.Stdout.Write(page)
	} else if err == nil {
		err = os.WriteFile(*out, page, 0o666)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "memory:", err)
		os.Exit(1)
	}
}

// hosts is how many send bodies at once.
const hosts = 64

// load is one web, and how it is crawled.
type load struct {
	name string
	args []string
	web  func() (begun, error)
}

// begun is a web that is served.
type begun struct {
	seeds []string
	args  []string
	close func() error
}

var loads = []load{
	{"64 hosts that each send 16 MB, 64 MB a second at most", []string{"--retries", "0"}, served(slow)},
	{"64 hosts that each send 16 MB but for the end", []string{"--retries", "0", "--idle-timeout", "500ms"}, served(stalled)},
	{"64 hosts that each send 16 KB, which become 16 MB", nil, served(bomb)},
	{"100 pages of 10,000 new URLs, of one host", []string{"--limit", "100", "-c", "4"}, hub},
	{"1,000 hosts of 30 pages", []string{"--max-time", "20s"}, synthetic(1000, 30)},
	{"10,000 hosts of 10 pages", []string{"--max-time", "20s"}, synthetic(10_000, 10)},
}

func served(send answer) func() (begun, error) {
	return func() (begun, error) {
		s, err := serve(send)
		if err != nil {
			return begun{}, err
		}
		b := begun{args: []string{"-c", strconv.Itoa(hosts), "--no-robots", "--resolve", "*:" + s.port + ":127.0.0.1"}, close: s.close}
		for i := range hosts {
			b.seeds = append(b.seeds, fmt.Sprintf("http://h%02d.test:%s/", i, s.port))
		}
		return b, nil
	}
}

func hub() (begun, error) {
	s, err := serve(manyLinks)
	if err != nil {
		return begun{}, err
	}
	return begun{[]string{"http://127.0.0.1:" + s.port + "/"}, []string{"--no-robots"}, s.close}, nil
}

func synthetic(hosts, pages int) func() (begun, error) {
	return func() (begun, error) {
		r, err := webtest.Run(webtest.Config{Seed: 1, Hosts: hosts, Pages: pages}, webtest.Addresses{Log: io.Discard})
		if err != nil {
			return begun{}, err
		}
		return begun{[]string{r.Web.Home(0)}, []string{"-c", "256", "--scope", "any", "--allow-private", "--dns", r.DNS.Addr()}, r.Close}, nil
	}
}

func write(weft, command string, budgets []string) ([]byte, error) {
	var b bytes.Buffer
	fmt.Fprintf(&b, "# Memory of whole crawls\n\nWritten by `%s` on %s, %s, %d CPUs. The most memory that the process had resident (VmHWM), in MiB, and what came of the crawl,\nby `--memory`.\n\n", command, time.Now().UTC().Format(time.DateOnly), runtime.Version(), runtime.NumCPU())
	fmt.Fprintf(&b, "| web | %s |\n|---|%s\n", strings.Join(budgets, " | "), strings.Repeat("---|", len(budgets)))
	for _, l := range loads {
		fmt.Fprintf(&b, "| %s |", l.name)
		for _, budget := range budgets {
			text, err := measure(weft, budget, l)
			if err != nil {
				return nil, fmt.Errorf("%s, %s: %w", l.name, budget, err)
			}
			fmt.Fprintf(&b, " %s |", text)
			fmt.Fprintf(os.Stderr, "%s, %s: %s\n", l.name, budget, text)
		}
		fmt.Fprintln(&b)
	}
	return b.Bytes(), nil
}

// measure crawls a web, and says what that took.
func measure(weft, budget string, l load) (_ string, err error) {
	web, err := l.web()
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, web.close()) }()
	dir, err := os.MkdirTemp("", "weft-memory")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(dir)
	args := append([]string{"crawl", "--memory", budget, "--job", filepath.Join(dir, "job"), "--log-format", "json"}, l.args...)
	cmd := exec.Command(weft, append(append(args, web.args...), web.seeds...)...)
	var report bytes.Buffer
	cmd.Stderr = &report
	began := time.Now()
	if err := cmd.Start(); err != nil {
		return "", err
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	most := 0
	for look := time.NewTicker(20 * time.Millisecond); ; {
		select {
		case err := <-ended:
			var e *exec.ExitError
			if err != nil && (!errors.As(err, &e) || e.ExitCode() != 4 && e.ExitCode() != 1) { // stopped by a limit; no seed could be fetched
				return "", fmt.Errorf("%w: %s", err, report.Bytes())
			}
			return fmt.Sprintf("**%d**: %s in %.0f s", most>>10, outcome(report.String()), time.Since(began).Seconds()), nil
		case <-look.C:
			most = max(most, resident(cmd.Process.Pid))
		}
	}
}

var highWater = regexp.MustCompile(`VmHWM:\s+(\d+) kB`)

// resident is the most memory that a process has had resident, in KiB; 0 once it has ended.
func resident(pid int) int {
	status, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	found := highWater.FindSubmatch(status)
	if found == nil {
		return 0
	}
	n, _ := strconv.Atoi(string(found[1]))
	return n
}

var figures = regexp.MustCompile(`"msg":"report".*?"urls":(\d+).*?"bytes":(\d+)`)

// outcome is how many URLs the report tells of, and how much was received.
func outcome(report string) string {
	found := figures.FindStringSubmatch(report)
	if found == nil {
		return "no report"
	}
	bytes, _ := strconv.Atoi(found[2])
	return fmt.Sprintf("%s URLs, %d MB", found[1], bytes/1e6)
}
