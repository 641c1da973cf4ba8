//go:build linux

package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/weftcrawl/weft/internal/process"
)

// idle measures the start, and the memory of a server that nobody asks for anything.
func (b *bench) idle() error {
	var starts, resident, own []float64
	for range b.runs {
		began := time.Now()
		s, err := b.weftServe()
		if err != nil {
			return err
		}
		starts = append(starts, time.Since(began).Seconds()*1000)
		time.Sleep(3 * time.Second)
		resident, own = append(resident, s.memory("VmRSS")), append(own, s.memory("RssAnon"))
		s.stop()
	}
	fmt.Fprintf(&b.page, `## Idle

Medians of %d servers. Memory is that after three seconds; the rest of it is pages of the program's
file, which the kernel can take back.

| | | mark |
|---|---|---|
| start, to the first answer | %.0f ms | |
| resident memory | %.1f MB, %.1f of them its own | ≤ %d MB, %s |

`, b.runs, median(starts), median(resident), median(own), markIdle, mark(median(resident), markIdle))
	return nil
}

// pages measures single pages beside the peer.
func (b *bench) pages() error {
	urls, err := b.pagesOf(400)
	if err != nil {
		return err
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	fmt.Fprintf(&b.page, `## Single pages

%d pages of the manual of Python, each once, at `+"`/v1/scrape`"+`, which returns Markdown. The peer is a
program of a page: net/http, go-readability, JSON (bench/serve/peer.go). Latencies are of the run
with the median CPU time, of %d in turns; CPU time is that of the server.

| clients | server | p50 ms | p99 ms | CPU ms a page |
|---|---|---|---|---|
`, len(urls), b.runs)
	for _, n := range []int{1, 8, clients} {
		type run struct {
			l   latencies
			cpu float64
		}
		runs := map[string][]run{}
		for range b.runs {
			for _, name := range []string{"weft", "peer"} {
				begin, path := b.weftServe, "/v1/scrape"
				if name == "peer" {
					begin, path = func() (*server, error) { return start(self, asPeer) }, "/"
				}
				s, err := begin()
				if err != nil {
					return err
				}
				all := newClients(n)
				before := s.cpu()
				l, err := load(n, len(urls), func(client, i int) error {
					_, _, err := post(all[client], s.url+path, fmt.Sprintf(`{"url": %q}`, urls[i]))
					return err
				})
				used := (s.cpu() - before).Seconds() * 1000 / float64(len(urls))
				s.stop()
				if err != nil {
					return err
				}
				runs[name] = append(runs[name], run{l, used})
			}
		}
		for _, name := range []string{"weft", "peer"} {
			var cpu []float64
			for _, r := range runs[name] {
				cpu = append(cpu, r.cpu)
			}
			middle := median(cpu)
			for _, r := range runs[name] {
				if r.cpu == middle {
					fmt.Fprintf(&b.page, "| %d | %s | %.1f | %.1f | %.2f |\n", n, name, r.l.at(0.5), r.l.at(0.99), r.cpu)
					break
				}
			}
		}
	}
	b.page.WriteString(published)
	return nil
}

// published are figures of others, which nobody measured here.
const published = `
Others publish latencies of their services, of other machines and of pages of the Web, which have to
be fetched from afar and mostly rendered: they are no measure of what stands above.

| source | pages | p50 | p95 |
|---|---|---|---|
| [Firecrawl's README](https://github.com/firecrawl/firecrawl), commit 02fbb99a (2026) | "millions" | | 3.4 s |
| [fastCRW](https://github.com/fastcrw/crw/blob/main/BENCHMARKS.md), 2026-05-08, of Firecrawl | 1,000 | 2.3 s | |
| the same, of crawl4ai | 1,000 | 1.9 s | |

fastCRW is a competitor of both. crawl4ai itself publishes no latency of its server that we found.

`

// pagesOf returns pages of the small site.
func (b *bench) pagesOf(most int) (urls []string, err error) {
	root := b.sites[0].Root
	err = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err == nil && len(urls) < most && strings.HasSuffix(path, ".html") && d.Type().IsRegular() {
			urls = append(urls, strings.TrimSuffix(b.sites[0].URL, "/")+strings.TrimPrefix(path, root))
		}
		return err
	})
	return urls, err
}

