package aio

import (
	"fmt"
	"time"

	"github.com/weftcrawl/weft/aio/internal/poll"
	"golang.org/x/sys/unix"
)

// fdTable holds the descriptors of one loop.
type fdTable struct {
	loop     *Loop
	selector poll.Selector // nil with Options.Clock
	slots    []*descriptor
	free     []uint32
	gen      uint32              // of the most recently assigned slot: part of the token
	byFD     map[int]*descriptor // descriptors watched by OnReadable and WaitReadable
	n        int
	waits    int // waiting tasks and active callbacks
	events   []poll.Event
}

// descriptor is a watched descriptor. Sockets of this package are registered once, edge-triggered
// where the selector supports it; foreign descriptors, and all descriptors on other selectors, are
// registered for exactly what somebody waits for.
//
// The selector knows it by a token of slot and generation. An event for a descriptor that was
// closed meanwhile, its number perhaps reused, finds a newer generation in the slot and is
// dropped.
type descriptor struct {
	loop        *Loop
	fd          int
	token       uint64
	own         bool // a socket of this package
	edge        bool
	registered  poll.Interest
	closed      bool
	mayHoldMore bool // a short read does not mean that the socket is empty: see socket.Read
	read        direction
	write       direction
}

// direction is one half of a descriptor: at most one task waits for it, or one callback watches
// it.
type direction struct {
	d     *descriptor
	lot   Lot
	watch *Watch
	limit int64         // the deadline of waits in loop time, 0 for none
	in    poll.Interest // poll.Read or poll.Write
	ready bool          // no attempt has blocked since the last event
}

// add registers fd, with a new descriptor. own marks a socket of this package, which is read and
// written until it would block.
func (tab *fdTable) add(d *descriptor, fd int, own bool) error {
	if tab.selector == nil {
		return ErrNoDescriptors
	}
	// The waiters have been woken and will find fd closed, or reused.
	if old := tab.byFD[fd]; old != nil {
		tab.drop(old)
	}
	d.loop, d.fd, d.own, d.edge = tab.loop, fd, own, own && tab.selector.Edge()
	// A new socket rarely has anything to read, and always has room to write.
	d.read = direction{d: d, in: poll.Read}
	d.write = direction{d: d, in: poll.Write, ready: own}
	var slot uint32
	if n := len(tab.free); n > 0 {
		slot, tab.free = tab.free[n-1], tab.free[:n-1]
	} else {
		slot = uint32(len(tab.slots))
		tab.slots = append(tab.slots, nil)
	}
	tab.gen++
	d.token = uint64(tab.gen)<<32 | uint64(slot)
	if d.edge {
		d.registered = poll.Read | poll.Write | poll.Edge
	}
	if err := tab.selector.Add(fd, d.token, d.registered); err != nil {
		tab.free = append(tab.free, slot)
		return fmt.Errorf("aio: descriptor %d cannot be watched: %w", fd, err)
	}
	tab.slots[slot] = d
	tab.n++
	return nil
}

// remove stops watching d; its tasks wake with ErrClosed. Afterwards the caller closes the
// descriptor itself.
func (tab *fdTable) remove(d *descriptor) {
	if d.closed {
		return
	}
	d.closed = true
	// Fails if somebody closed it under us: then it is already out.
	_ = tab.selector.Remove(d.fd)
	slot := uint32(d.token)
	tab.slots[slot] = nil
	tab.free = append(tab.free, slot)
	tab.n--
	for _, dir := range [...]*direction{&d.read, &d.write} {
		dir.lot.UnparkAll(ErrClosed)
		if dir.watch != nil {
			dir.watch.drop()
		}
	}
}

