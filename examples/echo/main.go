// Command echo sends everything that a client sends back to it: the smallest server on package aio.
// One loop, and so one core, serves ten thousand clients: see echo_test.go. Ctrl-C ends it.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/weftcrawl/weft/aio"
)

func main() {
	listen := flag.String("listen", "127.0.0.1:7007", "listen on `HOST:PORT`")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	err := aio.Run(ctx, func(t *aio.Task) error {
		ln, err := aio.Listen(t, "tcp", *listen)
		if err != nil {
			return err
		}
		fmt.Println("listening on", ln.Addr())
		return serve(t, ln)
	})
	if !errors.Is(err, context.Cause(ctx)) { // Ctrl-C is the intended end
		fmt.Fprintln(os.Stderr, "echo:", err)
		os.Exit(1)
	}
}

// serve accepts clients and gives each a task of its own, until t is cancelled. Then it closes all
// connections, and ln.
func serve(t *aio.Task, ln aio.Listener) error {
	defer ln.Close()
	return t.Group(func(g *aio.Group) error {
		for {
			c, err := ln.Accept(t)
			switch {
			case err == nil:
				g.Go(c.RemoteAddr().String(), func(t *aio.Task) error {
					_ = echo(t, c) // a broken connection is not an error of the server
					return nil
				})
			case errors.Is(err, syscall.EMFILE): // wait until a client leaves
				if err := t.Sleep(100 * time.Millisecond); err != nil {
					return err
				}
			default:
				return err
			}
		}
	})
}

// echo serves one client until it has sent everything.
func echo(t *aio.Task, c aio.Conn) error {
	defer c.Close()
	r := aio.NewReader(t.Loop(), c) // holds a buffer only while it has bytes
	defer r.Close()
	for {
		b, err := r.Peek(t)
		if err != nil {
			return err
		}
		if _, err := c.Write(t, b); err != nil {
			return err
		}
		r.Discard(len(b))
	}
}
