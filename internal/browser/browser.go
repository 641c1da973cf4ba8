// Package browser drives Chromium in tests.
package browser

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"testing"
	"time"
)

// Browser is Chromium with a tab, driven over two pipes (Chrome DevTools Protocol). Its calls fail
// the test.
type Browser struct {
	t     *testing.T
	in    io.Writer
	out   *bufio.Reader
	id    int
	Tab   string // its session
	Frame string // the session of the last frame with a process of its own; "": none

	Requested []string // URLs that pages have asked for since Watch
	Failed    []string // of these, those that could not be loaded, and why
	watched   map[string]string
}

// Watch notes what pages ask for from now on.
func (b *Browser) Watch() {
	b.t.Helper()
	b.Requested, b.Failed, b.watched = nil, nil, make(map[string]string)
	b.Call(b.Tab, "Network.enable", nil, nil)
}

// note notes what a message says of a request.
func (b *Browser) note(m message) {
	var n struct {
		RequestID string
		Request   struct{ URL string }
		ErrorText string
	}
	if b.watched == nil || json.Unmarshal(m.Params, &n) != nil {
		return
	}
	switch m.Method {
	case "Network.requestWillBeSent":
		b.watched[n.RequestID] = n.Request.URL
		b.Requested = append(b.Requested, n.Request.URL)
	case "Network.loadingFailed":
		b.Failed = append(b.Failed, b.watched[n.RequestID]+": "+n.ErrorText)
	}
}

type message struct {
	ID        int             `json:"id"`
	SessionID string          `json:"sessionId"`
	Method    string          `json:"method"`
	Params    json.RawMessage `json:"params"`
	Result    json.RawMessage `json:"result"`
	Error     json.RawMessage `json:"error"`
}

// Start starts a browser that ends with the test, or skips the test where there is none.
func Start(t *testing.T, flags ...string) *Browser {
	t.Helper()
	// The shell shows a page as the full browser does, and starts in a third of its CPU time.
	program, err := exec.LookPath("chromium-headless-shell")
	if err != nil {
		program, err = exec.LookPath("chromium")
	}
	if err != nil {
		t.Skip("neither chromium-headless-shell nor chromium is installed")
	}
	ctx, stop := context.WithTimeout(context.Background(), 2*time.Minute) // a bound on a hang
	fromTest, toBrowser, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	fromBrowser, toTest, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(ctx, program, append(flags, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
		"--disable-background-networking", "--disable-component-update", "--disable-extensions", "--remote-debugging-pipe", "--user-data-dir="+t.TempDir())...)
	cmd.ExtraFiles = []*os.File{fromTest, toTest}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	fromTest.Close()
	toTest.Close()
	b := &Browser{t: t, in: toBrowser, out: bufio.NewReader(fromBrowser)}
	t.Cleanup(func() {
		b.Call("", "Browser.close", nil, nil)
		cmd.Wait()
		stop()
		toBrowser.Close()
		fromBrowser.Close()
	})
	var tab struct{ TargetID, SessionID string }
	b.Call("", "Target.createTarget", map[string]any{"url": "about:blank"}, &tab)
	b.Call("", "Target.attachToTarget", map[string]any{"targetId": tab.TargetID, "flatten": true}, &tab)
	b.Tab = tab.SessionID
	b.Call(b.Tab, "Target.setAutoAttach", map[string]any{"autoAttach": true, "waitForDebuggerOnStart": false, "flatten": true}, nil)
	b.Call(b.Tab, "Page.enable", nil, nil)
	return b
}

// receive returns the next message.
func (b *Browser) receive() (m message) {
	b.t.Helper()
	text, err := b.out.ReadBytes(0)
	if err == nil {
		err = json.Unmarshal(bytes.TrimSuffix(text, []byte{0}), &m)
	}
	if err != nil {
		b.t.Fatal("chromium: ", err)
	}
	var target struct {
		SessionID  string
		TargetInfo struct{ Type string }
	}
	if m.Method == "Target.attachedToTarget" && json.Unmarshal(m.Params, &target) == nil && target.TargetInfo.Type == "iframe" {
		b.Frame = target.SessionID
	}
	b.note(m)
	return m
}

// Call calls a method of the protocol, of a session, or of the browser: "".
func (b *Browser) Call(session, method string, params, result any) {
	b.t.Helper()
	b.id++
	text, err := json.Marshal(map[string]any{"id": b.id, "sessionId": session, "method": method, "params": params})
	if session == "" {
		text, err = json.Marshal(map[string]any{"id": b.id, "method": method, "params": params})
	}
	if err != nil {
		b.t.Fatal(err)
	}
	if _, err := b.in.Write(append(text, 0)); err != nil {
		b.t.Fatal(err)
	}
	for {
		switch m := b.receive(); {
		case m.ID != b.id:
		case m.Error != nil:
			b.t.Fatalf("%s: %s", method, m.Error)
		case result != nil:
			if err := json.Unmarshal(m.Result, result); err != nil {
				b.t.Fatal(err)
			}
			return
		default:
			return
		}
	}
}

// Open loads a page with all it contains.
func (b *Browser) Open(url string) {
	b.t.Helper()
	b.Frame = ""
	b.Call(b.Tab, "Page.navigate", map[string]any{"url": url}, nil)
	for m := b.receive(); m.Method != "Page.loadEventFired" || m.SessionID != b.Tab; m = b.receive() {
	}
}

// Run returns what a script in a session returns or promises, as text.
func (b *Browser) Run(session, script string) string {
	b.t.Helper()
	var r struct {
		Result struct {
			Value any
		}
		ExceptionDetails json.RawMessage
	}
	b.Call(session, "Runtime.evaluate", map[string]any{"expression": script, "awaitPromise": true, "returnByValue": true}, &r)
	if r.ExceptionDetails != nil {
		b.t.Fatalf("%s: %s", script, r.ExceptionDetails)
	}
	return fmt.Sprint(r.Result.Value)
}