// agents measures the tool read at /mcp, of a page of 95 KB.
func (b *bench) agents() error {
	var text strings.Builder
	text.WriteString("<!doctype html><title>Kettles</title><main><h1>Kettles</h1>")
	for i := 0; text.Len() < 95_000; i++ {
		fmt.Fprintf(&text, "<h2>Kettle %d</h2><p>A kettle boils <a href=/%d>water</a>, and whoever buys one wants to know how long that takes.</p>", i, i)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	defer listener.Close()
	go func() {
		_ = http.Serve(listener, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/html; charset=utf-8")
			io.WriteString(w, text.String())
		}))
	}()
	site := "http://" + listener.Addr().String()
	s, err := b.weftServe()
	if err != nil {
		return err
	}
	defer s.stop()
	fmt.Fprintf(&b.page, `## Tools of agents

`+"`read`"+` over HTTP of a page of 95 KB on this machine, by clients that ask without a pause, and read
each answer without taking its JSON apart: what they and the site take is in the latencies. A known
page has been read before. Medians of %d runs.

| clients | page | p50 ms | p99 ms | CPU ms a call | and of clients and site | mark |
|---|---|---|---|---|---|---|
`, b.runs)
	for _, n := range []int{1, clients} {
		for _, known := range []bool{true, false} {
			const calls = 2000
			name, judged := "known", ""
			if !known {
				name = "fresh"
			}
			var middle, late, server, own []float64
			for run := range b.runs {
				all := make([]*agent, n)
				for i := range all {
					if all[i], err = newAgent(s.url); err != nil {
						return err
					}
					defer all[i].conn.Close()
				}
				if _, err := all[0].read(0, site); err != nil { // the fresh ones have driven it out
					return err
				}
				before, ownBefore := s.cpu(), ownCPU()
				l, err := load(n, calls, func(client, i int) error {
					url := site
					if !known {
						url = fmt.Sprintf("%s/%d/%d/%d", site, run, n, i)
					}
					answer, err := all[client].read(i+1, url)
					if err == nil && !bytes.Contains(answer, []byte("Kettle 1")) {
						err = fmt.Errorf("%s: %.500s", name, answer)
					}
					return err
				})
				if err != nil {
					return err
				}
				middle, late = append(middle, l.at(0.5)), append(late, l.at(0.99))
				server = append(server, (s.cpu()-before).Seconds()*1000/calls)
				own = append(own, (ownCPU()-ownBefore).Seconds()*1000/calls)
			}
			if n == clients {
				judged = fmt.Sprintf("≤ %d and ≤ %d, %s", markMedian, markLate, mark(max(median(middle)/markMedian, median(late)/markLate), 1))
			}
			fmt.Fprintf(&b.page, "| %d | %s | %.1f | %.1f | %.2f | %.2f | %s |\n", n, name, median(middle), median(late), median(server), median(own), judged)
		}
	}
	b.page.WriteString("\n")
	return nil
}

// viewers measures what three viewers of a page cost a crawl.
func (b *bench) viewers() error {
	var ratios, plain, seen, speed []float64
	for i := range b.runs * 3 {
		pair := map[bool]float64{}
		for _, viewed := range []bool{i%2 == 0, i%2 != 0} {
			cpu, rate, err := b.viewedCrawl(viewed)
			if err != nil {
				return err
			}
			pair[viewed] = cpu
			if viewed {
				seen, speed = append(seen, cpu), append(speed, rate)
			} else {
				plain = append(plain, cpu)
			}
		}
		ratios = append(ratios, pair[true]/pair[false])
	}
	fmt.Fprintf(&b.page, `## Viewers

A crawl of 12 sites with `+"`--web`"+`, %.0f URLs a second, without viewers and with three, whose streams
are read to the end. CPU time of the crawl, medians of %d pairs in turns.

| without | with three | ratio | mark |
|---|---|---|---|
| %.2f s | %.2f s | %.3f | ≤ %.2f, %s |
`, median(speed), len(ratios), median(plain), median(seen), median(ratios), markViewers, mark(median(ratios), markViewers))
	return nil
}

// viewedCrawl crawls the medium sites, and returns the CPU time and the URLs a second.
func (b *bench) viewedCrawl(viewed bool) (cpu, rate float64, err error) {
	job := filepath.Join(b.dir, "viewed.weft")
	if err := os.RemoveAll(job); err != nil {
		return 0, 0, err
	}
	args := []string{"crawl", "--no-config", "-c", "64", "--log-format", "json", "--log-interval", "1m", "--web", "127.0.0.1:0", "--job", job}
	for _, s := range b.sites[1:] {
		args = append(args, s.URL)
	}
	read, write := io.Pipe()
	began := time.Now()
	p, err := process.Start(context.Background(), process.Options{Stderr: write}, b.weft, args...)
	if err != nil {
		return 0, 0, err
	}
	go func() {
		lines := bufio.NewScanner(read)
		lines.Buffer(nil, 1<<20)
		for lines.Scan() {
			var m struct{ Msg string }
			_ = json.Unmarshal(lines.Bytes(), &m) // what is none has no Msg
			page, ok := strings.CutPrefix(m.Msg, "web: ")
			if !viewed || !ok {
				continue
			}
			viewed = false
			for range 3 {
				go func() {
					if resp, err := http.Get(page + "v1/looks"); err == nil {
						_, _ = io.Copy(io.Discard, resp.Body) // until the crawl ends
						resp.Body.Close()
					}
				}()
			}
		}
	}()
	if err := p.Wait(); err != nil {
		return 0, 0, err
	}
	took := time.Since(began)
	records, err := os.ReadFile(filepath.Join(job, "pages.jsonl"))
	if err != nil {
		return 0, 0, err
	}
	return p.CPU().Seconds(), float64(strings.Count(string(records), "\n")) / took.Seconds(), nil
}
