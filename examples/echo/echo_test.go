//go:build linux

package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/weftcrawl/weft/aio"
	"github.com/weftcrawl/weft/aio/aiotest"
	"github.com/weftcrawl/weft/internal/long"
)

// Environment variables that turn a child process of the test binary into something else.
const (
	asServer  = "ECHO_TEST_AS_SERVER"  // the command itself
	asClients = "ECHO_TEST_AS_CLIENTS" // that many clients of the server given as an argument
)

func TestMain(m *testing.M) {
	if os.Getenv(asServer) != "" {
		main()
		return
	}
	if n := os.Getenv(asClients); n != "" {
		if err := runClients(os.Args[1], n); err != nil {
			fmt.Fprintln(os.Stderr, "clients:", err)
			os.Exit(1)
		}
		return
	}
	m.Run()
}

// patience bounds steps that should take seconds.
const patience = 2 * time.Minute

// TestManyClients: two processes of 1,000 clients each, 5,000 in a long run, are connected at the
// same time, talk, and leave: one closes properly, the other is killed halfway through a message.
// The server is then in its initial state.
func TestManyClients(t *testing.T) {
	const processes = 2
	n := affordable(t, long.Or(2_000, 10_000), processes)
	aiotest.CheckLeaks(t)
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	s := startServer(t, ctx)

	var all [processes]*process
	for i := range all {
		all[i] = startClients(t, ctx, s.addr, n/processes)
	}
	together := func(what string) {
		t.Helper()
		for _, p := range all {
			p.send(t, what)
		}
		for _, p := range all {
			p.awaitDone(t, what)
		}
	}
	together("connect")
	s.await(t, ctx, "all clients accepted", n)
	together("talk")
	if now := s.clients(t); now != n {
		t.Errorf("after the talk the server holds %d of %d clients", now, n)
	}

	polite, killed := all[0], all[1]
	killed.send(t, "begin a message")
	killed.awaitDone(t, "begin a message")
	if err := killed.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	var exit *exec.ExitError
	if err := killed.cmd.Wait(); !errors.As(err, &exit) || exit.Sys().(syscall.WaitStatus).Signal() != syscall.SIGKILL {
		t.Errorf("the process to be killed ended with %v", err)
	}
	s.await(t, ctx, "the server has let go of the killed", n/processes)
	polite.send(t, "talk") // the others are unaffected
	polite.awaitDone(t, "talk")
	polite.send(t, "leave")
	polite.awaitDone(t, "leave")
	polite.commands.Close()
	if err := polite.cmd.Wait(); err != nil {
		t.Errorf("the clients that left: %v", err)
	}
	s.await(t, ctx, "the server has let go of all", 0)
	s.end(t)
}

// affordable returns n, or as many as this system's limits allow: then the test has fewer clients
// and says so; in CI that is a failure.
func affordable(t *testing.T, n, processes int) int {
	t.Helper()
	const others = 100 // descriptors other than clients
	want, why := n, ""
	if files := descriptorLimit(t, n+others); files < n+others {
		n, why = files-others, fmt.Sprintf("a process may have %d descriptors", files)
	}
	b, err := os.ReadFile("/proc/sys/net/ipv4/ip_local_port_range")
	if err != nil {
		t.Fatal(err)
	}
	var first, last int
	if _, err := fmt.Sscan(string(b), &first, &last); err != nil {
		t.Fatal(err)
	}
	// Half of them: each connection to one address needs a port of its own, and other programs
	// need some too.
	if ports := (last - first + 1) / 2; ports < n {
		n, why = ports, fmt.Sprintf("there are only ports %d to %d to connect from", first, last)
	}
	n -= n % processes
	switch {
	case why == "":
	case os.Getenv("CI") == "true" || n < processes:
		t.Fatalf("%d clients instead of %d: %s", n, want, why)
	default:
		t.Logf("%d clients instead of %d: %s", n, want, why)
	}
	return n
}

// descriptorLimit raises the limit to want if possible and returns the new limit.
func descriptorLimit(t *testing.T, want int) int {
	t.Helper()
	var lim syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &lim); err != nil {
		t.Fatal(err)
	}
	if lim.Cur < uint64(want) {
		// Beyond Max for root only.
		higher := syscall.Rlimit{Cur: uint64(want), Max: max(uint64(want), lim.Max)}
		if syscall.Setrlimit(syscall.RLIMIT_NOFILE, &higher) == nil {
			return want
		}
		lim.Cur = lim.Max
		if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &lim); err != nil {
			t.Fatal(err)
		}
	}
	return int(min(lim.Cur, 1<<20))
}

