package aiotest

import (
	"errors"
	"testing"

	"github.com/weftcrawl/weft/aio"
)

// Run runs main on a loop with a virtual clock and a perfect network: see Net.Run.
func Run(t testing.TB, main func(task *aio.Task) error) {
	t.Helper()
	NewNet(NetOptions{}).Run(t, main)
}

// Run runs main on a loop with a virtual clock of its own and n as its network, with
// Options.Debug. When main returns an error, Run logs the last steps of its tasks and ends the
// test. It fails the test when the loop reports something, when a connection or listener was not
// closed, and for what CheckLeaks finds. main may use t.Fatal and t.Skip. Run can be called once,
// and not in parallel tests.
func (n *Net) Run(t testing.TB, main func(task *aio.Task) error) {
	t.Helper()
	CheckLeaks(t)
	trace := Trace{Max: 100}
	loop := aio.NewLoop(aio.Options{
		Clock:   NewClock(),
		Network: n,
		Report:  func(r aio.Report) { t.Error(r) },
		Trace:   trace.Record,
		Debug:   true,
	})
	err := loop.Run(t.Context(), main)
	for _, open := range n.Open() {
		t.Errorf("%s was not closed before its loop ended", open)
	}
	if errors.Is(err, aio.ErrGoexit) { // most likely t's
		if t.Failed() {
			t.Log("the last steps were\n" + trace.String())
			t.FailNow()
		}
		if t.Skipped() {
			t.SkipNow()
		}
	}
	if err != nil {
		t.Fatalf("%v\nthe last steps were\n%s", err, trace.String())
	}
}
