package http2

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	xhttp2 "golang.org/x/net/http2"

	"github.com/weftcrawl/weft/internal/http2/http2test"
)

// act is a connection with its streams.
type act struct {
	*judged
	*server
	program http2test.Program
	now     time.Time
	all     []*reports
}

// pass lets the client read what the server has sent, frame by frame, and send what that leads to.
// It reports whether the connection is open.
func (a *act) pass() bool {
	for b := a.server.sent(); len(b) > 0; {
		n := min(len(b), headLen+int(binary.BigEndian.Uint32(b)>>8))
		err := a.Feed(b[:n], a.now)
		a.Output()
		if err != nil {
			return false
		}
		b = b[n:]
	}
	a.Output()
	return true
}

// seldom is true seldom: what ends a connection would end most programs soon.
func seldom(p *http2test.Program) bool { return p.Next() == 77 }

// id returns the id of a stream that was opened, seldom of another.
func (a *act) id() uint32 {
	if len(a.all) == 0 || seldom(&a.program) {
		return http2test.OneOf[uint32](&a.program, 1, 0, 2, 99, maxID)
	}
	return http2test.OneOf(&a.program, a.all...).stream.id
}

// client does something of the client's.
func (a *act) client() {
	switch a.program.Next() % 4 {
	case 0, 1:
		r := &reports{grants: a.program.Next()%2 == 0}
		request, body := get, []byte(nil)
		if a.program.Next()%3 == 0 {
			request, body = append([]Field{{Name: ":method", Value: "POST"}}, get[1:]...), make([]byte, 500*a.program.Next())
		}
		request = append(request[:len(request):len(request)], Field{Name: "x", Value: fmt.Sprint(a.program.Next())})
		if s, err := a.Open(request, body, r); err == nil {
			r.stream = s
			a.all = append(a.all, r)
		}
	case 2:
		if len(a.all) > 0 {
			r := a.all[a.program.Next()%len(a.all)]
			r.canceled = r.canceled || !r.ended && r.failed == nil
			r.stream.Cancel()
		}
	case 3:
		if len(a.all) > 0 {
			http2test.OneOf(&a.program, a.all...).stream.Grant(http2test.OneOf(&a.program, 1, 1000, 1<<20, maxWindow))
		}
	}
	a.Output()
}

// serve does something of the server's.
func (a *act) serve() {
	f, p := a.server.f, &a.program
	what := p.Next() % 12
	if what < 6 && len(a.all) == 0 {
		what = 7
	}
	switch what {
	case 0, 1:
		a.server.headers(a.id(), p.Next()%3 == 0, ":status", http2test.OneOf(p, "200", "200", "404", "103", "304"), "content-length", http2test.OneOf(p, "0", "5", "20000"))
	case 2:
		a.server.headers(a.id(), p.Next()%3 == 0, ":status", "200")
	case 3, 4:
		f.WriteData(a.id(), p.Next()%3 == 0, make([]byte, http2test.OneOf(p, 0, 1, 5, 1000, 16384)))
	case 5:
		f.WriteDataPadded(a.id(), p.Next()%3 == 0, make([]byte, p.Next()), make([]byte, p.Next()))
	case 6:
		f.WriteWindowUpdate(a.id()*uint32(p.Next()%2), http2test.OneOf[uint32](p, 1, 1000, 100_000))
		if seldom(p) {
			f.WriteWindowUpdate(a.id(), http2test.OneOf[uint32](p, 0, 1<<30, 1<<31-1))
		}
	case 7:
		id, value := xhttp2.SettingID(p.Next()%8), http2test.OneOf[uint32](p, 0, 1, 2, 100, 4096, 20000, 65535)
		switch {
		case seldom(p):
			value = http2test.OneOf[uint32](p, 1<<24-1, 1<<31-1, 1<<32-1)
		case id == xhttp2.SettingMaxFrameSize:
			value = max(value, 16384)
		case id == xhttp2.SettingEnablePush:
			value = 0
		}
		f.WriteSettings(xhttp2.Setting{ID: id, Val: value})
	case 8:
		f.WritePing(p.Next()%4 == 0, [8]byte{byte(p.Next())})
	case 9:
		f.WriteRSTStream(a.id(), xhttp2.ErrCode(p.Next()%14))
	case 10:
		switch {
		case seldom(p):
			f.WriteGoAway(http2test.OneOf[uint32](p, maxID, 9, 3, 0), xhttp2.ErrCode(p.Next()%14), nil)
		case seldom(p) || len(a.all) == 0:
			f.WriteRawFrame(xhttp2.FrameType(p.Next()%12), xhttp2.Flags(p.Next()), a.id(), make([]byte, p.Next()))
		default:
			id, block := a.id(), a.server.fields(":status", "200")
			f.WriteHeaders(xhttp2.HeadersFrameParam{StreamID: id, BlockFragment: block[:0], EndStream: p.Next()%2 == 0})
			f.WriteContinuation(id, true, block)
		}
	case 11:
		a.now = a.now.Add(time.Second)
	}
}

// FuzzFrames: whatever a server sends, and whatever is done meanwhile, we send nothing that RFC
// 9113 does not allow, and each receiver is told once how its exchange ended.
func FuzzFrames(f *testing.F) {
	random := rand.New(rand.NewPCG(20, 26))
	for range 100 {
		b := make([]byte, 1000)
		for i := range b {
			b[i] = byte(random.Uint32())
		}
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		a := &act{judged: judge(t, Options{Window: 20_000, ConnWindow: 70_000}), server: newServer(t), program: b, now: time.Unix(0, 0)}
		a.referee.Prompt = true
		a.server.f.WriteSettings()
		open := true
		if a.program.Next()%4 == 0 {
			a.client() // before the settings are there
		}
		for open = a.pass(); open && len(a.program) > 0; open = a.pass() {
			if a.program.Next()%3 == 0 {
				a.client()
			} else {
				a.serve()
			}
		}
		a.EOF()
		for i, r := range a.all {
			if over := r.ended || r.failed != nil; over == r.canceled || r.ended && r.failed != nil {
				t.Errorf("exchange %d: ended %t, canceled %t, %v", i, r.ended, r.canceled, r.failed)
			}
		}
	})
}