// server is an echo server in this process.
type server struct {
	addr    string
	clients func(t *testing.T) int // number of those that it serves now
	end     func(t *testing.T)     // presses Ctrl-C
}

// startServer runs serve on a loop of its own.
func startServer(t *testing.T, ctx context.Context) *server {
	t.Helper()
	ctx, cancel := context.WithCancel(ctx)
	l := aio.NewLoop(aio.Options{SlowTurn: -1, Report: func(r aio.Report) { t.Error(r) }})
	h := l.Handle()
	addr, ended := make(chan string, 1), make(chan error, 1)
	go func() {
		defer close(addr)
		ended <- l.Run(ctx, func(task *aio.Task) error {
			ln, err := aio.Listen(task, "tcp", "127.0.0.1:0")
			if err != nil {
				return err
			}
			addr <- ln.Addr().String()
			return serve(task, ln)
		})
	}()
	s := new(server)
	var ok bool
	if s.addr, ok = <-addr; !ok {
		t.Fatal(<-ended)
	}
	stats := func(t *testing.T) aio.Stats {
		t.Helper()
		got := make(chan aio.Stats, 1)
		if err := h.Post(func() { got <- l.Stats() }); err != nil {
			t.Fatal(err)
		}
		return <-got
	}
	idle := stats(t)
	s.clients = func(t *testing.T) int {
		t.Helper()
		now := stats(t)
		tasks, descriptors := now.Tasks-idle.Tasks, now.Descriptors-idle.Descriptors
		if tasks != descriptors {
			t.Errorf("%d tasks for %d clients", tasks, descriptors)
		}
		return descriptors
	}
	s.end = func(t *testing.T) {
		t.Helper()
		h.Close()
		cancel()
		if err := <-ended; !errors.Is(err, context.Canceled) {
			t.Errorf("the server returned %v", err)
		}
	}
	return s
}

// await asks for the number of clients until it is as expected.
func (s *server) await(t *testing.T, ctx context.Context, what string, clients int) {
	t.Helper()
	for {
		now := s.clients(t)
		if now == clients {
			return
		}
		if ctx.Err() != nil {
			t.Fatalf("not in time: %s; the server has %d clients", what, now)
		}
	}
}

// process is a child that executes commands, a line each, and acknowledges them.
type process struct {
	cmd      *exec.Cmd
	commands io.WriteCloser
	answers  *bufio.Reader
}

func start(t *testing.T, ctx context.Context, env string, args ...string) *process {
	t.Helper()
	p := &process{cmd: exec.CommandContext(ctx, os.Args[0], args...)}
	p.cmd.Env = append(os.Environ(), env)
	p.cmd.Stderr = os.Stderr
	var err error
	if p.commands, err = p.cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	p.answers = bufio.NewReader(out)
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { // if the test has failed halfway
		if p.cmd.ProcessState == nil {
			_ = p.cmd.Process.Kill()
			_ = p.cmd.Wait()
		}
	})
	return p
}

func startClients(t *testing.T, ctx context.Context, addr string, n int) *process {
	t.Helper()
	return start(t, ctx, asClients+"="+strconv.Itoa(n), addr)
}

func (p *process) send(t *testing.T, what string) {
	t.Helper()
	if _, err := fmt.Fprintln(p.commands, what); err != nil {
		t.Fatal(err)
	}
}

func (p *process) awaitDone(t *testing.T, what string) {
	t.Helper()
	if got, err := p.answers.ReadString('\n'); got != what+"\n" {
		t.Fatalf("step %q: a process printed %q, %v", what, got, err)
	}
}

// The rest runs in a child process.

// client is one of many on the loop of its process.
type client struct {
	id   int
	addr string
	door *aio.Semaphore // shared by all clients of the process
	conn aio.Conn
	r    *aio.Reader
}

// connecting is the number of connections that a process opens at once: connections beyond the
// server's backlog would be retried a second later.
const connecting = 500

// steps are the commands for a client.
var steps = map[string]func(task *aio.Task, c *client) error{
	"connect":         connect,
	"talk":            talk,
	"begin a message": begin,
	"leave":           leave,
}

