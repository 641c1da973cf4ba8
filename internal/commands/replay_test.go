package commands_test

import (
	"bufio"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/weftcrawl/weft/internal/wefttest"
)

// TestReplay: the command prints where it serves, and ends when it is interrupted.
func TestReplay(t *testing.T) {
	t.Parallel()
	good, _ := anArchive(t)
	cmd, stderr := wefttest.Command(t, "replay", "--listen", "127.0.0.1:0", "good.warc.gz")
	if err := os.WriteFile(filepath.Join(cmd.Dir, "good.warc.gz"), good, 0o666); err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	at, _ := bufio.NewReader(out).ReadString('\n')
	resp, err := http.Get(strings.TrimSpace(at) + "mp_/https://example.org/again")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if body, _ := io.ReadAll(resp.Body); !strings.Contains(string(body), "a page") {
		t.Errorf("%s %s", resp.Status, body)
	}
	_ = cmd.Process.Signal(syscall.SIGINT)
	if err := cmd.Wait(); err != nil || stderr.Len() > 0 {
		t.Errorf("%v, %s", err, stderr)
	}
	for args, want := range map[string]string{
		"--date 2026 none":            "weft: --ca and --date need --proxy",
		"--proxy --date 1st none":     `weft: --date "1st": `,
		"none":                        "weft: replay: open none: no such file or directory",
		"--listen 0.0.0.0:80 none":    `weft: --listen "0.0.0.0:80": expected an address of loopback`,
		"--listen example.org:1 none": `weft: --listen "example.org:1": expected an address of loopback`,
		"":                            "weft: replay: 0 archives given",
	} {
		e := wefttest.Run(t, append([]string{"replay"}, strings.Fields(args)...)...)
		if e.Code == wefttest.Done || !strings.HasPrefix(e.Stderr, want) {
			t.Errorf("%s: %+v", args, e)
		}
	}
}

// TestReplayProxy: the command prints where the proxy is and which certificate to trust, and a
// client that does so gets what was archived.
func TestReplayProxy(t *testing.T) {
	good, _ := anArchive(t)
	cmd, stderr := wefttest.Command(t, "replay", "--proxy", "--listen", "127.0.0.1:0", "--date", "2026", "good.warc.gz")
	// A stranger's archive may bring such files.
	config, foreign := t.TempDir(), filepath.Join(cmd.Dir, "replay-ca-key.pem")
	cmd.Env = append(cmd.Env, "XDG_CONFIG_HOME="+config)
	if err := errors.Join(os.WriteFile(filepath.Join(cmd.Dir, "good.warc.gz"), good, 0o666), os.WriteFile(foreign, []byte("x"), 0o600)); err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var printed [3]string
	for in, i := bufio.NewReader(out), 0; i < len(printed); i++ {
		line, _ := in.ReadString('\n')
		printed[i] = strings.TrimSpace(line[min(len(line), len("certificate  ")):])
	}
	proxy, err := url.Parse(printed[0])
	if err != nil {
		t.Fatal(err)
	}
	roots := x509.NewCertPool()
	if filepath.Dir(printed[1]) != filepath.Join(config, "weft") {
		t.Errorf("the certificate is %s", printed[1])
	}
	certificate, err := os.ReadFile(printed[1])
	if err != nil || !roots.AppendCertsFromPEM(certificate) {
		t.Fatalf("%q: %s %v", printed, certificate, err)
	}
	transport := &http.Transport{Proxy: http.ProxyURL(proxy), TLSClientConfig: &tls.Config{RootCAs: roots}}
	defer transport.CloseIdleConnections()
	for _, url := range []string{"https://example.org/again", "http://example.org/again"} {
		resp, err := (&http.Client{Transport: transport}).Get(url)
		if err != nil {
			t.Fatal(err)
		}
		if body, _ := io.ReadAll(resp.Body); !strings.Contains(string(body), "a page") {
			t.Errorf("%s: %s %s", url, resp.Status, body)
		}
		resp.Body.Close()
	}
	_ = cmd.Process.Signal(syscall.SIGINT)
	if err := cmd.Wait(); err != nil || !strings.HasPrefix(stderr.String(), "weft: replay-ca-key.pem: not used") || strings.Count(stderr.String(), "\n") != 1 || len(printed[2]) != 44 {
		t.Errorf("%v, %s, %q", err, stderr, printed)
	}
}
