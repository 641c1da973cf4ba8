package render

import (
	"bufio"
	"context"
	"errors"
	"io"
	"os"
	"strings"
	"testing"
	"time"
)

// TestConn: replies and events arrive in order, a reply that is too long is an error of its command
// alone, and a browser that ends, or says what is no JSON, ends every wait.
func TestConn(t *testing.T) {
	t.Parallel()
	fromBrowser, browser, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	commands, in, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	events := make(chan string, 10)
	c := newConn(fromBrowser, in, 1<<20, func(m *message) { events <- m.Method + string(m.Params) })
	read := bufio.NewReader(commands)
	answer := func(want string, replies ...string) {
		text, err := read.ReadString(0)
		if err != nil || text != want+"\x00" {
			t.Errorf("command %q, %v, expected %s", text, err, want)
		}
		for _, r := range replies {
			io.WriteString(browser, r+"\x00")
		}
	}
	var result struct{ X int }
	go answer(`{"id":1,"method":"A","sessionId":"s","params":{"y":2}}`, `{"method":"E","params":{}}`, `{"id":1,"result":{"x":3}}`)
	if err := c.call(t.Context(), "s", "A", map[string]int{"y": 2}, &result); err != nil || result.X != 3 || <-events != "E{}" {
		t.Errorf("%+v, %v", result, err)
	}
	go func() {
		answer(`{"id":2,"method":"B"}`)
		io.WriteString(browser, `{"id":2,"result":{"text":"`+strings.Repeat("x", 1<<20)+`"}}`+"\x00"+`{"method":"F"}`+"\x00")
	}()
	if err := c.call(t.Context(), "", "B", nil, nil); !errors.Is(err, errHuge) || <-events != "F" {
		t.Errorf("a long reply: %v", err)
	}
	go answer(`{"id":3,"method":"C"}`, `{"id":3,"error":{"code":-1,"message":"no such thing"}}`)
	if err := c.call(t.Context(), "", "C", nil, nil); err == nil || err.Error() != "C: no such thing" {
		t.Errorf("a refusal: %v", err)
	}
	go answer(`{"id":4,"method":"D","sessionId":"s"}`, `{"method":"Inspector.targetCrashed","sessionId":"s"}`)
	if err := c.call(t.Context(), "s", "D", nil, nil); KindOf(err) != KindCrash {
		t.Errorf("a tab that crashes in a call: %v", err)
	}
	if err := c.call(t.Context(), "s", "D", nil, nil); <-events == "" || KindOf(err) != KindCrash {
		t.Errorf("a call of a tab that has crashed: %v", err)
	}
	ctx, cancel := context.WithTimeoutCause(t.Context(), time.Millisecond, errLate)
	defer cancel()
	if err := c.call(ctx, "", "D", nil, nil); !errors.Is(err, errLate) {
		t.Errorf("no reply: %v", err)
	}
	go answer(`{"id":5,"method":"D"}`, "no JSON")
	<-c.ended
	if err := c.call(t.Context(), "", "E", nil, nil); err == nil {
		t.Error("a command after the end")
	}
}
