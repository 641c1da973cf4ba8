package ctl_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/weftcrawl/weft/aio/aiotest"
	"github.com/weftcrawl/weft/internal/ctl"
)

// commands are the commands of the test servers.
var commands = map[string]ctl.Command{
	"echo": func(_ context.Context, args []string, reply func(any) error) error {
		for _, arg := range args {
			if err := reply(arg); err != nil {
				return err
			}
		}
		return nil
	},
	"fail": func(_ context.Context, _ []string, reply func(any) error) error {
		return errors.Join(reply("one"), errors.New("no more"))
	},
}

func serve(t *testing.T, dir string) *ctl.Server {
	t.Helper()
	s, err := ctl.Serve(dir, commands)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

func dial(t *testing.T, dir string) *ctl.Client {
	t.Helper()
	c, err := ctl.Dial(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// ask returns the values of a reply, and its error.
func ask(ctx context.Context, c *ctl.Client, command string, args ...string) (values []string, err error) {
	for v, err := range ctl.Ask[string](ctx, c, command, args...) {
		if err != nil {
			return values, err
		}
		values = append(values, v)
	}
	return values, nil
}

func TestAsk(t *testing.T) {
	aiotest.CheckLeaks(t)
	dir := t.TempDir()
	s := serve(t, dir)
	info, err := os.Lstat(filepath.Join(dir, ctl.Name))
	if err != nil || info.Mode() != fs.ModeSocket|0o600 {
		t.Errorf("socket: mode %v, error %v, expected one that only its owner may use", info.Mode(), err)
	}
	c := dial(t, dir)
	var asking sync.WaitGroup
	for i := range 20 {
		asking.Go(func() {
			args := []string{"", "ä&=\n\x00", fmt.Sprint(i)}
			if got, err := ask(t.Context(), c, "echo", args...); err != nil || !slices.Equal(got, args) {
				t.Errorf("%q, error %v", got, err)
			}
		})
	}
	asking.Wait()
	var failed *ctl.Error
	if got, err := ask(t.Context(), c, "fail"); len(got) != 1 || !errors.As(err, &failed) || failed.Text != "no more" {
		t.Errorf("%q, error %v", got, err)
	}
	if _, err := ask(t.Context(), c, "dance"); !errors.As(err, &failed) || !strings.Contains(err.Error(), `"dance"`) {
		t.Errorf("an unknown command: %v", err)
	}
	if _, err := ask(t.Context(), c, "echo", strings.Repeat("x", 9<<20)); err == nil {
		t.Error("9 MiB were taken")
	}
	for v, err := range ctl.Ask[int](t.Context(), c, "echo", "one") {
		if err == nil {
			t.Errorf("a text was read as the number %d", v)
		}
	}
	s.Close()
	if names, _ := os.ReadDir(dir); len(names) > 0 {
		t.Errorf("left behind: %v", names)
	}
	if _, err := ask(t.Context(), c, "echo"); !errors.Is(err, ctl.ErrNobody) {
		t.Errorf("sent after the end: %v", err)
	}
	if _, err := ctl.Dial(t.Context(), dir); !errors.Is(err, ctl.ErrNobody) {
		t.Errorf("dialled after the end: %v", err)
	}
}

// TestOnlyPost: only POST runs a command.
func TestOnlyPost(t *testing.T) {
	dir := t.TempDir()
	serve(t, dir)
	client := http.Client{Transport: &http.Transport{
		DialContext: func(context.Context, string, string) (net.Conn, error) {
			return net.Dial("unix", filepath.Join(dir, ctl.Name))
		}, DisableKeepAlives: true}}
	res, err := client.Get("http://weft/v1/echo?" + url.Values{"arg": {"x"}}.Encode())
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	if body, _ := io.ReadAll(res.Body); res.StatusCode != http.StatusMethodNotAllowed || strings.Contains(string(body), "value") {
		t.Errorf("GET: %s, %q", res.Status, body)
	}
}

// TestStale: nobody listens on the socket of a killed process, and the next server replaces it;
// likewise the remains of one that was killed while making it.
func TestStale(t *testing.T) {
	dir := t.TempDir()
	ln, err := net.ListenUnix("unix", &net.UnixAddr{Name: filepath.Join(dir, ctl.Name)})
	if err != nil {
		t.Fatal(err)
	}
	ln.SetUnlinkOnClose(false)
	if err := errors.Join(ln.Close(), os.Mkdir(filepath.Join(dir, ctl.Name+".new"), 0o700)); err != nil {
		t.Fatal(err)
	}
	if _, err := ctl.Dial(t.Context(), dir); !errors.Is(err, ctl.ErrNobody) {
		t.Errorf("dialled: %v", err)
	}
	serve(t, dir)
	if got, err := ask(t.Context(), dial(t, dir), "echo", "x"); err != nil || len(got) != 1 {
		t.Errorf("%q, error %v", got, err)
	}
}

// TestLongPath: a folder's path may be longer than a socket's.
func TestLongPath(t *testing.T) {
	dir := filepath.Join(t.TempDir(), strings.Repeat("long", 50))
	if err := os.Mkdir(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	if runtime.GOOS != "linux" {
		if _, err := ctl.Serve(dir, commands); err == nil || !strings.Contains(err.Error(), "expected at most") {
			t.Errorf("error %v", err)
		}
		return
	}
	serve(t, dir)
	if got, err := ask(t.Context(), dial(t, dir), "echo", "x"); err != nil || len(got) != 1 {
		t.Errorf("%q, error %v", got, err)
	}
}

// TestOtherProtocol: a client of another protocol learns which one it met.
func TestOtherProtocol(t *testing.T) {
	dir := t.TempDir()
	ln, err := net.Listen("unix", filepath.Join(dir, ctl.Name))
	if err != nil {
		t.Fatal(err)
	}
	later := &httptest.Server{Listener: ln, Config: &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Weft-Protocol", "2")
		w.WriteHeader(http.StatusNotFound)
	})}}
	later.Start()
	defer later.Close()
	if _, err := ask(t.Context(), dial(t, dir), "status"); !errors.Is(err, ctl.ErrProtocol) || !strings.Contains(err.Error(), `speaks "2", this is 1`) {
		t.Errorf("error %v", err)
	}
}

// TestHead: the response header comes before the first value.
func TestHead(t *testing.T) {
	dir := t.TempDir()
	begin := make(chan bool)
	s, err := ctl.Serve(dir, map[string]ctl.Command{
		"late": func(_ context.Context, _ []string, reply func(any) error) error {
			<-begin
			return reply("x")
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	client := http.Client{Timeout: 10 * time.Second, Transport: &http.Transport{
		DialContext: func(context.Context, string, string) (net.Conn, error) {
			return net.Dial("unix", filepath.Join(dir, ctl.Name))
		}, DisableKeepAlives: true}}
	res, err := client.Post("http://weft/v1/late", "application/x-www-form-urlencoded", nil)
	close(begin)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	if body, err := io.ReadAll(res.Body); string(body) != `{"value":"x"}`+"\n" || err != nil {
		t.Errorf("%q, %v", body, err)
	}
}

// TestCloseWhileReplying: a client that does not read its reply does not hold up Close, and waiting
// clients get an error.
func TestCloseWhileReplying(t *testing.T) {
	aiotest.CheckLeaks(t)
	dir := t.TempDir()
	s, err := ctl.Serve(dir, map[string]ctl.Command{
		"forever": func(_ context.Context, _ []string, reply func(any) error) error {
			for {
				if err := reply(strings.Repeat("x", 1000)); err != nil {
					return err
				}
			}
		},
		"wait": func(ctx context.Context, _ []string, _ func(any) error) error {
			<-ctx.Done()
			return ctx.Err()
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	c := dial(t, dir)
	var waiting sync.WaitGroup
	waiting.Go(func() {
		if _, err := ask(t.Context(), c, "wait"); err == nil {
			t.Error("an interrupted command has a reply")
		}
	})
	var last error
	for _, err := range ctl.Ask[string](t.Context(), c, "forever") {
		s.Close()
		last = err
	}
	if last == nil || !strings.Contains(last.Error(), "ended during its reply") {
		t.Errorf("the end of an interrupted reply: %v", last)
	}
	waiting.Wait()
}

// TestWait: a command that waits ends when its client leaves, or at once when the server closes;
// its reply has arrived by then.
func TestWait(t *testing.T) {
	aiotest.CheckLeaks(t)
	dir := t.TempDir()
	left := make(chan bool, 1)
	s, err := ctl.Serve(dir, map[string]ctl.Command{
		"hold": func(ctx context.Context, _ []string, reply func(any) error) error {
			err := reply("x")
			ctl.Wait(ctx)
			left <- true
			return err
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	c := dial(t, dir)
	for range ctl.Ask[string](t.Context(), c, "hold") {
		break
	}
	<-left
	for _, err := range ctl.Ask[string](t.Context(), c, "hold") {
		if err != nil {
			t.Error(err)
		}
		s.Close()
		<-left
	}
}

// TestForeignSocket: what is no socket of the job itself is not connected to.
func TestForeignSocket(t *testing.T) {
	dir := t.TempDir()
	other, err := net.Listen("unix", filepath.Join(dir, "other.sock"))
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	if err := os.Symlink("other.sock", filepath.Join(dir, ctl.Name)); err != nil {
		t.Fatal(err)
	}
	if _, err := ctl.Dial(t.Context(), dir); !errors.Is(err, ctl.ErrNobody) {
		t.Errorf("%v, expected %v", err, ctl.ErrNobody)
	}
}
