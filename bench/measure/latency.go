package measure

import (
	"context"
	"io"
	"iter"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Latency is the duration of an operation.
type Latency struct {
	Name  string  `json:"name"`
	What  string  `json:"what"`
	NS    float64 `json:"ns"` // the least of fifty measurements
	Error string  `json:"error,omitempty"`
}

// Latencies configures a measurement of latencies.
type Latencies struct {
	Dir    string        // folder on the disk to measure
	Least  time.Duration // duration of each of the fifty measurements
	Memory int           // bytes beyond every cache; 0: by the size of the largest
	File   int           // bytes of the file

	Begin func(name string) // called before each operation
}

// Measure measures all operations, roughly from the fastest to the slowest. The error is that of
// ctx.
func (l Latencies) Measure(ctx context.Context) ([]Latency, error) {
	caches := cacheSizes()
	if l.Memory == 0 {
		l.Memory = min(max(64<<20, 4*caches[2]), 256<<20)
	}
	l3 := min(caches[2]/2, 4*caches[1]) // others share it
	chases := func(bytes int) func() (operation, error) {
		return func() (operation, error) { return chase(bytes) }
	}
	simple := func(op operation) func() (operation, error) {
		return func() (operation, error) { return op, nil }
	}
	var all []Latency
	for _, m := range []struct {
		name, what string
		prepare    func() (operation, error)
	}{
		{"instruction", "an addition that needs the result of the one before", simple(instructions)},
		{"L1 cache", "a read of memory that is in it, at an address read just before", chases(caches[0] / 2)},
		{"L2 cache", "the same, where " + mib(caches[1]/2) + " are read", chases(caches[1] / 2)},
		{"L3 cache", "the same, where " + mib(l3) + " are read", chases(l3)},
		{"memory", "the same, where " + mib(l.Memory) + " are read", chases(l.Memory)},
		{"mutex", "locked and unlocked, with nobody else there", simple(mutexes)},
		{"coroutine switch", "into an iter.Pull, or out of it", simple(coroutines)},
		{"goroutine switch", "to one that waits at a channel", simple(goroutines)},
		{"system call", "the cheapest, getppid", simple(systemCalls)},
		{"context switch", "to another thread on the same CPU, through a pipe, with its read and its write", pipes},
		{"loopback", "a byte over TCP to another goroutine and back", loopback},
		{"disk read", "4 KiB at a random place of a file, past the kernel's cache", func() (operation, error) { return diskRead(l.Dir, l.File) }},
		{"disk write", "4 KiB, until fsync says that they are there", func() (operation, error) { return diskWrite(l.Dir) }},
	} {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		l.Begin(m.name)
		one := Latency{Name: m.name, What: m.what}
		op, err := m.prepare()
		if err == nil {
			one.NS, err = op.time(l.Least)
		}
		if err != nil {
			one.Error = named(err)
		}
		all = append(all, one)
	}
	return all, nil
}

// operation is an operation to time.
type operation struct {
	do    func(n int) error // n times
	parts float64           // operations per call of do; 0: 1
	end   func()            // clean-up; nil: none
}

// time returns the duration of one operation in ns: the least of fifty measurements, as other work
// on the machine can only add to it. Each repeats the operation for at least a time, which is best
// shorter than the kernel lets another thread run.
func (o operation) time(least time.Duration) (float64, error) {
	if o.end != nil {
		defer o.end()
	}
	var fastest float64
	for n, measured := 1, 0; measured < 50; {
		began := time.Now()
		if err := o.do(n); err != nil {
			return 0, err
		}
		t := time.Since(began)
		if t < least {
			n *= 2
			continue
		}
		one := float64(t) / float64(n) / max(1, o.parts)
		if measured == 0 || one < fastest {
			fastest = one
		}
		measured++
	}
	return fastest, nil
}

// kept stops the compiler from removing unused results.
var kept uint64

// instructions are 16 per iteration; the compiler would merge plain additions.
var instructions = operation{parts: 16, do: func(n int) error {
	x, y, z := kept, uint64(n), uint64(n+1)
	for range n {
		x = (((((((x + y) ^ z) + y) ^ z) + y) ^ z) + y) ^ z
		x = (((((((x + y) ^ z) + y) ^ z) + y) ^ z) + y) ^ z
	}
	kept = x
	return nil
}}

// line is a cache line of 64 bytes.
type line struct {
	next *line
	_    [56]byte
}

// chase reads lines of memory, each of which names the next: one circle through all, in random
// order, so that the CPU can neither predict nor prefetch. The memory comes from the kernel, in
// large pages if possible: with small ones, most of the time would go into address translation (TLB
// misses).
func chase(bytes int) (operation, error) {
	memory, err := unix.Mmap(-1, 0, bytes+largePage, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_ANON|unix.MAP_PRIVATE)
	if err != nil {
		return operation{}, err
	}
	inLargePages(memory)
	start := unsafe.Pointer(&memory[-uintptr(unsafe.Pointer(&memory[0]))%largePage])
	lines := unsafe.Slice((*line)(start), bytes/64)
	order := rand.Perm(len(lines))
	for i, at := range order {
		lines[at].next = &lines[order[(i+1)%len(order)]]
	}
	at := &lines[0]
	walk := func(n int) error {
		for range n {
			at = at.next
		}
		return nil
	}
	_ = walk(len(lines)) // warm-up
	return operation{do: walk, end: func() { _ = unix.Munmap(memory) }}, nil
}

// largePage is the usual size of a large page, in bytes.
const largePage = 2 << 20

// cacheSizes returns the sizes of the three cache levels in bytes; usual values if the system does
// not report them.
func cacheSizes() [3]int {
	sizes := [3]int{32 << 10, 1 << 20, 32 << 20}
	dirs, _ := filepath.Glob("/sys/devices/system/cpu/cpu0/cache/index*")
	for _, dir := range dirs {
		read := func(name string) string {
			b, _ := os.ReadFile(filepath.Join(dir, name))
			return strings.TrimSpace(string(b))
		}
		level, _ := strconv.Atoi(read("level"))
		size, err := strconv.Atoi(strings.TrimSuffix(read("size"), "K"))
		if err == nil && level >= 1 && level <= 3 && read("type") != "Instruction" {
			sizes[level-1] = size << 10
		}
	}
	return sizes
}

var mutexes = operation{do: func(n int) error {
	var mu sync.Mutex
	for range n {
		mu.Lock()
		kept++
		mu.Unlock()
	}
	return nil
}}

// coroutines switches to and from a coroutine at each call of next.
var coroutines = operation{parts: 2, do: func(n int) error {
	next, stop := iter.Pull(iter.Seq[int](func(yield func(int) bool) {
		for i := 0; yield(i); i++ {
		}
	}))
	defer stop()
	for range n {
		next()
	}
	return nil
}}

var goroutines = operation{parts: 2, do: func(n int) error {
	there, back := make(chan struct{}), make(chan struct{})
	go func() {
		for range there {
			back <- struct{}{}
		}
	}()
	for range n {
		there <- struct{}{}
		<-back
	}
	close(there)
	return nil
}}

var systemCalls = operation{do: func(n int) error {
	for range n {
		kept += uint64(unix.Getppid())
	}
	return nil
}}

// pipes has two threads wake each other. On one CPU, neither continues while the other runs.
func pipes() (operation, error) {
	var there, back [2]int
	if err := unix.Pipe(there[:]); err != nil {
		return operation{}, err
	}
	if err := unix.Pipe(back[:]); err != nil {
		_, _ = unix.Close(there[0]), unix.Close(there[1])
		return operation{}, err
	}
	go func() {
		runtime.LockOSThread() // never unlocked: the thread ends with the goroutine
		_ = stayOnCPU()
		b := make([]byte, 1)
		for readByte(there[0], b) == nil {
			_, _ = unix.Write(back[1], b)
		}
		_, _ = unix.Close(there[0]), unix.Close(back[1])
	}()
	turn := func(n int) error {
		result := make(chan error)
		go func() {
			runtime.LockOSThread()
			err := stayOnCPU()
			b := make([]byte, 1)
			for i := 0; i < n && err == nil; {
				if _, err = unix.Write(there[1], b); err == nil {
					err = readByte(back[0], b)
					i++
				}
			}
			result <- err
		}()
		return <-result
	}
	end := func() { _, _ = unix.Close(there[1]), unix.Close(back[0]) }
	return operation{do: turn, parts: 2, end: end}, nil
}

// readByte reads a byte, and retries when a signal interrupts it.
func readByte(fd int, b []byte) error {
	for {
		n, err := unix.Read(fd, b)
		switch {
		case err == unix.EINTR:
		case err != nil:
			return err
		case n == 0:
			return io.ErrUnexpectedEOF
		default:
			return nil
		}
	}
}

func loopback() (operation, error) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return operation{}, err
	}
	defer ln.Close()
	go func() {
		c, err := ln.Accept()
		if err != nil {
			return
		}
		defer c.Close()
		b := make([]byte, 1)
		for {
			if _, err := c.Read(b); err != nil {
				return
			}
			if _, err := c.Write(b); err != nil {
				return
			}
		}
	}()
	c, err := net.Dial("tcp", ln.Addr().String())
	if err != nil {
		return operation{}, err
	}
	b := make([]byte, 1)
	return operation{end: func() { c.Close() }, do: func(n int) error {
		for range n {
			if _, err := c.Write(b); err != nil {
				return err
			}
			if _, err := c.Read(b); err != nil {
				return err
			}
		}
		return nil
	}}, nil
}

