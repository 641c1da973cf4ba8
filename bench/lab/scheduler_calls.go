//go:build linux

package lab

import "golang.org/x/sys/unix"

// SystemCall is a request that a task yields. The kernel calls it while the task is suspended; it
// resumes the task, at once or on some event.
type SystemCall func(k *kernel, t *kernelTask)

// Pass gives up the turn: all other ready tasks run first.
func Pass() SystemCall {
	return func(k *kernel, t *kernelTask) { k.resume(t, nil, nil) }
}

// GetTid returns the task's number, an int.
func GetTid() SystemCall {
	return func(k *kernel, t *kernelTask) { k.resume(t, t.tid, nil) }
}

// NewTask starts a program as another task and returns its number. The new task runs first, up to
// its first system call: it cannot be killed before it has taken charge of what it was given, such
// as a socket.
func NewTask(p *program) SystemCall {
	return func(k *kernel, t *kernelTask) {
		k.newborn = k.start(p)
		k.resume(t, k.newborn.tid, nil)
	}
}

// KillTask ends a task, perhaps the caller, and returns whether it existed. The error is the one
// that the task ended with.
func KillTask(tid int) SystemCall {
	return func(k *kernel, t *kernelTask) {
		victim, ok := k.tasks[tid]
		var err error
		if ok {
			err = k.kill(victim)
		}
		k.resume(t, ok, err)
	}
}

// WaitTask waits for the end of a task, and returns whether it existed.
func WaitTask(tid int) SystemCall {
	return func(k *kernel, t *kernelTask) {
		if k.tasks[tid] == nil {
			k.resume(t, false, nil)
			return
		}
		k.waiters[tid] = append(k.waiters[tid], t)
	}
}

// ReadWait waits until a descriptor is readable, or has failed, which the next try reports. One
// task at a time may wait for a descriptor.
func ReadWait(fd int) SystemCall {
	return func(k *kernel, t *kernelTask) { k.waitFor(t, fd, unix.EPOLLIN) }
}

// WriteWait waits until a descriptor is writable, or has failed.
func WriteWait(fd int) SystemCall {
	return func(k *kernel, t *kernelTask) { k.waitFor(t, fd, unix.EPOLLOUT) }
}

// lot is a place where tasks wait for each other. Its two system calls are all that a kernel needs
// so that programs can build locks, queues and the like: they are futex(2).
type lot []*kernelTask

// Park waits in a lot for Unpark.
func Park(l *lot) SystemCall {
	return func(_ *kernel, t *kernelTask) { *l = append(*l, t) }
}

// Unpark wakes the n tasks that have waited longest, or all.
func Unpark(l *lot, n int) SystemCall {
	return func(k *kernel, t *kernelTask) {
		for ; n > 0 && len(*l) > 0; *l = (*l)[1:] {
			if first := (*l)[0]; k.tasks[first.tid] != nil { // not killed
				k.resume(first, nil, nil)
				n--
			}
		}
		k.resume(t, nil, nil)
	}
}
