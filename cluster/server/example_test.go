package server_test

import (
	"context"
	"fmt"
	"os"

	"github.com/weftcrawl/weft/cluster/server"
)

func Example() {
	store, _ := os.MkdirTemp("", "")
	defer os.RemoveAll(store)
	s, err := server.Start(server.Options{Store: store, Listen: "127.0.0.1:0", MaxDisk: 64 << 20})
	if err != nil {
		panic(err)
	}
	defer s.Close()
	fmt.Println(s.Ready(context.Background()), s.Local())
	// Output:
	// <nil> true
}
