package store

import (
	"fmt"
	"sync"
)

// failure is the first error of a store that it cannot go on after. From then on every
// call returns it, and nothing more is claimed to be durable.
type failure struct {
	once sync.Once
	err  error         // set before done is closed
	done chan struct{} // closed by the first set
}

func newFailure() *failure { return &failure{done: make(chan struct{})} }

func (f *failure) set(err error) {
	f.once.Do(func() {
		f.err = err
		close(f.done)
	})
}

// get returns the failure; nil: there is none.
func (f *failure) get() error {
	select {
	case <-f.done:
		return f.err
	default:
		return nil
	}
}

// run returns what fn, which calls Pebble, returns; or the failure, if that comes first:
// fn may then never end.
func (f *failure) run(fn func() error) error {
	if err := f.get(); err != nil {
		return err
	}
	done := make(chan error, 1)
	go func() {
		defer func() {
			if r := recover(); r != nil {
				done <- fmt.Errorf("pebble: %v", r)
			}
		}()
		done <- fn()
	}()
	select {
	case err := <-done:
		return err
	case <-f.done:
		return f.err
	}
}

// park sets the failure and never returns.
func (f *failure) park(err error) {
	f.set(err)
	select {}
}
