//go:build linux

package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/weftcrawl/weft/cluster/server"
	"github.com/weftcrawl/weft/internal/process"
)

// serverEnv marks a process that is a server: its value is the server's options.
const serverEnv = "WEFT_BENCH_SERVER"

// address is what a server is told.
type address struct {
	Store, Name, Listen, ListenPeers string
	Peers                            []string
}

// serve runs a server until standard input ends, and answers each line of it with the CPU time used.
func serve(text string) error {
	var a address
	if err := json.Unmarshal([]byte(text), &a); err != nil {
		return err
	}
	s, err := server.Start(server.Options{Store: a.Store, Name: a.Name, Listen: a.Listen, Peers: a.Peers, ListenPeers: a.ListenPeers})
	if err != nil {
		return err
	}
	defer s.Close()
	in := bufio.NewScanner(os.Stdin)
	for in.Scan() {
		fmt.Println(int64(process.CPU()))
	}
	return nil
}

// servers are the processes of a cluster.
type servers struct {
	urls []string
	all  []*process.Process
	out  []*bufio.Scanner
}

// start starts some servers, each with a folder in dir.
func start(ctx context.Context, dir string, number int) (*servers, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	ports, err := process.FreePorts(2 * number)
	if err != nil {
		return nil, err
	}
	var peers []string
	for _, port := range ports[number:] {
		peers = append(peers, "127.0.0.1:"+port)
	}
	c := &servers{}
	for i := range number {
		o := address{Store: filepath.Join(dir, fmt.Sprint("server", i)), Listen: "127.0.0.1:" + ports[i], Name: fmt.Sprint("s", i)}
		if number > 1 {
			o.Peers, o.ListenPeers = peers, peers[i]
		}
		text, err := json.Marshal(o)
		if err != nil {
			c.close()
			return nil, err
		}
		p, err := process.Start(ctx, process.Options{Env: []string{serverEnv + "=" + string(text)}, Pipes: true, Stderr: os.Stderr}, self)
		if err != nil {
			c.close()
			return nil, err
		}
		c.all, c.out, c.urls = append(c.all, p), append(c.out, bufio.NewScanner(p.Out)), append(c.urls, "nats://127.0.0.1:"+ports[i])
	}
	return c, nil
}

func (c *servers) close() {
	for _, p := range c.all {
		p.Kill()
	}
}

// cpu returns what all servers have used.
func (c *servers) cpu() (sum time.Duration, err error) {
	for i, p := range c.all {
		if _, err := fmt.Fprintln(p.In); err != nil {
			return 0, err
		}
		if !c.out[i].Scan() {
			return 0, fmt.Errorf("server %d has ended: %w", i, p.Wait())
		}
		var one int64
		if _, err := fmt.Sscan(c.out[i].Text(), &one); err != nil {
			return 0, err
		}
		sum += time.Duration(one)
	}
	return sum, nil
}
