package guard_test

import (
	"fmt"
	"net/netip"

	"github.com/weftcrawl/weft/guard"
)

func Example() {
	for _, address := range []string{"93.184.215.14", "10.0.0.1", "169.254.169.254", "::1"} {
		class, _ := guard.Classify(netip.MustParseAddr(address))
		fmt.Println(address, class)
	}
	var g guard.Guard // links may lead to public addresses only
	fmt.Println(g.Judge(netip.MustParseAddrPort("10.0.0.1:80")))
	// Output:
	// 93.184.215.14 public
	// 10.0.0.1 private
	// 169.254.169.254 metadata
	// ::1 loopback
	// 10.0.0.1 is private (10.0.0.0/8)
}
