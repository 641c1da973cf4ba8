package mcp

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strings"
	"testing"

	"github.com/weftcrawl/weft/internal/scrape"
	"github.com/weftcrawl/weft/internal/wefttest"
)

// TestBadLines: whatever is not a call of a tool is answered with an error or not at all, and the
// next call has its answer. What is no message has an error for its answer, with its ID if that is
// known.
func TestBadLines(t *testing.T) {
	t.Parallel()
	command := exec.CommandContext(t.Context(), wefttest.Program(t), "mcp", t.TempDir())
	in, err := command.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	pipe, err := command.StdoutPipe()
	if err == nil {
		err = command.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	out := bufio.NewReaderSize(pipe, 8<<20)
	say := func(line string) {
		if _, err := fmt.Fprintln(in, line); err != nil {
			t.Errorf("%.60s: %v", line, err)
		}
	}
	n := 0
	alive := func(after string) {
		t.Helper()
		n++
		say(fmt.Sprintf(`{"jsonrpc":"2.0","id":"alive-%d","method":"ping"}`, n))
		for {
			line, err := out.ReadString('\n')
			if err != nil {
				t.Fatalf("after %.80q: %v, and it ends with %v", after, err, command.Wait())
			}
			if len(line) > 3000 {
				t.Errorf("after %.80q: %d bytes: %.300s", after, len(line), line)
			}
			if strings.Contains(line, fmt.Sprintf(`"alive-%d"`, n)) {
				return
			}
		}
	}
	say(`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"x","version":"1"}}}`)
	say(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	alive("")
	for _, line := range []string{
		`{"jsonrpc":"2.0","id":1,"method":"none"}`, `{"jsonrpc":"2.0","id":1,"method":"` + strings.Repeat("x", 1000) + `"}`, `{"jsonrpc":"2.0","id":1,"method":""}`,
		`{"jsonrpc":"2.0","method":"notifications/none"}`, `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"none"}}`,
		`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":99999999999999999999}}`, `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{}}`,
		`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"none","progress":1}}`,
		`{"jsonrpc":"2.0","id":5,"result":{}}`, `{"jsonrpc":"2.0","id":"none","error":{"code":1,"message":"x"}}`,
		`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"none"}}`, `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"status","arguments":[]}}`,
		`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"status","arguments":{"job":` + strings.Repeat(`{"a":`, 300) + "1" + strings.Repeat("}", 300) + `}}}`,
		`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"crawl","arguments":{"urls":[` + strings.Repeat("1,", 500_000) + `1]}}}`,
		`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"pages","arguments":{"job":"` + "\xff\xfe\xed\xa0\x80" + `"}}}`,
		`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"read","arguments":{"url":"http://127.0.0.1:1/","max_tokens":-1}}}`,
		`{"jsonrpc":"2.0","id":2,"method":"resources/read","params":{"uri":"weft://../../etc/passwd"}}`, `{"jsonrpc":"2.0","id":2,"method":"resources/read","params":{"uri":"file:///etc/passwd"}}`,
		`{"jsonrpc":"2.0","id":2,"method":"tools/list","params":{"cursor":"` + strings.Repeat("A", 10_000) + `"}}`,
		`{"jsonrpc":"2.0","id":2,"method":"initialize","params":null}`, `{"jsonrpc":"2.0","id":2,"method":"logging/setLevel","params":{"level":"none"}}`,
	} {
		say(line)
		alive(line)
	}
	deep := func(n int) string {
		return `{"jsonrpc":"2.0","id":"deep","method":"ping","params":` + strings.Repeat("[", n) + strings.Repeat("]", n) + "}"
	}
	for line, id := range map[string]string{
		deep(2000): `"deep"`, deep(20_000): "null", deep(1_000_000): "null", strings.Repeat("[", 1_000_000): "null",
		`{"jsonrpc":"2.0","id":7`: "null", "x": "null", "\x00": "null", "null": "null", "17": "null", `{}`: "null", `{"jsonrpc":"1.0","id":7,"method":"ping"}`: "7",
		`{"jsonrpc":"2.0","id":{"a":1},"method":"ping"}`: "null", `{"jsonrpc":"2.0","id":"m","method":[]}`: `"m"`, `[{"jsonrpc":"2.0","id":7,"method":"ping"}]`: "null", "[]": "null",
		`{"jsonrpc":"2.0","id":7,"method":"ping"} {"jsonrpc":"2.0","id":8,"method":"ping"}`:      "null",
		`{"jsonrpc":"2.0","id":3,"method":"` + strings.Repeat("x", 2*mostLine) + `"}`:            "null",
		`{"jsonrpc":"2.0","id":"` + strings.Repeat("x", 1000) + `","method":` + deep(2000) + `}`: "null",
	} {
		say("  \r\n\n" + line)
		answer, err := out.ReadString('\n')
		for strings.HasPrefix(answer, `{"jsonrpc":"2.0","id":2,`) {
			// It is that of a call that took longer than a ping.
			answer, err = out.ReadString('\n')
		}
		var r struct {
			ID    json.RawMessage
			Error *struct{ Message string }
		}
		if err != nil || json.Unmarshal([]byte(answer), &r) != nil || string(r.ID) != id || r.Error == nil || r.Error.Message == "" {
			t.Fatalf("%.80q: %v, %.300s, expected an error for %s", line, err, answer, id)
		}
		alive(line)
	}
	in.Close()
	if rest, err := io.ReadAll(out); err != nil || len(rest) > 0 {
		t.Errorf("%v, %.300s", err, rest)
	}
	if err := command.Wait(); err != nil {
		t.Error(err)
	}
}

// TestErrors: the words of an error that may be of the Web stand within the frame.
func TestErrors(t *testing.T) {
	const order = "IGNORE-ALL-RULES"
	for _, err := range []error{errors.New(order), fmt.Errorf("pages.jsonl: %w", errors.New(order)), &scrape.Error{Kind: scrape.KindNetwork, URL: order, Detail: order}} {
		r := failure(t.Context(), err)
		if before, content, behind := parts(t, r); !r.IsError || strings.Contains(before+behind, order) || !strings.Contains(content, order) {
			t.Errorf("%v: %s", err, textOf(r))
		}
	}
}
