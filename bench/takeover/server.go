//go:build linux

package main

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"

	"github.com/weftcrawl/weft/internal/natsserver"
	"github.com/weftcrawl/weft/internal/process"
)

// serverEnv marks a process that is a server: its value is the server's options.
const serverEnv = "WEFT_BENCH_SERVER"

// address is the configuration of a server.
type address struct {
	Store, Name, Listen, ListenPeers string
	Peers                            []string
}

// serve runs a server until standard input ends, and answers each line of it with what it has used.
func serve(text string) error {
	var a address
	if err := json.Unmarshal([]byte(text), &a); err != nil {
		return err
	}
	s, err := natsserver.Start(natsserver.Options{Store: a.Store, Name: a.Name, Listen: a.Listen, Peers: a.Peers, ListenPeers: a.ListenPeers})
	if err != nil {
		return err
	}
	defer s.Close()
	return process.Report()
}

// servers are the processes of a cluster.
type servers struct {
	process.Group
	urls []string
}

// start starts some servers, each with a folder in dir.
func start(ctx context.Context, dir string, number int) (*servers, error) {
	ports, err := process.FreePorts(2 * number)
	if err != nil {
		return nil, err
	}
	var peers []string
	for _, port := range ports[number:] {
		peers = append(peers, "127.0.0.1:"+port)
	}
	s := &servers{}
	for i := range number {
		o := address{Store: filepath.Join(dir, fmt.Sprint("server", i)), Listen: "127.0.0.1:" + ports[i], Name: fmt.Sprint("s", i)}
		if number > 1 {
			o.Peers, o.ListenPeers = peers, peers[i]
		}
		text, err := json.Marshal(o)
		if err == nil {
			err = s.Start(ctx, serverEnv+"="+string(text))
		}
		if err != nil {
			s.Kill()
			return nil, err
		}
		s.urls = append(s.urls, "nats://"+o.Listen)
	}
	return s, nil
}
