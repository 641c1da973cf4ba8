package aiotest_test

import (
	"context"
	"fmt"
	"time"

	"github.com/weftcrawl/weft/aio"
	"github.com/weftcrawl/weft/aio/aiotest"
)

// A host whose IPv6 does not work costs a dialler FallbackDelay. The example takes no real time.
func Example() {
	network := aiotest.NewNet(aiotest.NetOptions{Latency: 20 * time.Millisecond})
	network.Host("www.example", "2001:db8::1", "192.0.2.1")
	network.Blackhole("2001:db8::1")

	var trace aiotest.Trace
	loop := aio.NewLoop(aio.Options{Clock: aiotest.NewClock(), Network: network, Trace: trace.Record})
	err := loop.Run(context.Background(), func(task *aio.Task) error {
		ln, err := aio.Listen(task, "tcp", ":80")
		if err != nil {
			return err
		}
		defer ln.Close()
		c, err := aio.Dial(task, "tcp", "www.example:80")
		if err != nil {
			return err
		}
		fmt.Println(c.RemoteAddr())
		return c.Close()
	})
	fmt.Println(err)
	fmt.Print(trace.String())
	// Output:
	// 192.0.2.1:80
	// <nil>
	//     0.000s  start  main
	//     0.000s  wait   main                      a time
	//     0.040s  wake   main                      a time
	//     0.040s  start  connect [2001:db8::1]:80
	//     0.040s  wait   main                      an item of a queue
	//     0.040s  wait   connect [2001:db8::1]:80  a connection to be made
	//     0.290s  wake   main                      an item of a queue
	//     0.290s  start  connect 192.0.2.1:80
	//     0.290s  wait   main                      an item of a queue
	//     0.290s  wait   connect 192.0.2.1:80      a connection to be made
	//     0.330s  wake   connect 192.0.2.1:80      a connection to be made
	//     0.330s  wake   main                      an item of a queue
	//     0.330s  end    connect 192.0.2.1:80
	//     0.330s  wake   connect [2001:db8::1]:80  a connection to be made
	//     0.330s  wait   main                      its group
	//     0.330s  end    connect [2001:db8::1]:80
	//     0.330s  wake   main                      its group
	//     0.330s  end    main
}
