package main

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"sync"
	"testing"
)

// lead is a proxy on loopback that knows the addresses of hosts.
type lead struct {
	hosts map[string]string // addresses, by HOST:PORT
	user  string            // USER:PASSWORD it wants; empty: none
	url   string
	mu    struct {
		sync.Mutex
		asked []string // requests: "forward HOST:PORT" and so on
	}
}

func (l *lead) note(how, host string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.mu.asked = append(l.mu.asked, how+" "+host)
}

// times is the number of its requests.
func (l *lead) times() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.mu.asked)
}

// got returns its requests, each once, in order.
func (l *lead) got() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Compact(slices.Sorted(slices.Values(l.mu.asked)))
}

// dial connects to a host.
func (l *lead) dial(host string) (net.Conn, error) {
	to, ok := l.hosts[host]
	if !ok {
		return nil, fmt.Errorf("no host %s", host)
	}
	return net.Dial("tcp", to)
}

// newHTTPProxy is a proxy by RFC 9110, on the standard library's server and client.
func newHTTPProxy(t *testing.T, user string, hosts map[string]string) *lead {
	l := &lead{hosts: hosts, user: user}
	forward := &http.Transport{DisableCompression: true}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if l.user != "" {
			probe := &http.Request{Header: http.Header{"Authorization": r.Header["Proxy-Authorization"]}}
			if name, password, _ := probe.BasicAuth(); name+":"+password != l.user {
				w.WriteHeader(http.StatusProxyAuthRequired)
				return
			}
		}
		r.Header.Del("Proxy-Authorization")
		if r.Method == http.MethodConnect {
			l.note("tunnel", r.Host)
			there, err := l.dial(r.Host)
			if err != nil {
				w.WriteHeader(http.StatusBadGateway)
				return
			}
			here, buffered, err := w.(http.Hijacker).Hijack()
			if err != nil {
				t.Error(err)
				return
			}
			_, _ = here.Write([]byte("HTTP/1.1 200 OK\r\n\r\n"))
			join(here, buffered, there)
			return
		}
		host := r.URL.Host
		if r.URL.Port() == "" {
			host += ":80"
		}
		l.note("forward", host)
		out := r.Clone(r.Context())
		if out.URL.Host = hosts[host]; out.URL.Host == "" {
			w.WriteHeader(http.StatusBadGateway)
			return
		}
		res, err := forward.RoundTrip(out)
		if err != nil {
			w.WriteHeader(http.StatusBadGateway)
			return
		}
		defer res.Body.Close()
		for name, values := range res.Header {
			w.Header()[name] = values
		}
		w.WriteHeader(res.StatusCode)
		_, _ = io.Copy(w, res.Body)
	}))
	t.Cleanup(func() { s.Close(); forward.CloseIdleConnections() })
	l.url = s.URL
	return l
}

// newSOCKS is a proxy by RFC 1928.
func newSOCKS(t *testing.T, hosts map[string]string) *lead {
	l := &lead{hosts: hosts}
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { ln.Close() })
	l.url = "socks5h://" + ln.Addr().String()
	go func() {
		for {
			c, err := ln.Accept()
			if err != nil {
				return
			}
			go func() {
				defer c.Close()
				in := bufio.NewReader(c)
				read := func(n int) []byte {
					b := make([]byte, n)
					if _, err := io.ReadFull(in, b); err != nil {
						return make([]byte, n)
					}
					return b
				}
				read(int(read(2)[1]))
				_, _ = c.Write([]byte{5, 0})
				host := ""
				switch kind := read(4)[3]; kind {
				case 1:
					host = net.IP(read(4)).String()
				case 3:
					host = string(read(int(read(1)[0])))
				}
				host = net.JoinHostPort(host, strconv.Itoa(int(binary.BigEndian.Uint16(read(2)))))
				l.note("socks", host)
				there, err := l.dial(host)
				if err != nil {
					_, _ = c.Write([]byte{5, 4, 0, 1, 0, 0, 0, 0, 0, 0})
					return
				}
				_, _ = c.Write([]byte{5, 0, 0, 1, 0, 0, 0, 0, 0, 0})
				join(c, in, there)
			}()
		}
	}()
	return l
}

// join copies both ways until both ends are closed.
func join(here net.Conn, in io.Reader, there net.Conn) {
	defer here.Close()
	defer there.Close()
	var both sync.WaitGroup
	both.Go(func() {
		_, _ = io.Copy(there, in)
		_ = there.(*net.TCPConn).CloseWrite()
	})
	_, _ = io.Copy(here, there)
	_ = here.(*net.TCPConn).CloseWrite()
	both.Wait()
}
