package cluster_test

import (
	"bufio"
	"context"
	"crypto/tls"
	"encoding/pem"
	"fmt"
	"net"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/weftcrawl/weft/cluster"
)

// TestDialErrors: what keeps a node from the servers is one line that names them.
func TestDialErrors(t *testing.T) {
	t.Parallel()
	closed, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	nobody := "nats://" + closed.Addr().String()
	closed.Close()
	stores := serve(t, server.Options{JetStream: true})
	plain := serve(t, server.Options{})
	terse := serve(t, server.Options{JetStream: true, MaxPayload: 1000})
	guarded := serve(t, server.Options{JetStream: true, Authorization: "secret"})
	web := httptest.NewTLSServer(nil)
	defer web.Close()
	ca := filepath.Join(t.TempDir(), "ca.pem")
	if err := os.WriteFile(ca, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: web.Certificate().Raw}), 0o600); err != nil {
		t.Fatal(err)
	}
	seed := filepath.Join(t.TempDir(), "nkey")
	if err := os.WriteFile(seed, []byte("SUAKF66AMWA7LWDICKNW7VN3I43KOWJW7KHNRBQIFTA7WP24TJQ6QB6RKQ"), 0o600); err != nil {
		t.Fatal(err)
	}
	secure := serve(t, server.Options{JetStream: true, TLS: true, TLSConfig: &tls.Config{Certificates: web.TLS.Certificates}})
	asks := serve(t, server.Options{JetStream: true, TLS: true, TLSConfig: &tls.Config{Certificates: web.TLS.Certificates, ClientAuth: tls.RequireAnyClientCert}})
	at := func(s *server.Server) string { return "nats://" + s.Addr().String() }
	for want, o := range map[string]cluster.Options{
		"":                                     {Servers: []string{nobody, at(stores)}},
		nobody + ": no server":                 {Servers: []string{nobody}},
		"nats://…@127.0.0.1":                   {Servers: []string{strings.Replace(nobody, "//", "//ada:lovelace@", 1)}},
		"a web server, expected a NATS server": {Servers: []string{at(stores), web.Listener.Addr().String()}},
		"without JetStream":                    {Servers: []string{at(plain)}},
		"authorization violation, expected that of nats://USER:PASSWORD@HOST":      {Servers: []string{at(guarded)}},
		"no server answers: 255.255.255.255:4222: ":                                {Servers: []string{"tls://255.255.255.255"}},
		`server "nats://a.test:422222": expected a port up to 65535`:               {Servers: []string{"nats://a.test:422222"}},
		`server "http://…@a.test:4222": expected nats://, tls://, ws:// or wss://`: {Servers: []string{"http://ada:lovelace@a.test:4222"}},
		"%2F for /":           {Servers: []string{"nats://ada:love/lovelace@a.test:4222"}},
		"%2C for a comma":     {Servers: []string{"nats://ada:lovelace", "x@a.test:4222"}},
		`name "a b"`:          {Name: "a b"},
		"expected both":       {Cert: "cert.pem"},
		"creds: no such file": {Servers: []string{at(stores)}, Creds: "no.creds"},
		`"connect_test.go": expected NATS credentials, or the seed of an NKey`: {Servers: []string{at(stores)}, Creds: "connect_test.go"},
		"the servers have no NKeys": {Servers: []string{at(stores)}, Creds: seed},
		"certificate is signed by an unknown authority, expected one of this machine, or of --cluster-ca":         {Servers: []string{at(secure)}},
		"the servers' certificate is refused: certificate is valid for example.com, *.example.com, not localhost": {Servers: []string{strings.Replace(at(secure), "127.0.0.1", "localhost", 1)}, CA: ca},
		"failed to parse root certificate":                                                 {Servers: []string{at(secure)}, CA: "connect_test.go"},
		"the servers refuse this node's certificate, or require one":                       {Servers: []string{at(asks)}, CA: ca},
		`the servers run NATS "2.9.25", expected 2.10 or later`:                            {Servers: []string{old(t, "2.9.25")}},
		"the servers take messages of 1000 bytes, expected a max_payload of 65536 or more": {Servers: []string{at(terse)}},
		"the servers do not speak TLS":                                                     {Servers: []string{"tls://" + stores.Addr().String()}},
	} {
		if o.Name == "" {
			o.Name = "test"
		}
		c, err := cluster.Dial(t.Context(), o)
		if err == nil {
			c.Close()
		}
		if got := errorText(err); want == "" && err != nil || !strings.Contains(got, want) || strings.Contains(got, "lovelace") || strings.Contains(got, "\n") {
			t.Errorf("%+v: %s, expected %q", o, got, want)
		}
	}
}

// TestWebAgain: a proxy before the servers may say by HTTP that they are away. A node that joins
// for the first time takes them for a web server; one that joins again does not.
func TestWebAgain(t *testing.T) {
	t.Parallel()
	web := httptest.NewUnstartedServer(nil)
	// Later than it is probed, sooner than a client of NATS gives up.
	web.Config.ReadHeaderTimeout = time.Second
	web.Start()
	defer web.Close()
	const refusal = "a web server, expected a NATS server"
	o := cluster.Options{Servers: []string{web.Listener.Addr().String()}, Name: "test"}
	if _, err := cluster.Dial(t.Context(), o); !strings.Contains(errorText(err), refusal) {
		t.Errorf("%v, expected %s", err, refusal)
	}
	o.JoinAgain()
	ctx, cancel := context.WithCancel(t.Context())
	o.Wait = time.Hour
	o.OnWarning = func(err error) {
		if !strings.HasSuffix(err.Error(), "; trying again") {
			t.Error(err)
		}
		cancel()
	}
	if _, err := cluster.Dial(ctx, o); ctx.Err() == nil || strings.Contains(errorText(err), refusal) {
		t.Errorf("%v, expected that it is tried again", err)
	}
}

// old runs something that answers like a server of a version, up to the first request.
func old(t *testing.T, version string) (url string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			fmt.Fprintf(c, "INFO {\"version\":%q,\"max_payload\":1048576,\"headers\":true}\r\n", version)
			for lines := bufio.NewScanner(c); lines.Scan(); {
				if lines.Text() == "PING" {
					fmt.Fprint(c, "PONG\r\n")
				}
			}
			c.Close()
		}
	}()
	return "nats://" + l.Addr().String()
}

func errorText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}
