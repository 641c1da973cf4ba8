//go:build linux

package lab

import "golang.org/x/sys/unix"

// SystemCall is what a task yields. The kernel calls it while the task is suspended; it
// resumes the task, at once or when something has happened.
type SystemCall func(k *kernel, t *kernelTask)

// Pass gives up the turn: all others that are ready run first.
func Pass() SystemCall {
	return func(k *kernel, t *kernelTask) { k.resume(t, nil, nil) }
}

// GetTid answers with the task's number, an int.
func GetTid() SystemCall {
	return func(k *kernel, t *kernelTask) { k.resume(t, t.tid, nil) }
}

// NewTask starts a program as another task and answers with its number. The new one runs first, up
// to its first system call: what it was given, such as a socket, is in its care from then on, and
// it can't be killed before it has seen to that.
func NewTask(p *program) SystemCall {
	return func(k *kernel, t *kernelTask) {
		k.newborn = k.start(p)
		k.resume(t, k.newborn.tid, nil)
	}
}

// KillTask ends a task, which may be the caller, and answers whether there was such a task. The
// error is one that it ended with.
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

// WaitTask waits for the end of a task, and answers whether there was such a task.
func WaitTask(tid int) SystemCall {
	return func(k *kernel, t *kernelTask) {
		if k.tasks[tid] == nil {
			k.resume(t, false, nil)
			return
		}
		k.waiters[tid] = append(k.waiters[tid], t)
	}
}

// ReadWait waits until a descriptor can be read, or has failed, which the next try will tell. One
// task at a time waits for a descriptor.
func ReadWait(fd int) SystemCall {
	return func(k *kernel, t *kernelTask) { k.waitFor(t, fd, unix.EPOLLIN) }
}

// WriteWait waits until a descriptor can be written, or has failed.
func WriteWait(fd int) SystemCall {
	return func(k *kernel, t *kernelTask) { k.waitFor(t, fd, unix.EPOLLOUT) }
}

// A lot is where tasks wait for each other. The two system calls on it are all that a
// kernel needs for locks, queues and the like to be made in programs: they are futex(2).
type lot []*kernelTask

// Park waits in a lot until Unpark.
func Park(l *lot) SystemCall {
	return func(_ *kernel, t *kernelTask) { *l = append(*l, t) }
}

// Unpark wakes the n that have waited longest, or all.
func Unpark(l *lot, n int) SystemCall {
	return func(k *kernel, t *kernelTask) {
		for ; n > 0 && len(*l) > 0; *l = (*l)[1:] {
			if first := (*l)[0]; k.tasks[first.tid] != nil { // or it was killed
				k.resume(first, nil, nil)
				n--
			}
		}
		k.resume(t, nil, nil)
	}
}
