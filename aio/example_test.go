package aio_test

import (
	"context"
	"fmt"
	"time"

	"github.com/weftcrawl/weft/aio"
)

func Example() {
	err := aio.Run(context.Background(), func(t *aio.Task) error {
		return t.Group(func(g *aio.Group) error { // ends when its tasks have ended
			for _, wait := range []time.Duration{20 * time.Millisecond, 10 * time.Millisecond} {
				g.Go("sleeper", func(t *aio.Task) error {
					if err := t.Sleep(wait); err != nil {
						return err
					}
					fmt.Println(wait, "are over")
					return nil
				})
			}
			return nil
		})
	})
	fmt.Println(err)
	// Output:
	// 10ms are over
	// 20ms are over
	// <nil>
}