// poll asks the selector and wakes the waiters. A wait of 0 does not wait, a negative one has no
// end. Its error is the selector's.
func (tab *fdTable) poll(wait time.Duration) error {
	if want := max(64, min(tab.n+1, 1024)); len(tab.events) < want {
		tab.events = make([]poll.Event, 2*want)
	}
	var n int
	var err error
	switch {
	case wait == 0:
		n, err = tab.selector.Poll(tab.events)
	case wait < 0:
		n, err = tab.selector.Wait(tab.events, time.Time{})
	default:
		n, err = tab.selector.Wait(tab.events, tab.loop.time.at(addTime(tab.loop.time.now, wait)))
	}
	if err != nil {
		return err
	}
	for i := range n {
		ev := &tab.events[i]
		slot := uint32(ev.Token)
		if uint64(slot) >= uint64(len(tab.slots)) {
			continue // the selector's own wake-up
		}
		d := tab.slots[slot]
		if d == nil || d.token != ev.Token {
			continue // closed since
		}
		d.mayHoldMore = d.mayHoldMore || ev.Hup || ev.Urgent
		if ev.Ready&poll.Read != 0 {
			d.read.event()
		}
		if ev.Ready&poll.Write != 0 {
			d.write.event()
		}
		_ = d.register()
	}
	return nil
}

// register updates a level-triggered selector to the current waiters. It fails when somebody
// has closed a descriptor under us, which matters only to a caller that asks for more.
func (d *descriptor) register() error {
	if d.edge || d.closed {
		return nil
	}
	var in poll.Interest
	for _, dir := range [...]*direction{&d.read, &d.write} {
		if dir.busy() {
			in |= dir.in
		}
	}
	if in == d.registered {
		return nil
	}
	if err := d.loop.fds.selector.Modify(d.fd, d.token, in); err != nil {
		return fmt.Errorf("aio: descriptor %d cannot be watched: %w", d.fd, err)
	}
	d.registered = in
	return nil
}

func (dir *direction) event() {
	dir.ready = true
	dir.lot.Unpark(nil)
	if dir.watch != nil {
		dir.d.loop.ready.push(dir.watch)
	}
}

// wait suspends t until an event makes the direction ready, its deadline passes, or the descriptor
// is closed. It returns early, with the direction not ready, if the deadline was put off meanwhile.
func (dir *direction) wait(t *Task, what string) error {
	d := dir.d
	if dir.busy() {
		return ErrBusy
	}
	if err := dir.over(); err != nil {
		return err
	}
	t.check()
	if err := t.stopped(); err != nil {
		return t.refuse(err)
	}
	if err := dir.enlist(t); err != nil {
		return err
	}
	err := t.park(what)
	if err != nil {
		_ = d.register()
	}
	switch {
	case err != nil:
		return err
	case d.own && d.closed: // closed since the event: the number may now be another file's
		return ErrClosed
	case !dir.ready:
		return dir.over()
	}
	return nil // even if the deadline has passed since the event
}

// enlist lets the next event, or the deadline, wake t, which is about to park.
func (dir *direction) enlist(t *Task) error {
	dir.lot.push(t)
	if err := dir.d.register(); err != nil {
		dir.lot.remove(t)
		return err
	}
	t.status.polled = true
	dir.d.loop.fds.waits++
	t.wakeBy(dir.limit)
	return nil
}

// join is enlist for a continuation: false means that an attempt will not block.
func (dir *direction) join(t *Task) bool {
	return !dir.ready && !dir.busy() && dir.over() == nil && dir.enlist(t) == nil
}

// busy reports whether somebody waits for this direction.
func (dir *direction) busy() bool { return dir.lot.Len() > 0 || dir.watch != nil }

// over returns why this direction is finished, or nil.
func (dir *direction) over() error {
	switch {
	case dir.d.closed:
		return ErrClosed
	case dir.limit != 0 && dir.limit <= dir.d.loop.clock():
		return &deadlineError{}
	}
	return nil
}

// setDeadline sets the time after which a wait for this direction fails; 0: never.
func (dir *direction) setDeadline(when int64) {
	dir.limit = when
	switch t := dir.lot.first; {
	case t == nil || when == 0:
	case when <= dir.d.loop.clock():
		t.wake(nil) // and sees that it has passed
	default:
		t.wakeBy(when)
	}
}

// Watch is a callback for a descriptor.
type Watch struct {
	dir *direction
	fn  func()
}

// OnReadable calls fn in every turn in which fd can be read without waiting, until Stop. Unlike
// the sockets of this package, fd stays the caller's, who must stop the watch before closing it. A
// descriptor has one watch or one waiting task per direction.
func (l *Loop) OnReadable(fd int, fn func()) (*Watch, error) { return l.watchFD(fd, poll.Read, fn) }

