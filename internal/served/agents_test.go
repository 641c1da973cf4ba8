package served

import (
	"encoding/json"
	"strings"
	"testing"
)

// agent calls a method at /mcp.
func (s *server) agent(method, params string) (int, string) {
	s.t.Helper()
	return s.ask("POST", "/mcp", json.RawMessage(`{"jsonrpc":"2.0","id":1,"method":"`+method+`","params":`+params+`}`), nil, "Accept", "application/json, text/event-stream", "MCP-Protocol-Version", "2025-06-18")
}

// TestAgents: agents call tools at /mcp, as far as their tokens allow.
func TestAgents(t *testing.T) {
	t.Parallel()
	web, _ := site(t, 3)
	s := serve(t, t.TempDir(), "--allow-private")
	if status, text := s.agent("tools/list", `{}`); status != 200 || strings.Count(text, `"inputSchema"`) != 10 {
		t.Errorf("%d %s", status, text)
	}
	if status, text := s.agent("tools/call", `{"name":"read","arguments":{"url":"`+web.URL+`/2"}}`); status != 200 || !strings.Contains(text, "The text of page 2.") || !strings.Contains(text, "Untrusted content") {
		t.Errorf("%d %s", status, text)
	}
	if status, text := s.agent("tools/call", `{"name":"crawl","arguments":{"urls":["`+web.URL+`"],"limit":2}}`); status != 200 || !strings.Contains(text, "has the name") {
		t.Errorf("%d %s", status, text)
	}
}
