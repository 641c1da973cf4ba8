// Command tls makes several TLS connections at once in the coroutines of one loop. crypto/tls and
// net/http expect a net.Conn that may block; aio.NetConn is one that suspends its task instead, so
// they work unchanged. Without HOST:PORT arguments the command starts a server of its own.
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
	var roots *x509.CertPool // nil: the system's
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

// get requests a page and prints a summary of the response.
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

	// From here on no call takes t, yet each read or write suspends t: the connection is bound to
	// it. So only this task may use conn. Do not call HandshakeContext, which would close conn
	// from a goroutine of its own.
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
	version, issuer := tls.VersionName(state.Version), state.PeerCertificates[0].Issuer
	fmt.Printf("%s, issued by %s: %s, %d bytes\n", version, issuer, response.Status, n)
	return nil
}

// startServer starts a server that responds only when n requests have arrived: a client that made
// one connection after the other would wait for ever.
func startServer(n int) *httptest.Server {
	var missing sync.WaitGroup
	missing.Add(n)
	return httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		missing.Done()
		missing.Wait()
		fmt.Fprint(w, "hello")
	}))
}
