package mcp

import (
	"bufio"
	"fmt"
	"os/exec"
	"strings"
	"testing"

	"github.com/weftcrawl/weft/internal/wefttest"
)

// TestBadLines: whatever is not a call of a tool is answered with an error or not at all, and the
// next call has its answer; a line without end ends the command.
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
	go func() { // it need not be read to its end
		_, _ = fmt.Fprintf(in, `{"jsonrpc":"2.0","id":3,"method":"%s`, strings.Repeat("x", 2*mostLine))
		in.Close()
	}()
	for {
		line, err := out.ReadString('\n')
		if len(line) > 3000 {
			t.Errorf("%d bytes", len(line))
		}
		if err != nil {
			break
		}
	}
	_ = command.Wait() // the input has ended, or was refused
}
