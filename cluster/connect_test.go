package cluster_test

import (
	"net"
	"strings"
	"testing"

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
	guarded := serve(t, server.Options{JetStream: true, Authorization: "secret"})
	at := func(s *server.Server) string { return "nats://" + s.Addr().String() }
	for want, o := range map[string]cluster.Options{
		"":                     {Servers: []string{nobody, at(stores)}},
		nobody + ": no server": {Servers: []string{nobody}},
		"nats://…@127.0.0.1":   {Servers: []string{strings.Replace(nobody, "//", "//ada:lovelace@", 1)}},
		"without JetStream":    {Servers: []string{at(plain)}},
		"uthorization":         {Servers: []string{at(guarded)}},
		`server "http://…@a.test:4222": expected nats://, tls://, ws:// or wss://`: {Servers: []string{"http://ada:lovelace@a.test:4222"}},
		"%2F for /":                 {Servers: []string{"nats://ada:love/lovelace@a.test:4222"}},
		"%2C for a comma":           {Servers: []string{"nats://ada:lovelace", "x@a.test:4222"}},
		`name "a b"`:                {Name: "a b"},
		"expected both":             {Cert: "cert.pem"},
		"creds: no such file":       {Servers: []string{at(stores)}, Creds: "no.creds"},
		"secure connection not ava": {Servers: []string{"tls://" + stores.Addr().String()}},
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

func errorText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}
