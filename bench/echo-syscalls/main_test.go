//go:build linux

package main

import (
	"bufio"
	"fmt"
	"net"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// asServer turns a child process of the test binary into the command itself.
const asServer = "ECHO_TEST_AS_SERVER"

func TestMain(m *testing.M) {
	if os.Getenv(asServer) != "" {
		main()
		return
	}
	m.Run()
}

// TestCommand checks the command itself: its output, that it serves more than one client, and that
// Ctrl-C ends it successfully while clients are connected. (The test of examples/echo has ten
// thousand clients.)
func TestCommand(t *testing.T) {
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-listen", "127.0.0.1:0")
	cmd.Env = append(os.Environ(), asServer+"=1")
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	addr, ok := strings.CutPrefix(strings.TrimSpace(line), "listening on ")
	if err != nil || !ok {
		t.Fatalf("the command printed %q, %v", line, err)
	}
	for range 2 {
		c, err := net.Dial("tcp", addr)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		fmt.Fprintln(c, "hello")
		if got, err := bufio.NewReader(c).ReadString('\n'); got != "hello\n" {
			t.Fatalf("echo %q, %v", got, err)
		}
	}
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Errorf("the command ended with %v", err)
	}
}

func TestBadAddress(t *testing.T) {
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-listen", "nonsense")
	cmd.Env = append(os.Environ(), asServer+"=1")
	out, err := cmd.CombinedOutput()
	if err == nil || !strings.HasPrefix(string(out), "echo-syscalls: ") {
		t.Errorf("%v, output:\n%s", err, out)
	}
}
