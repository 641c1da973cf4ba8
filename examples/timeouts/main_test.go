package main

import (
	"context"
	"fmt"

	"github.com/weftcrawl/weft/aio"
	"github.com/weftcrawl/weft/aio/aiotest"
)

// On a virtual clock and an in-memory network the output is the same on the busiest machine, and
// the test takes no time.
func Example() {
	network := aiotest.NewNet(aiotest.NetOptions{})
	loop := aio.NewLoop(aio.Options{Clock: aiotest.NewClock(), Network: network})
	if err := loop.Run(context.Background(), demonstrate); err != nil {
		fmt.Println(err)
	}
	// Output:
	// far: the client said "bye"
	// first of all: hello from near
	// far: the client said "bye"
	// far alone: nothing within 100ms
}
