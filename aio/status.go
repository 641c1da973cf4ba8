package aio

import "errors"

type taskState uint8

func (s taskState) String() string {
	return [...]string{"new", "ready", "running", "parked", "done"}[s]
}

const (
	taskNew taskState = iota // the body has not started
	taskReady
	taskRunning
	taskParked
	taskDone
)

// status is the state of a task, and its record as one that shares a loop with others. Its order
// leaves no gaps: see TestSizes.
type status struct {
	state  taskState
	deaf   bool   // parked where cancellation must not wake it: joining a group
	polled bool   // parked until a descriptor is ready
	goexit bool   // its system call called Goexit
	budget int16  // operations left without a wait before the task gives up the turn
	ignore int16  // cancelled waits in a row, to just over ignoreLimit
	waits  string // for the dump: the reason of the wait
	since  int64  // and its beginning
}

// step begins a step.
func (s *status) step() { s.state, s.budget = taskRunning, opsPerStep }

// suspend notes the reason and the beginning of a wait, for the loop's turn or for an event.
func (s *status) suspend(state taskState, waits string, now int64) {
	s.state, s.waits, s.since = state, waits, now
}

// spend takes an operation from the step's budget, and reports whether there was one.
func (s *status) spend() bool {
	s.budget--
	return s.budget >= 0
}

// waited takes in the result of a wait.
func (s *status) waited(err error) {
	if err == nil {
		s.ignore = 0
	} else if errors.Is(err, ErrCanceled) {
		s.ignored()
	}
}

// ignored counts a cancelled wait.
func (s *status) ignored() { s.ignore = min(s.ignore+1, ignoreLimit+1) }

// opsPerStep is the most operations without a wait (an item is available, bytes have arrived) that
// a task may do before others get their turn.
const opsPerStep = 128

// ignoreLimit is the number of cancelled waits in a row after which a task is reported.
const ignoreLimit = 1000
