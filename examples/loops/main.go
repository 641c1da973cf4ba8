// Command loops connects two event loops: one has a stock of lamps, the other has customers. Each
// loop owns its state and runs on a core of its own, without a lock: to use the other loop's
// state, a loop posts a function, which runs there.
package main

import (
	"context"
	"errors"
	"fmt"
	"log"

	"github.com/weftcrawl/weft/aio"
)

func main() {
	if err := open(7, 10); err != nil {
		log.Fatal(err)
	}
}

// open runs both loops until all customers have been served.
func open(lamps, customers int) error {
	stockLoop, shopLoop := aio.NewLoop(aio.Options{}), aio.NewLoop(aio.Options{})
	stock := &stock{lamps: lamps, loop: stockLoop.Handle()}
	shop := &shop{stock: stock, loop: shopLoop.Handle()}

	ctx, cancel := context.WithCancelCause(context.Background())
	defer cancel(nil)
	stockEnded := make(chan error, 1)
	go func() {
		err := stockLoop.Run(ctx, stock.run)
		cancel(err) // without a stock there is no shop
		stockEnded <- err
	}()
	err := shopLoop.Run(ctx, func(t *aio.Task) error { return shop.run(t, customers) })
	stock.close()
	if err := errors.Join(err, <-stockEnded); err != nil {
		return err
	}
	// Both loops have ended, so their state is free to read.
	fmt.Printf("%d customers, %d lamps sold, %d left\n", customers, shop.sold, stock.lamps)
	return nil
}

// stock belongs to its loop. Other loops use only the handle and the methods below.
type stock struct {
	loop   *aio.Handle // the door for others; while it is open, waiting is not a deadlock
	lamps  int
	closed aio.Event
}

func (s *stock) run(t *aio.Task) error { return s.closed.Wait(t) }

// close may be called from anywhere.
func (s *stock) close() {
	_ = s.loop.Post(s.closed.Set) // an error means that the loop has already ended
	s.loop.Close()
}

// take is called by a task of another loop, whose handle is back. The task waits; its loop
// continues.
func (s *stock) take(t *aio.Task, back *aio.Handle) (bool, error) {
	taken := aio.NewFuture[bool](t.Loop())
	err := s.loop.Post(func() { // this runs on the stock's loop,
		ok := s.lamps > 0
		if ok {
			s.lamps--
		}
		_ = back.Post(func() { // and this on the caller's, unless it has ended:
			_ = taken.Set(ok) // a future belongs to its loop
		})
	})
	if err != nil {
		return false, err
	}
	return taken.Await(t)
}

// shop belongs to the other loop.
type shop struct {
	loop  *aio.Handle
	stock *stock
	sold  int
}

// run starts a task for each customer. Post never waits, so a caller has to know a bound; here each
// customer has one request in progress.
func (s *shop) run(t *aio.Task, customers int) error {
	defer s.loop.Close()
	return t.Group(func(g *aio.Group) error {
		for i := range customers {
			g.Go(fmt.Sprint("customer ", i), func(t *aio.Task) error {
				ok, err := s.stock.take(t, s.loop)
				if ok {
					s.sold++
				}
				return err
			})
		}
		return nil
	})
}