// runClients makes all clients take the steps that arrive on standard input, one step after the
// other, all clients at the same time.
func runClients(addr, number string) error {
	n, err := strconv.Atoi(number)
	if err != nil {
		return err
	}
	clients := make([]*client, n)
	door := aio.NewSemaphore(connecting)
	for i := range clients {
		clients[i] = &client{id: i, addr: addr, door: door}
	}
	commands := bufio.NewReader(os.Stdin)
	next := func(context.Context) (string, error) { return commands.ReadString('\n') }
	return aio.Run(context.Background(), func(task *aio.Task) error {
		for {
			line, err := aio.Offload(task, next)
			if errors.Is(err, io.EOF) {
				return nil
			}
			if err != nil {
				return err
			}
			what := strings.TrimSuffix(line, "\n")
			err = task.Group(func(g *aio.Group) error {
				for _, c := range clients {
					g.Go(fmt.Sprintf("client %d", c.id), func(task *aio.Task) error { return steps[what](task, c) })
				}
				return nil
			})
			if err != nil {
				return fmt.Errorf("%s: %w", what, err)
			}
			fmt.Println(what)
		}
	})
}

func connect(task *aio.Task, c *client) error {
	if err := c.door.Acquire(task); err != nil {
		return err
	}
	defer c.door.Release()
	conn, err := aio.Dial(task, "tcp", c.addr)
	if err != nil {
		return err
	}
	c.conn, c.r = conn, aio.NewReader(task.Loop(), conn)
	return nil
}

// text is the source of messages, at a different offset for each client.
var text = func() []byte {
	b := make([]byte, 1<<16)
	for i := range b {
		b[i] = byte(i ^ i>>8*7)
	}
	return b
}()

func (c *client) message(size int) []byte { return text[c.id%10_000:][:size] }

func talk(task *aio.Task, c *client) error {
	for _, size := range []int{1, 100, 3_000, 20_000} {
		sent := c.message(size)
		if _, err := c.conn.Write(task, sent); err != nil {
			return err
		}
		for len(sent) > 0 {
			got, err := c.r.Peek(task)
			if err != nil {
				return err
			}
			if !bytes.HasPrefix(sent, got) {
				return fmt.Errorf("of a message of %d bytes, something else came back from byte %d on", size, size-len(sent))
			}
			sent = sent[len(got):]
			c.r.Discard(len(got))
		}
	}
	return nil
}

// begin sends half a message, whose echo stays unread.
func begin(task *aio.Task, c *client) error {
	if _, err := c.conn.Write(task, c.message(500)); err != nil {
		return err
	}
	return c.conn.WaitReadable(task)
}

// leave closes with a byte unread, which resets the connection: otherwise ten thousand ports in
// TIME_WAIT would be missing in the next run.
func leave(task *aio.Task, c *client) error {
	if _, err := c.conn.Write(task, c.message(1)); err != nil {
		return err
	}
	if err := c.conn.WaitReadable(task); err != nil {
		return err
	}
	return c.conn.Close()
}

// TestInterrupt checks that Ctrl-C ends the command successfully while clients are connected.
func TestInterrupt(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	p := start(t, ctx, asServer+"=1", "-listen", "127.0.0.1:0")
	line, err := p.answers.ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	addr, ok := strings.CutPrefix(strings.TrimSpace(line), "listening on ")
	if !ok {
		t.Fatalf("the command printed %q", line)
	}
	c, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	got := make([]byte, 5)
	if _, err := c.Write([]byte("hello")); err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadFull(c, got); err != nil || string(got) != "hello" {
		t.Fatalf("echo %q, %v", got, err)
	}
	if err := p.cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Read(got); err != io.EOF {
		t.Errorf("the connection ended with %v", err)
	}
	if err := p.cmd.Wait(); err != nil {
		t.Errorf("the command ended with %v", err)
	}
}

func TestBadAddress(t *testing.T) {
	cmd := exec.Command(os.Args[0], "-listen", "nonsense")
	cmd.Env = append(os.Environ(), asServer+"=1")
	out, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.ExitCode() != 1 || !strings.Contains(string(out), "echo: listen tcp nonsense: expected HOST:PORT") {
		t.Errorf("%v, output:\n%s", err, out)
	}
}
