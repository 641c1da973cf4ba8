package loops

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/weftcrawl/weft/aio"
)

const (
	echoClients = 1_000
	echoBytes   = 1_024
)

// BenchmarkEcho: a server sends back what it gets, a kilobyte from each of 1,000 clients, which
// send the next when they have the last. One item is one echo. Each processor has a loop with a
// listener; the peer has as many listeners.
func BenchmarkEcho(b *testing.B) {
	b.Run("tasks", func(b *testing.B) {
		measureEcho(b, func(listening chan<- string) {
			onLoops(b, func(t *aio.Task, i, n int) error {
				ln, err := aio.Listen(t, "tcp", "127.0.0.1:0")
				if err != nil {
					return err
				}
				defer ln.Close()
				listening <- ln.Addr().String()
				return t.Group(func(g *aio.Group) error {
					for range share(echoClients, i, n) {
						c, err := ln.Accept(t)
						if err != nil {
							return err
						}
						g.Go("echo", func(t *aio.Task) error { return echoTask(t, c) })
					}
					return nil
				})
			})
		})
	})
	b.Run("goroutines", func(b *testing.B) {
		measureEcho(b, func(listening chan<- string) {
			var wg sync.WaitGroup
			n := runtime.GOMAXPROCS(0)
			for i := range n {
				ln, err := net.Listen("tcp", "127.0.0.1:0")
				if err != nil {
					b.Error(err)
					return
				}
				defer ln.Close()
				listening <- ln.Addr().String()
				wg.Go(func() {
					for range share(echoClients, i, n) {
						c, err := ln.Accept()
						if err != nil {
							b.Error(err)
							return
						}
						wg.Go(func() {
							if err := echoGoroutine(c); err != nil {
								b.Error(err)
							}
						})
					}
				})
			}
			wg.Wait()
		})
	})
}

// echoTask sends back what a connection receives, until its end.
func echoTask(t *aio.Task, c aio.Conn) error {
	defer c.Close()
	buf := make([]byte, 4096)
	for {
		n, err := c.Read(t, buf)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err == nil {
			_, err = c.Write(t, buf[:n])
		}
		if err != nil {
			return err
		}
	}
}

// echoGoroutine is echoTask with goroutines.
func echoGoroutine(c net.Conn) error {
	defer c.Close()
	buf := make([]byte, 4096)
	for {
		n, err := c.Read(buf)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err == nil {
			_, err = c.Write(buf[:n])
		}
		if err != nil {
			return err
		}
	}
}

// measureEcho runs a server, which ends with its last connection, for clients in a child. It
// measures from the last connection until all have their echoes.
func measureEcho(b *testing.B, serve func(listening chan<- string)) {
	listening := make(chan string)
	var server sync.WaitGroup
	server.Go(func() { serve(listening) })
	var addrs []string
	for range runtime.GOMAXPROCS(0) {
		addrs = append(addrs, <-listening)
	}
	c := start(b, "echoers", b.N, strings.Join(addrs, ","))
	c.must("connected")
	m := &meter{b: b}
	m.start()
	c.say("go")
	n, err := strconv.Atoi(c.must("right"))
	m.stop()
	if err != nil || n != echoClients*b.N {
		b.Errorf("%d right echoes, expected %d", n, echoClients*b.N)
	}
	c.say("close")
	server.Wait()
	m.report(echoClients * b.N)
	b.ReportMetric(float64(echoClients*b.N)/m.total.cpu.Seconds(), "echoes/cpu-s")
}

// runEchoers runs 1,000 clients, each with its own connection.
func runEchoers(talk talk, args []string) error {
	rounds, err := strconv.Atoi(args[0])
	if err != nil {
		return err
	}
	addrs := strings.Split(args[1], ",")
	conns := make([]net.Conn, echoClients)
	for i := range conns {
		if conns[i], err = net.Dial("tcp", addrs[i*len(addrs)/echoClients]); err != nil {
			return err
		}
		defer conns[i].Close()
	}
	talk.say("connected")
	talk.hear()
	var wg sync.WaitGroup
	errs := make([]error, echoClients)
	for i, c := range conns {
		wg.Go(func() { errs[i] = echo(c, i, rounds) })
	}
	wg.Wait()
	if err := errors.Join(errs...); err != nil {
		return err
	}
	talk.say("right", echoClients*rounds)
	talk.hear()
	return nil
}

// echo sends messages that are all different, and compares what comes back.
func echo(c net.Conn, id, rounds int) error {
	sent, got := make([]byte, echoBytes), make([]byte, echoBytes)
	for n := range rounds {
		head := fmt.Appendf(sent[:0], "client %d message %d ", id, n)
		for i := len(head); i < len(sent); i++ {
			sent[i] = byte(i + n)
		}
		if _, err := c.Write(sent); err != nil {
			return err
		}
		if _, err := io.ReadFull(c, got); err != nil {
			return err
		}
		if !bytes.Equal(got, sent) {
			return fmt.Errorf("client %d, message %d: the echo differs", id, n)
		}
	}
	return nil
}
