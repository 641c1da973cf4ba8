// Command timeouts asks two mirrors for the same thing, takes the first reply and cancels the other
// request; then a request to the slow mirror times out. Every cancelled request cleans up after
// itself. The example shows the scopes of package aio: Group, Timeout and Shield.
package main

import (
	"context"
	"errors"
	"fmt"
	"log"
	"time"

	"github.com/weftcrawl/weft/aio"
)

func main() {
	if err := aio.Run(context.Background(), demonstrate); err != nil {
		log.Fatal(err)
	}
}

func demonstrate(t *aio.Task) error {
	return t.Group(func(g *aio.Group) error {
		defer g.Cancel() // ends the mirrors, which the group waits for
		near, err := startMirror(t, g, "near", 0)
		if err != nil {
			return err
		}
		far, err := startMirror(t, g, "far", time.Hour)
		if err != nil {
			return err
		}

		reply, err := first(t, near, far)
		if err != nil {
			return err
		}
		fmt.Println("first of all:", reply)

		// Time-outs nest, and each knows whether its own time has run out.
		return t.Timeout(time.Minute, func(t *aio.Task) error {
			err := t.Timeout(100*time.Millisecond, func(t *aio.Task) error {
				_, err := ask(t, far)
				return err
			})
			if late, ok := errors.AsType[*aio.TimeoutError](err); ok {
				fmt.Println("far alone: nothing within", late.After)
				return nil
			}
			return err
		})
	})
}

// first asks all addresses at once. The first reply or error cancels the others; a group waits for
// all its tasks, so none of them is left when first returns.
func first(t *aio.Task, addresses ...string) (reply string, err error) {
	err = t.Group(func(g *aio.Group) error {
		for _, address := range addresses {
			g.Go("ask "+address, func(t *aio.Task) error {
				got, err := ask(t, address)
				if err == nil {
					reply = got
					g.Cancel()
				}
				return err
			})
		}
		return nil
	})
	return reply, err
}

// ask returns a mirror's reply. It need not know who may cancel it, or why: a cancelled wait
// returns an error, as if it had failed.
func ask(t *aio.Task, address string) (string, error) {
	c, err := aio.Dial(t, "tcp", address)
	if err != nil {
		return "", err
	}
	defer c.Close()
	r := aio.NewReader(t.Loop(), c)
	defer r.Close()

	reply, err := r.ReadAll(t, 100)
	if errors.Is(err, aio.ErrCanceled) {
		return "", errors.Join(err, sayGoodbye(t, c, r))
	}
	return string(reply), err
}

// sayGoodbye has to wait, but every further wait of a cancelled task is cancelled too. Inside a
// shield it can wait, with a time-out of its own.
func sayGoodbye(t *aio.Task, c aio.Conn, r *aio.Reader) error {
	return t.Shield(func(t *aio.Task) error {
		return t.Timeout(time.Second, func(t *aio.Task) error {
			if _, err := c.Write(t, []byte("bye")); err != nil {
				return err
			}
			if err := c.CloseWrite(); err != nil {
				return err
			}
			_, err := r.ReadAll(t, 100) // until the mirror has read it and closes the connection
			return err
		})
	})
}

// startMirror starts a server that replies to a client after a delay, unless the client says
// goodbye first.
func startMirror(t *aio.Task, g *aio.Group, name string, delay time.Duration) (address string, err error) {
	ln, err := aio.Listen(t, "tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	g.Go(name, func(t *aio.Task) error {
		defer ln.Close()
		for { // one client after the other
			c, err := ln.Accept(t)
			if err != nil {
				return err
			}
			if err := serve(t, c, name, delay); err != nil {
				return err
			}
		}
	})
	return ln.Addr().String(), nil
}

func serve(t *aio.Task, c aio.Conn, name string, delay time.Duration) error {
	defer c.Close()
	r := aio.NewReader(t.Loop(), c)
	defer r.Close()
	var word []byte
	err := t.Timeout(delay, func(t *aio.Task) (err error) {
		word, err = r.ReadAll(t, 100)
		return err
	})
	switch {
	case err == nil:
		fmt.Printf("%s: the client said %q\n", name, word)
		return nil
	case errors.Is(err, aio.ErrTimeout):
		_, err = c.Write(t, []byte("hello from "+name))
		return err
	}
	return err
}