// block is the size of reads and writes of a file, in bytes.
const block = 4096

// aligned returns memory for a block, aligned to a page, as O_DIRECT needs.
func aligned() ([]byte, error) {
	return unix.Mmap(-1, 0, block, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_ANON|unix.MAP_PRIVATE)
}

func diskRead(dir string, size int) (operation, error) {
	f, err := os.CreateTemp(dir, "weft-lab-*")
	if err != nil {
		return operation{}, err
	}
	defer os.Remove(f.Name())
	defer f.Close()
	// Random data cannot be compressed.
	var seed [32]byte
	if _, err := io.CopyN(f, rand.NewChaCha8(seed), int64(size)); err != nil {
		return operation{}, err
	}
	if err := f.Sync(); err != nil {
		return operation{}, err
	}
	fd, err := openDirect(f.Name())
	if err != nil {
		return operation{}, err
	}
	b, err := aligned()
	if err != nil {
		_ = unix.Close(fd)
		return operation{}, err
	}
	end := func() {
		_ = unix.Close(fd)
		_ = unix.Munmap(b)
	}
	return operation{end: end, do: func(n int) error {
		for range n {
			if _, err := unix.Pread(fd, b, int64(rand.IntN(size/block)*block)); err != nil {
				return err
			}
		}
		return nil
	}}, nil
}

func diskWrite(dir string) (operation, error) {
	f, err := os.CreateTemp(dir, "weft-lab-*")
	if err != nil {
		return operation{}, err
	}
	b := make([]byte, block)
	end := func() {
		f.Close()
		os.Remove(f.Name())
	}
	return operation{end: end, do: func(n int) error {
		for range n {
			b[0]++
			if _, err := f.WriteAt(b, 0); err != nil {
				return err
			}
			if err := f.Sync(); err != nil {
				return err
			}
		}
		return nil
	}}, nil
}

// mib formats a size.
func mib(bytes int) string {
	if bytes < 1<<20 {
		return strconv.Itoa(bytes>>10) + " KiB"
	}
	return strconv.Itoa(bytes>>20) + " MiB"
}
