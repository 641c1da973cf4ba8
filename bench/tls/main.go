//go:build linux

// TLS measures what TLS costs a client, and writes docs/bench/tls.md.
//
//	tls [-o FILE] [-runs N] [-command TEXT]
//
// The server is a process of its own, with a certificate for each of its names.
package main

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"github.com/weftcrawl/weft/bench/machine"
	"github.com/weftcrawl/weft/internal/process"
)

// origins is the number of servers, each with a name and a certificate.
const origins = 1_000

// roleEnv marks a process that this program has started: its arguments are a role's.
const roleEnv = "WEFT_BENCH_ROLE"

func main() {
	switch os.Getenv(roleEnv) {
	case "server":
		end(serve(os.Args[1]))
	case "client":
		end(runClient(os.Args[1], os.Args[2], os.Args[3], os.Args[4]))
	default:
		machine.Main("tls", 5, measure)
	}
}

func end(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "tls:", err)
		os.Exit(1)
	}
}

// figure is the cost of a request.
type figure struct {
	cpu   float64 // µs
	bytes int     // allocated
}

func measure(m machine.Measurement) ([]byte, error) {
	dir, err := os.MkdirTemp("", "weft-tls.")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	roots := filepath.Join(dir, "roots.pem")
	server, err := process.Start(context.Background(), process.Options{Env: []string{roleEnv + "=server"}, Pipes: true, Stderr: os.Stderr}, self, roots)
	if err != nil {
		return nil, err
	}
	defer server.Kill()
	line, err := bufio.NewReader(server.Out).ReadString('\n')
	if err != nil {
		return nil, err
	}
	port := strings.TrimSpace(line)
	var page bytes.Buffer
	// The first paragraph is to be reviewed whenever the page is measured again.
	fmt.Fprintf(&page, preface, "`"+m.Command+"`", machine.Commit(), runtime.Version(), machine.CPU(), runtime.NumCPU(), m.Runs)
	for _, t := range tasks {
		var weft, peer, classical, openssl []figure
		for range m.Runs {
			for client, all := range map[string]*[]figure{"weft": &weft, "nethttp": &peer, "x25519": &classical} {
				f, err := runOnce(self, client, t.name, port, roots)
				if err != nil {
					return nil, fmt.Errorf("%s, %s: %w", client, t.name, err)
				}
				*all = append(*all, f)
			}
			if t.openssl == "" {
				continue
			}
			f, err := runOpenSSL(t.openssl, port, roots)
			if err != nil {
				return nil, err
			}
			openssl = append(openssl, f)
		}
		row(&page, t, weft, peer, classical, openssl)
	}
	return page.Bytes(), nil
}

const preface = `# TLS

Beside net/http, Weft takes four tenths of the CPU time, both for 1,000 origins with a page each
and for a GET over a kept connection. Verifying certificates costs most: Weft remembers the
issuers that it has found valid, and the others verify them for every server. The rest of its lead
in handshakes is the key exchange ([ADR](../adr/0032-tls.md)).

## How it was measured

%s, at commit %s, with %s, %s, %d cores.
Medians of %d runs, with their range, of the CPU time for a request; each run is a process of its
own, the clients in turns.

- The server is Go's, in another process, with a certificate for each of 1,000 names: P-256,
  signed by an intermediate one (P-256), signed by a root (P-384). Sites of the Web share a few
  dozen issuers.
- Requests are for 4 KB, 10 at once. *A full handshake* is with a name that the client has met
  before, but without its session.
- Weft and OpenSSL exchange keys by X25519, net/http by X25519MLKEM768, and once more by X25519.
- OpenSSL is its own measuring client, openssl s_time, which does one request after the other,
  with verification (-verify), and reads no HTTP.

## Figures

| | Weft, µs | net/http, µs | the same with X25519 | OpenSSL, µs | beside net/http | mark | KB allocated: Weft, net/http |
|---|---|---|---|---|---|---|---|
`

// row writes the figures of a task.
func row(page *bytes.Buffer, t task, weft, peer, classical, openssl []figure) {
	ratio := median(weft) / median(peer)
	mark := "none"
	switch {
	case t.mark == 0:
	case ratio <= t.mark:
		mark = fmt.Sprintf("≤ %.1f, met", t.mark)
	default:
		mark = fmt.Sprintf("≤ %.1f, **missed**", t.mark)
	}
	fmt.Fprintf(page, "| %s | %s | %s | %s | %s | %.2f | %s | %.1f, %.1f |\n", t.what, spread(weft), spread(peer), spread(classical), spread(openssl), ratio, mark,
		float64(weft[0].bytes)/1e3, float64(peer[0].bytes)/1e3)
}

func cpus(all []figure) (cpu []float64) {
	for _, f := range all {
		cpu = append(cpu, f.cpu)
	}
	return cpu
}

func median(all []figure) float64 { return machine.Median(cpus(all)) }

// spread is the median, with the range.
func spread(all []figure) string {
	if len(all) == 0 {
		return ""
	}
	digits := 0
	if median(all) < 100 {
		digits = 1
	}
	return fmt.Sprintf("%.*f (%.*f–%.*f)", digits, median(all), digits, slices.Min(cpus(all)), digits, slices.Max(cpus(all)))
}

// runOnce lets a client do a task.
func runOnce(self, client, name, port, roots string) (f figure, err error) {
	p, err := process.Start(context.Background(), process.Options{Env: []string{roleEnv + "=client"}, Pipes: true}, self, client, name, port, roots)
	if err != nil {
		return f, err
	}
	_, scanned := fmt.Fscan(p.Out, &f.cpu, &f.bytes)
	if err := p.Wait(); err != nil {
		return f, err
	}
	return f, scanned
}

// connections matches the last line of openssl s_time.
var connections = regexp.MustCompile(`(?m)^(\d+) connections in [\d.]+s;`)

// runOpenSSL lets OpenSSL connect for 3 seconds. It counts only whole handshakes, and the process
// has started before: both are small beside the rest.
func runOpenSSL(how, port, roots string) (f figure, err error) {
	p, err := process.Start(context.Background(), process.Options{Pipes: true}, "openssl", "s_time", "-connect", "127.0.0.1:"+port, how,
		"-time", "3", "-CAfile", roots, "-verify", "4", "-www", "/page.html")
	if err != nil {
		return f, err
	}
	out, err := io.ReadAll(p.Out)
	if err == nil {
		err = p.Wait()
	}
	if err != nil {
		return f, err
	}
	last := connections.FindSubmatch(out)
	if last == nil {
		return f, fmt.Errorf("openssl printed %.100q", out)
	}
	n, err := strconv.Atoi(string(last[1]))
	f.cpu = float64(p.CPU().Microseconds()) / float64(n)
	return f, err
}
