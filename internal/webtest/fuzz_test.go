package webtest

import (
	"strings"
	"testing"

	"golang.org/x/net/dns/dnsmessage"
)

// FuzzRequest: parseRequest never returns words with spaces or line ends.
func FuzzRequest(f *testing.F) {
	f.Add([]byte("GET / HTTP/1.1\r\nHost: x\r\nAccept-Encoding: gzip\r\nConnection: close\r\n\r\n"))
	f.Add([]byte("\r\n\r\n"))
	f.Fuzz(func(t *testing.T, head []byte) {
		req := parseRequest(head)
		if strings.ContainsAny(req.method+req.target, " ") || strings.Contains(req.host, "\r\n") {
			t.Errorf("%+v", req)
		}
	})
}

// FuzzNameServer: the reply to any message is none, or an answer to it.
func FuzzNameServer(f *testing.F) {
	w, err := New(Config{Hosts: 10})
	if err != nil {
		f.Fatal(err)
	}
	s := &NameServer{web: w}
	s.mu.asked = make(map[int]int)
	question := dnsmessage.Message{
		Header:    dnsmessage.Header{ID: 7},
		Questions: []dnsmessage.Question{{Name: dnsmessage.MustNewName(w.Name(0) + "."), Type: dnsmessage.TypeA, Class: dnsmessage.ClassINET}},
	}
	message, err := question.Pack()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(message)
	f.Fuzz(func(t *testing.T, message []byte) {
		reply := s.reply(message)
		if reply == nil {
			return
		}
		var p dnsmessage.Parser
		h, err := p.Start(reply)
		if err != nil || !h.Response || h.ID != uint16(message[0])<<8|uint16(message[1]) {
			t.Errorf("%x: %x: %+v, %v", message, reply, h, err)
		}
	})
}

// TestReply distinguishes what resolvers do not: a name that does not exist, and a name without
// such records.
func TestReply(t *testing.T) {
	w, err := New(Config{Hosts: 10})
	if err != nil {
		t.Fatal(err)
	}
	s := &NameServer{web: w}
	s.mu.asked = make(map[int]int)
	for _, tt := range []struct {
		name    string
		kind    dnsmessage.Type
		op      dnsmessage.OpCode
		rcode   dnsmessage.RCode
		answers int
	}{
		{w.Name(0), dnsmessage.TypeA, 0, dnsmessage.RCodeSuccess, 1},
		{w.Name(0), dnsmessage.TypeAAAA, 0, dnsmessage.RCodeSuccess, 0},
		{w.Name(0), dnsmessage.TypeMX, 0, dnsmessage.RCodeSuccess, 0},
		{w.Name(0), dnsmessage.TypeA, 4, dnsmessage.RCodeNotImplemented, 0},
		{"x.test", dnsmessage.TypeA, 0, dnsmessage.RCodeNameError, 0},
		{"x.test", dnsmessage.TypeAAAA, 0, dnsmessage.RCodeNameError, 0},
	} {
		question := dnsmessage.Message{
			Header:    dnsmessage.Header{ID: 7, OpCode: tt.op, RecursionDesired: true},
			Questions: []dnsmessage.Question{{Name: dnsmessage.MustNewName(tt.name + "."), Type: tt.kind, Class: dnsmessage.ClassINET}},
		}
		message, err := question.Pack()
		if err != nil {
			t.Fatal(err)
		}
		var got dnsmessage.Message
		if err := got.Unpack(s.reply(message)); err != nil {
			t.Fatal(err)
		}
		if got.ID != 7 || !got.RecursionAvailable || got.RCode != tt.rcode || len(got.Answers) != tt.answers || len(got.Questions) != 1 {
			t.Errorf("%s %v: %+v, expected %v and %d answers", tt.name, tt.kind, got, tt.rcode, tt.answers)
		}
	}
}
