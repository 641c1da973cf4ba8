package option_test

import (
	"errors"
	"fmt"

	"github.com/weftcrawl/weft"
	"github.com/weftcrawl/weft/option"
)

func ExampleError() {
	_, err := weft.New(weft.Options{Seeds: []string{"https://example.org/"}, Limits: weft.Limits{Limit: -1}})
	var wrong *option.Error
	if errors.As(err, &wrong) {
		fmt.Println(wrong.Option, "is", wrong.Value)
	}
	// Output: Limit is -1
}
