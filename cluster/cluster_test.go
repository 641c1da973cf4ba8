package cluster_test

import (
	"flag"
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
)

func TestMain(m *testing.M) {
	if text := os.Getenv(nodeEnv); text != "" {
		if err := asProcess(text); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	flag.Parse()
	// Nodes wait for beats and for each other: ten tests take half a core.
	_ = flag.Set("test.parallel", "10")
	os.Exit(m.Run())
}

// serve runs a server of NATS until the test ends.
func serve(t *testing.T, o server.Options) *server.Server {
	t.Helper()
	o.Host, o.NoLog, o.NoSigs = "127.0.0.1", true, true
	if o.Port == 0 {
		o.Port = server.RANDOM_PORT
	}
	if o.JetStream && o.StoreDir == "" {
		o.StoreDir = t.TempDir()
	}
	s, err := server.NewServer(&o)
	if err != nil {
		t.Fatal(err)
	}
	s.Start()
	t.Cleanup(func() {
		s.Shutdown()
		s.WaitForShutdown()
	})
	if !s.ReadyForConnections(10 * time.Second) {
		t.Fatal("the server does not start")
	}
	return s
}
