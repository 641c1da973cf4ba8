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

// quiet is for how long nobody comes, by default, until a server that holds connections takes it
// that nobody will: a SYN that was lost because a queue was full is sent again after 1, 3 and 7 s.
const quiet = 5 * time.Second

// serverTask is what a server is to do.
type serverTask struct {
	ConnectDelay  time.Duration // before the request is read
	ResponseDelay time.Duration // before it is answered
	Hold          int           // answer when so many are there; 0: each by itself
	Quiet         time.Duration // with Hold: or when nobody came for so long
}

// serverSays is what one tells: first its address, then how many it holds.
type serverSays struct {
	Addr string
	Held int
}

// serve is the process of a server.
func serve(in *json.Decoder, out *json.Encoder) error {
	var t serverTask
	if err := in.Decode(&t); err != nil {
		return err
	}
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	if err := out.Encode(serverSays{Addr: ln.Addr().String()}); err != nil {
		return err
	}
	arrived := make(chan struct{})
	answer := make(chan struct{}) // closed when held requests may be answered
	go acceptAll(ln, func(c net.Conn) { t.answer(c, arrived, answer) })
	if t.Hold > 0 {
		go func() { _ = out.Encode(serverSays{Held: count(arrived, t.Hold, t.Quiet)}) }()
		var word json.RawMessage
		if in.Decode(&word) != nil {
			return nil
		}
	}
	close(answer)
	untilEnd(in)
	return nil
}

// acceptAll gives each connection a goroutine. Where there is no descriptor for one, the kernel
// keeps it in its queue.
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

// count counts arrivals: n, or less if none comes for some time after the first.
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

// answer answers the one request of a connection.
func (t *serverTask) answer(c net.Conn, arrived chan<- struct{}, answer <-chan struct{}) {
	time.Sleep(t.ConnectDelay)
	req, err := http.ReadRequest(bufio.NewReaderSize(c, 512))
	if err != nil {
		return
	}
	if t.Hold > 0 {
		select {
		case arrived <- struct{}{}:
			<-answer
		case <-answer:
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

// page is a page of some size that no other path has.
func page(path string, least int) string {
	title := fmt.Sprintf("<!DOCTYPE html><title>%q</title>", path)
	return title + strings.Repeat("\n<p>"+title[len("<!DOCTYPE html>"):], least/len(title))
}

// server is a running one.
type server struct {
	*child
	addr string
}

func startServer(ctx context.Context, t serverTask) (*server, error) {
	c, err := start(ctx, serverName, t)
	if err != nil {
		return nil, fmt.Errorf("server: %w", err)
	}
	var hello serverSays
	if err := c.receive(ctx, &hello); err != nil {
		return nil, fmt.Errorf("server: %w", err)
	}
	return &server{child: c, addr: hello.Addr}, nil
}

// urls are n URLs of it.
func (s *server) urls(n int) []string {
	all := make([]string, n)
	for i := range all {
		all[i] = fmt.Sprintf("http://%s/%d", s.addr, i+1)
	}
	return all
}
