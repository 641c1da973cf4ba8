package seed_test

import (
	"fmt"

	"github.com/weftcrawl/weft/seed"
)

func Example() {
	s, err := seed.Read("example.org/docs")
	if err != nil {
		panic(err)
	}
	fmt.Println(s.URL, s.Guessed)
	if http, ok := s.ByHTTP(); ok { // where https does not answer
		fmt.Println(http)
	}
	_, err = seed.Read("ftp://example.org")
	fmt.Println(err)
	// Output:
	// https://example.org/docs true
	// http://example.org/docs
	// URL "ftp://example.org": scheme "ftp", expected http or https, as in https://example.org/
}
