//go:build linux

package main

import (
	"context"
	"fmt"
	"io/fs"
	"net/url"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/weftcrawl/weft/internal/process"
)

// serverEnv marks a process that is a server: its arguments are its folder, its number, whether it
// syncs each write, and for a cluster the ports of clients and routes of all.
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
	return process.Report() // the others hear nothing of its end: the folder is deleted anyway
}

// servers are the processes of a cluster.
type servers struct {
	process.Group
	dir  string
	urls string
}

// start starts one server, or three.
func start(ctx context.Context, dir string, number int, always bool) (*servers, error) {
	ports, err := process.FreePorts(2 * number)
	if err != nil {
		return nil, err
	}
	s := &servers{dir: dir}
	for i := range number {
		args := append([]string{filepath.Join(dir, fmt.Sprint(i)), strconv.Itoa(i), strconv.FormatBool(always)}, ports...)
		if err := s.Start(ctx, serverEnv+"=1", args...); err != nil {
			s.Kill()
			return nil, err
		}
	}
	var urls []string
	for i := range number {
		urls = append(urls, "nats://127.0.0.1:"+ports[2*i])
	}
	s.urls = strings.Join(urls, ",")
	return s, nil
}

// usage is the resources that servers have used.
type usage struct {
	process.Used
	disk float64
}

func (s *servers) usage() (usage, error) {
	used, err := s.Used()
	return usage{Used: used, disk: s.size()}, err
}

// size returns the size of the servers' files, which come and go meanwhile.
func (s *servers) size() (bytes float64) {
	_ = filepath.WalkDir(s.dir, func(_ string, d fs.DirEntry, err error) error {
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
