//go:build linux

package main

import (
	"bufio"
	"context"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/weftcrawl/weft/internal/process"
)

// serverEnv marks a process that is a server: its arguments are its folder, its number, whether it syncs
// each write, and for a cluster the ports of clients and routes of all.
const serverEnv = "WEFT_BENCH_SERVER"

// serve runs a server until standard input ends, and answers each line of it with what it has used.
func serve(args []string) error {
	dir, always, ports := args[0], args[2] == "true", args[3:]
	n, err := strconv.Atoi(args[1])
	if err != nil {
		return err
	}
	o := &server.Options{
		ServerName: fmt.Sprint("s", n), Host: "127.0.0.1", JetStream: true, StoreDir: dir, SyncAlways: always,
		NoSigs: true, JetStreamMaxMemory: 1 << 30, JetStreamMaxStore: 20 << 30,
	}
	if o.Port, err = strconv.Atoi(ports[2*n]); err != nil {
		return err
	}
	if len(ports) > 2 {
		o.Cluster.Name, o.Cluster.Host = "bench", "127.0.0.1"
		if o.Cluster.Port, err = strconv.Atoi(ports[2*n+1]); err != nil {
			return err
		}
		for i := 1; i < len(ports); i += 2 {
			o.Routes = append(o.Routes, &url.URL{Scheme: "nats", Host: "127.0.0.1:" + ports[i]})
		}
	}
	s, err := server.NewServer(o)
	if err != nil {
		return err
	}
	s.Start()
	in := bufio.NewScanner(os.Stdin)
	for in.Scan() {
		status, err := process.ReadStatus(os.Getpid())
		if err != nil {
			return err
		}
		fmt.Println(int64(process.CPU()), status.Resident)
	}
	return nil // without a word to the others: the folder is deleted anyway
}

// servers are the processes of a cluster.
type servers struct {
	dir  string
	urls string
	all  []*process.Process
	out  []*bufio.Scanner
}

// start starts one server, or three.
func start(ctx context.Context, dir string, number int, always bool) (*servers, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	ports, err := process.FreePorts(2 * number)
	if err != nil {
		return nil, err
	}
	c := &servers{dir: dir}
	for i := range number {
		args := append([]string{filepath.Join(dir, fmt.Sprint(i)), strconv.Itoa(i), strconv.FormatBool(always)}, ports...)
		p, err := process.Start(ctx, process.Options{Env: []string{serverEnv + "=1"}, Pipes: true, Stderr: os.Stderr}, self, args...)
		if err != nil {
			c.close()
			return nil, err
		}
		c.all, c.out = append(c.all, p), append(c.out, bufio.NewScanner(p.Out))
	}
	var urls []string
	for i := range number {
		urls = append(urls, "nats://127.0.0.1:"+ports[2*i])
	}
	c.urls = strings.Join(urls, ",")
	return c, nil
}

func (c *servers) close() {
	for _, p := range c.all {
		p.Kill()
	}
}

// usage is what servers have used.
type usage struct {
	cpu      time.Duration // of all
	resident int64         // of the largest
	disk     float64
}

func (c *servers) usage() (u usage, err error) {
	for i, p := range c.all {
		if _, err := fmt.Fprintln(p.In); err != nil {
			return u, err
		}
		if !c.out[i].Scan() {
			return u, fmt.Errorf("server %d has ended: %w", i, p.Wait())
		}
		var cpu, resident int64
		if _, err := fmt.Sscan(c.out[i].Text(), &cpu, &resident); err != nil {
			return u, err
		}
		u.cpu += time.Duration(cpu)
		u.resident = max(u.resident, resident)
	}
	u.disk = c.size()
	return u, nil
}

// size returns the size of the servers' files, which come and go meanwhile.
func (c *servers) size() (bytes float64) {
	_ = filepath.WalkDir(c.dir, func(_ string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return nil
		}
		if info, err := d.Info(); err == nil {
			bytes += float64(info.Size())
		}
		return nil
	})
	return bytes
}
