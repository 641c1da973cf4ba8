//go:build linux

package main

import (
	"bufio"
	"bytes"
	"fmt"
	"net"
	"net/http"
	"strings"
	"syscall"
	"time"
)

// agent is a client of /mcp that leaves as much of the processor to the server as it can: it writes
// requests, and reads each answer to its end without taking its JSON apart.
type agent struct {
	conn   net.Conn
	in     *bufio.Reader
	host   string
	answer bytes.Buffer
}

func newAgent(server string) (*agent, error) {
	host := strings.TrimPrefix(server, "http://")
	conn, err := net.Dial("tcp", host)
	if err != nil {
		return nil, err
	}
	return &agent{conn: conn, in: bufio.NewReaderSize(conn, 64<<10), host: host}, nil
}

// read calls the tool read. The answer is good until the next call.
func (a *agent) read(id int, url string) ([]byte, error) {
	body := fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"read","arguments":{"url":%q}}}`, id, url)
	if _, err := fmt.Fprintf(a.conn, "POST /mcp HTTP/1.1\r\nHost: %s\r\nContent-Type: application/json\r\nAccept: application/json, text/event-stream\r\n"+
		"MCP-Protocol-Version: 2025-06-18\r\nContent-Length: %d\r\n\r\n%s", a.host, len(body), body); err != nil {
		return nil, err
	}
	resp, err := http.ReadResponse(a.in, nil)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	a.answer.Reset()
	if _, err := a.answer.ReadFrom(resp.Body); err != nil {
		return nil, err
	}
	if resp.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("%s: %s: %.300s", url, resp.Status, a.answer.Bytes())
	}
	return a.answer.Bytes(), nil
}

// ownCPU returns the CPU time of this process.
func ownCPU() time.Duration {
	var used syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &used) // of oneself it does not fail
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}
