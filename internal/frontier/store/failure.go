package store

import (
	"fmt"
	"sync"
)

// failure is the first error that a store cannot continue after. From then on every call returns
// it, and nothing more is reported as durable.
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

// get returns the failure, or nil.
func (f *failure) get() error {
	select {
	case <-f.done:
		return f.err
	default:
		return nil
	}
}

// run calls fn, which calls Pebble, and returns its error; or the failure, if that comes first:
// fn may then never return.
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

// block sets the failure and never returns.
func (f *failure) block(err error) {
	f.set(err)
	select {}
}
