//go:build interop

package mcp

import (
	"bufio"
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/weftcrawl/weft/internal/wefttest"
)

// TestOthersClients: the protocol's own programs get on with the server. WEFT_MCP names a folder in
// which npm has installed them: script/interop.
func TestOthersClients(t *testing.T) {
	dir := os.Getenv("WEFT_MCP")
	if dir == "" {
		t.Fatal("WEFT_MCP is not set")
	}
	bin := func(name string) string { return filepath.Join(dir, "node_modules", ".bin", name) }
	run := func(args ...string) string {
		t.Helper()
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
		defer cancel()
		command := exec.CommandContext(ctx, args[0], args[1:]...)
		command.Dir = t.TempDir()
		command.Stderr = t.Output()
		out, err := command.Output()
		if err != nil {
			t.Errorf("%q: %v: %.3000s", args, err, out)
		}
		return string(out)
	}
	page := site(t, map[string]string{"/": kettles})
	inspector := []string{bin("mcp-inspector"), "--cli", wefttest.Program(t), "mcp", "--allow-private", t.TempDir(), "--method"}
	var list struct {
		Tools []struct {
			Name        string
			InputSchema struct{ Type string }
		}
	}
	if text := run(append(inspector, "tools/list")...); json.Unmarshal([]byte(text), &list) != nil || len(list.Tools) < 10 {
		t.Errorf("%.2000s", text)
	}
	if text := run(append(inspector, "tools/call", "--tool-name", "read", "--tool-arg", "url="+page)...); !strings.Contains(text, "# Kettles") {
		t.Errorf("%.2000s", text)
	}
	if text := run(append(inspector, "resources/templates/list")...); !strings.Contains(text, "weft://{job}/{+url}") {
		t.Errorf("%.2000s", text)
	}
	served, stderr := wefttest.Command(t, "serve", "--listen", "127.0.0.1:0", t.TempDir())
	out, err := served.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := served.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = served.Process.Signal(os.Interrupt)
		_ = served.Wait()
	})
	url, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatalf("%v: %s", err, stderr)
	}
	// Without sessions there are no streams to check: ADR 53.
	for _, scenario := range []string{"server-initialize", "ping", "tools-list", "resources-list", "dns-rebinding-protection"} {
		text := run(bin("conformance"), "server", "--url", strings.TrimSpace(url)+"mcp", "--scenario", scenario)
		if strings.Contains(text, "FAILURE") || strings.Contains(text, "0/0") {
			t.Errorf("%s: %.3000s", scenario, text)
		}
	}
}
