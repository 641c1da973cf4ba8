package main

import (
	"bufio"
	"bytes"
	"io"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"github.com/spf13/pflag"
	"github.com/weftcrawl/weft/internal/natsserver"
	"github.com/weftcrawl/weft/internal/process"
	"github.com/weftcrawl/weft/internal/wefttest"
)

// TestMain lets the test binary be the command.
func TestMain(m *testing.M) {
	if os.Getenv("WEFT_TEST_MAIN") == "1" {
		main()
		os.Exit(0)
	}
	wefttest.Main(m, 4)
}

// command is weft-nats with arguments, in an empty folder, with a cache folder of its user.
func command(t *testing.T, cache, args string) (*exec.Cmd, *bytes.Buffer) {
	cmd := exec.CommandContext(t.Context(), os.Args[0], strings.Fields(args)...)
	cmd.Env, cmd.Dir = append(os.Environ(), "WEFT_TEST_MAIN=1", "XDG_CACHE_HOME="+cache), t.TempDir()
	stderr := new(bytes.Buffer)
	cmd.Stderr = stderr
	return cmd, stderr
}

// begin starts a server, and returns the address that it prints.
func begin(t *testing.T, cmd *exec.Cmd) string {
	t.Helper()
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	at, _ := bufio.NewReader(out).ReadString('\n')
	if !strings.HasPrefix(at, "nats://127.0.0.1:") {
		t.Fatalf("printed %q", at)
	}
	return strings.TrimSpace(at)
}

// end interrupts a server, and waits for its end.
func end(t *testing.T, cmd *exec.Cmd) {
	t.Helper()
	_ = cmd.Process.Signal(syscall.SIGINT)
	if err := cmd.Wait(); err != nil {
		t.Error(err)
	}
}

// TestServe: the command prints where it serves, and ends when it is interrupted; what is wrong is
// one line.
func TestServe(t *testing.T) {
	t.Parallel()
	server, stderr := command(t, t.TempDir(), "--listen 127.0.0.1:0 --login secret --max-disk 64MiB --name a --store b --sync")
	address := strings.TrimPrefix(begin(t, server), "nats://")
	for args, want := range map[string]string{
		"--listen " + address: "1 " + address + ": in use, expected a free address",
		"--peers a,,b":        `3 --peers "a,,b": expected a list such as 10.0.0.1,10.0.0.2,10.0.0.3`,
		"--peers a,b,c":       "1 peers a,b,c: expected all servers, this one too: 127.0.0.1:6222",
		"--login @none":       `3 --login: "none": no such file or directory, expected a file with the secret`,
		"--max-disk all":      `3 --max-disk "all": expected a size above 0`,
		"--store=":            `3 --store "": expected a folder`,
		"--cert a --key b":    `1 certificate "a" and key "b": open a: no such file or directory`,
		"--port 1":            "3 unknown flag: --port, expected one that weft-nats --help lists",
		"x":                   `3 argument "x", expected none`,
	} {
		cmd, stderr := command(t, t.TempDir(), args)
		e := wefttest.End(cmd, stderr)
		if got := string(rune('0'+e.Code)) + e.Stderr; !strings.HasPrefix(strings.Replace(got, "weft-nats: ", " ", 1), want) || strings.Count(got, "\n") != 1 {
			t.Errorf("%s: %+v", args, e)
		}
	}
	end(t, server)
	if stderr.Len() > 0 {
		t.Error(stderr)
	}
}

// TestHelp: the help has each flag, and names no other.
func TestHelp(t *testing.T) {
	t.Parallel()
	for flag, want := range map[string]string{"--help": help, "-h": help, "--version": versionLine()} {
		if e := wefttest.End(command(t, t.TempDir(), flag)); e.Code != 0 || e.Stdout != want || e.Stderr != "" {
			t.Errorf("%s: %+v", flag, e)
		}
	}
	_, list, _ := strings.Cut(help, "\nAddresses:\n")
	listed := make(map[string]bool)
	for _, m := range regexp.MustCompile(`(?m)^ +(?:-h, )?--([a-z-]+)`).FindAllStringSubmatch(list, -1) {
		listed[m[1]] = true
	}
	flags(new(natsserver.Options)).VisitAll(func(f *pflag.Flag) {
		if !listed[f.Name] {
			t.Errorf("the help has no --%s", f.Name)
		}
		delete(listed, f.Name)
	})
	if delete(listed, "help"); len(listed) > 0 {
		t.Errorf("flags of the help alone: %v", listed)
	}
	for line := range strings.Lines(help) {
		if len(line) > 81 {
			t.Errorf("beyond 80 columns: %s", line)
		}
	}
}

// TestLogin: a server that is alone lets in who has its login: commands of its user in any folder,
// one that began to wait before the server did, and whoever is given the address of its file.
func TestLogin(t *testing.T) {
	t.Parallel()
	ports, err := process.FreePorts(1)
	if err != nil {
		t.Fatal(err)
	}
	at, cache := "nats://127.0.0.1:"+ports[0], t.TempDir()
	site := wefttest.NewAsked(t, false, wefttest.Star)
	node, _ := wefttest.Command(t, "crawl", "--cluster", at, "--name", "docs", "--delay", "1h", "--allow-private", site.URL)
	node.Env = append(node.Env, "XDG_CACHE_HOME="+cache)
	node.Stderr = nil
	said, err := node.StderrPipe()
	if err == nil {
		err = node.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(said)
	says := func(words string) {
		t.Helper()
		for all := ""; ; all += lines.Text() + "\n" {
			if !lines.Scan() {
				t.Fatalf("no %q in %s", words, all)
			}
			if strings.Contains(lines.Text(), words) {
				return
			}
		}
	}
	says("no server answers")
	server, stderr := command(t, cache, "--listen 127.0.0.1:"+ports[0])
	begin(t, server)
	says("crawl docs begins")
	go io.Copy(io.Discard, said)
	status := func(address, cache string) string {
		t.Helper()
		e := wefttest.With(t, t.TempDir(), []string{"XDG_CACHE_HOME=" + cache}, "status", "--cluster", address, "--name", "docs")
		return e.Stdout + e.Stderr
	}
	if text := status(at, cache); !strings.HasPrefix(text, "docs: running") {
		t.Error(text)
	}
	if text := status(at, t.TempDir()); !strings.Contains(text, "the servers refuse the login") {
		t.Error(text)
	}
	file, err := os.ReadFile(server.Dir + "/weft.nats/login")
	if text := status(strings.TrimSpace(string(file)), t.TempDir()); err != nil || !strings.HasPrefix(text, "docs: running") {
		t.Error(err, text)
	}
	e := wefttest.With(t, t.TempDir(), []string{"XDG_CACHE_HOME=" + cache}, "ctl", "--cluster", at, "--name", "docs", "set", "delay=1ms")
	if err := node.Wait(); err != nil || e.Code != 0 {
		t.Errorf("%v, %+v", err, e)
	}
	end(t, server)
	if !strings.HasPrefix(stderr.String(), "weft-nats: whoever else joins needs the login in weft.nats/login\n") {
		t.Error(stderr)
	}
}
