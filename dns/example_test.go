package dns_test

import (
	"context"
	"fmt"

	"github.com/weftcrawl/weft/aio"
	"github.com/weftcrawl/weft/dns"
)

func Example() {
	err := aio.Run(context.Background(), func(t *aio.Task) error {
		resolver := dns.New(t.Loop(), dns.Options{})
		addresses, err := resolver.Lookup(t, "127.0.0.1")
		fmt.Println(addresses)
		return err
	})
	if err != nil {
		fmt.Println(err)
	}
	// Output:
	// [127.0.0.1]
}
