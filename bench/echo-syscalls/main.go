//go:build linux

// Command echo-syscalls is the server of examples/echo on the scheduler of package lab, whose tasks
// yield system calls: lab/scheduler_socket.go has all of it, from socket(2) on. Ctrl-C ends it.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"

	"github.com/weftcrawl/weft/bench/lab"
)

func main() {
	listen := flag.String("listen", "127.0.0.1:7008", "listen on `IP:PORT`")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	err := lab.Echo(ctx, *listen, func(address string) { fmt.Println("listening on", address) })
	if err != nil {
		fmt.Fprintln(os.Stderr, "echo-syscalls:", err)
		os.Exit(1)
	}
}
