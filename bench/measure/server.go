package measure

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"strings"
	"time"
)

// quiet is the default time without a new connection after which a holding server expects no more.
// A SYN lost to a full queue is sent again after 1, 3 and 7 s.
const quiet = 5 * time.Second

// serverTask configures a server.
type serverTask struct {
	ConnectDelay  time.Duration // before it reads the request
	ResponseDelay time.Duration // before it responds
	Hold          int           // respond when so many connections are there; 0: to each by itself
	Quiet         time.Duration // with Hold: respond after so long without a new connection
}

// serverMessage is a message of a server: first its address, then how many connections it holds.
type serverMessage struct {
	Addr string
	Held int
}

// serve runs the process of a server.
func serve(in *json.Decoder, out *json.Encoder) error {
	var t serverTask
	if err := in.Decode(&t); err != nil {
		return err
	}
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	if err := out.Encode(serverMessage{Addr: ln.Addr().String()}); err != nil {
		return err
	}
	arrived := make(chan struct{})
	respond := make(chan struct{}) // closed when held requests may have their response
	go acceptAll(ln, func(c net.Conn) { t.respond(c, arrived, respond) })
	if t.Hold > 0 {
		go func() { _ = out.Encode(serverMessage{Held: count(arrived, t.Hold, t.Quiet)}) }()
		var word json.RawMessage
		if in.Decode(&word) != nil {
			return nil
		}
	}
	close(respond)
	untilEnd(in)
	return nil
}

// acceptAll gives each connection a goroutine. Without a free descriptor, a connection waits in the
// kernel's queue.
func acceptAll(ln net.Listener, do func(net.Conn)) {
	for {
		c, err := ln.Accept()
		if err != nil {
			time.Sleep(10 * time.Millisecond)
			continue
		}
		go func() {
			defer c.Close()
			do(c)
		}()
	}
}

// count counts arrivals up to n, or until none comes for some time after the first.
func count(arrived <-chan struct{}, n int, wait time.Duration) int {
	<-arrived
	for held := 1; ; held++ {
		if held == n {
			return n
		}
		select {
		case <-arrived:
		case <-time.After(wait):
			return held
		}
	}
}

// respond serves the one request of a connection.
func (t *serverTask) respond(c net.Conn, arrived chan<- struct{}, respond <-chan struct{}) {
	time.Sleep(t.ConnectDelay)
	req, err := http.ReadRequest(bufio.NewReaderSize(c, 512))
	if err != nil {
		return
	}
	if t.Hold > 0 {
		select {
		case arrived <- struct{}{}:
			<-respond
		case <-respond:
		}
	} else {
		time.Sleep(t.ResponseDelay)
	}
	size := 8 << 10
	if t.Hold > 0 {
		size = 0
	}
	body := page(req.URL.Path, size)
	fmt.Fprintf(c, "HTTP/1.0 200 OK\r\nContent-Type: text/html; charset=utf-8\r\nContent-Length: %d\r\nConnection: close\r\n\r\n%s", len(body), body)
}

// page returns a page of at least a size, different for each path.
func page(path string, least int) string {
	title := fmt.Sprintf("<!DOCTYPE html><title>%q</title>", path)
	return title + strings.Repeat("\n<p>"+title[len("<!DOCTYPE html>"):], least/len(title))
}

// server is a running server.
type server struct {
	*child
	addr string
}

func startServer(ctx context.Context, t serverTask) (*server, error) {
	c, err := start(ctx, serverName, t)
	if err != nil {
		return nil, fmt.Errorf("server: %w", err)
	}
	var hello serverMessage
	if err := c.receive(ctx, &hello); err != nil {
		return nil, fmt.Errorf("server: %w", err)
	}
	return &server{child: c, addr: hello.Addr}, nil
}

// urls returns n URLs of the server.
func (s *server) urls(n int) []string {
	all := make([]string, n)
	for i := range all {
		all[i] = fmt.Sprintf("http://%s/%d", s.addr, i+1)
	}
	return all
}