// OnWritable is OnReadable for writing.
func (l *Loop) OnWritable(fd int, fn func()) (*Watch, error) { return l.watchFD(fd, poll.Write, fn) }

func (l *Loop) watchFD(fd int, in poll.Interest, fn func()) (*Watch, error) {
	dir, err := l.fds.foreign(fd, in)
	if err != nil {
		return nil, err
	}
	if dir.busy() {
		return nil, ErrBusy
	}
	w := &Watch{fn: fn}
	if err := w.begin(dir); err != nil {
		w.Stop()
		return nil, err
	}
	return w, nil
}

func (w *Watch) begin(dir *direction) error {
	w.dir, dir.watch = dir, w
	dir.d.loop.fds.waits++
	return dir.d.register()
}

// once calls fn in the turn of the next event.
func (dir *direction) once(fn func()) error {
	w := new(Watch)
	w.fn = func() {
		w.drop()
		_ = dir.d.register()
		fn()
	}
	err := w.begin(dir)
	if err != nil {
		w.drop()
	}
	return err
}

// Stop ends the watch: fn is not called again, even if it was due in this turn.
func (w *Watch) Stop() {
	if dir := w.dir; dir != nil && dir.watch == w {
		w.drop()
		_ = dir.d.register()
		dir.d.loop.fds.release(dir.d)
	}
}

func (w *Watch) drop() {
	w.dir.watch = nil
	w.dir.d.loop.fds.waits--
	w.fn = nil
}

func (w *Watch) run(l *Loop) {
	l.enter(nil)
	if w.fn != nil {
		w.fn()
	}
}

// WaitReadable suspends t until fd can be read without waiting: the system call for descriptors
// that are not sockets of this package. Errors: ErrBusy, ErrCanceled, or why fd cannot be watched
// (a regular file, a closed descriptor).
func (t *Task) WaitReadable(fd int) error {
	return t.waitFD(fd, poll.Read, "a descriptor to be readable")
}

// WaitWritable is WaitReadable for writing.
func (t *Task) WaitWritable(fd int) error {
	return t.waitFD(fd, poll.Write, "a descriptor to be writable")
}

func (t *Task) waitFD(fd int, in poll.Interest, what string) error {
	if err := t.Checkpoint(); err != nil {
		return err
	}
	dir, err := t.loop.fds.foreign(fd, in)
	if err != nil {
		return err
	}
	defer t.loop.fds.release(dir.d)
	return dir.wait(t, what)
}

// foreign returns the direction of a descriptor that this package did not open.
func (tab *fdTable) foreign(fd int, in poll.Interest) (*direction, error) {
	d := tab.byFD[fd]
	if d == nil || d.unused() {
		d = new(descriptor)
		if err := tab.add(d, fd, false); err != nil {
			return nil, err
		}
		if tab.byFD == nil {
			tab.byFD = make(map[int]*descriptor)
		}
		tab.byFD[fd] = d
	}
	if in == poll.Read {
		return &d.read, nil
	}
	return &d.write, nil
}

// release unregisters a foreign descriptor when nobody waits for it.
func (tab *fdTable) release(d *descriptor) {
	if !d.closed && d.unused() {
		tab.drop(d)
	}
}

func (tab *fdTable) drop(d *descriptor) {
	delete(tab.byFD, d.fd)
	tab.remove(d)
}

// unused reports whether nobody waits for d. Waiters that were woken but have not run do not
// count: their wait is over, and fd may have been closed since.
func (d *descriptor) unused() bool {
	return !d.read.busy() && !d.write.busy()
}

// close closes the sockets that are still open when the loop ends, reports them, and closes the
// selector.
func (tab *fdTable) close() {
	var leaks []Report
	for _, d := range tab.slots {
		if d == nil {
			continue
		}
		leaks = append(leaks, Report{Kind: ReportLeak, What: fmt.Sprintf("descriptor %d (%s)", d.fd, describe(d.fd))})
		tab.remove(d)
		if d.own {
			unix.Close(d.fd)
		}
	}
	for _, r := range leaks {
		tab.loop.report(r)
	}
	if tab.selector != nil {
		tab.selector.Close()
	}
}
