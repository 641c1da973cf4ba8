// Command tls makes several TLS connections at once in the coroutines of one loop. What crypto/tls and
// net/http were written for is a net.Conn that may block; aio.NetConn is one that suspends its task
// instead, so they are used unchanged. Without HOST:PORT arguments it has a server of its own.
package main

import (
	"bufio"
	"context"
	"crypto/tls"
	"crypto/x509"
	"flag"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"sync"
	"time"

	"github.com/weftcrawl/weft/aio"
)

func main() {
	flag.Parse()
	addresses := flag.Args()
	var roots *x509.CertPool // nil: those of the system
	if len(addresses) == 0 {
		server := startServer(3)
		defer server.Close()
		address := server.Listener.Addr().String()
		addresses = []string{address, address, address}
		roots = x509.NewCertPool()
		roots.AddCert(server.Certificate())
	}
	err := aio.Run(context.Background(), func(t *aio.Task) error {
		return t.Group(func(g *aio.Group) error {
			for _, address := range addresses {
				g.Go(address, func(t *aio.Task) error {
					return t.Timeout(10*time.Second, func(t *aio.Task) error { return get(t, address, roots) })
				})
			}
			return nil
		})
	})
	if err != nil {
		log.Fatal(err)
	}
}

// get asks for a page and prints what came.
func get(t *aio.Task, address string, roots *x509.CertPool) error {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return err
	}
	c, err := aio.Dial(t, "tcp", address)
	if err != nil {
		return err
	}
	config := &tls.Config{ServerName: host, RootCAs: roots}

	// From here on no call takes t, and each that reads or writes suspends t all the same: the
	// connection is bound to it. So conn is for this task alone; and HandshakeContext, which would
	// close it from a goroutine of its own, is not for conn.
	conn := tls.Client(aio.NewNetConn(t, c), config)
	defer conn.Close()
	if err := conn.Handshake(); err != nil {
		return err
	}
	request, err := http.NewRequest(http.MethodGet, "https://"+address+"/", nil)
	if err != nil {
		return err
	}
	request.Close = true
	if err := request.Write(conn); err != nil {
		return err
	}
	response, err := http.ReadResponse(bufio.NewReader(conn), request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	n, err := io.Copy(io.Discard, response.Body)
	if err != nil {
		return err
	}
	state := conn.ConnectionState()
	fmt.Printf("%s, issued by %s: %s, %d bytes\n", tls.VersionName(state.Version), state.PeerCertificates[0].Issuer, response.Status, n)
	return nil
}

// startServer answers nobody before n have asked: whoever made one connection after the other would
// wait for ever.
func startServer(n int) *httptest.Server {
	var missing sync.WaitGroup
	missing.Add(n)
	return httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		missing.Done()
		missing.Wait()
		fmt.Fprint(w, "hello")
	}))
}
