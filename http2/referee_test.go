package http2

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	xhttp2 "golang.org/x/net/http2"
)

// program is what a client and a server do, a byte after the other. It is all zeros at its end.
type program []byte

func (p *program) next() int {
	if len(*p) == 0 {
		return 0
	}
	b := (*p)[0]
	*p = (*p)[1:]
	return int(b)
}

// of returns one of several.
func of[T any](p *program, all ...T) T { return all[p.next()%len(all)] }

// act is a connection with its streams.
type act struct {
	*judged
	*server
	program
	now time.Time
	all []*told
}

// pass lets the client read what the server has sent, frame by frame, and send what that leads to. It
// reports whether the connection is open.
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
func (p *program) seldom() bool { return p.next() == 77 }

// id returns the id of a stream that was opened, seldom of another.
func (a *act) id() uint32 {
	if len(a.all) == 0 || a.program.seldom() {
		return of[uint32](&a.program, 1, 0, 2, 99, maxID)
	}
	return of(&a.program, a.all...).stream.id
}

// client does something of the client's.
func (a *act) client() {
	switch a.program.next() % 4 {
	case 0, 1:
		r := &told{grants: a.program.next()%2 == 0}
		request, body := get, []byte(nil)
		if a.program.next()%3 == 0 {
			request, body = append([]Field{{Name: ":method", Value: "POST"}}, get[1:]...), make([]byte, 500*a.program.next())
		}
		request = append(request[:len(request):len(request)], Field{Name: "x", Value: fmt.Sprint(a.program.next())})
		if s, err := a.Open(request, body, r); err == nil {
			r.stream = s
			a.all = append(a.all, r)
		}
	case 2:
		if len(a.all) > 0 {
			r := a.all[a.program.next()%len(a.all)]
			r.canceled = r.canceled || !r.ended && r.failed == nil
			r.stream.Cancel()
		}
	case 3:
		if len(a.all) > 0 {
			of(&a.program, a.all...).stream.Grant(of(&a.program, 1, 1000, 1<<20, maxWindow))
		}
	}
	a.Output()
}

// serve does something of the server's.
func (a *act) serve() {
	f, p := a.server.f, &a.program
	what := p.next() % 12
	if what < 6 && len(a.all) == 0 {
		what = 7
	}
	switch what {
	case 0, 1:
		a.server.headers(a.id(), p.next()%3 == 0, ":status", of(p, "200", "200", "404", "103", "304"), "content-length", of(p, "0", "5", "20000"))
	case 2:
		a.server.headers(a.id(), p.next()%3 == 0, ":status", "200")
	case 3, 4:
		f.WriteData(a.id(), p.next()%3 == 0, make([]byte, of(p, 0, 1, 5, 1000, 16384)))
	case 5:
		f.WriteDataPadded(a.id(), p.next()%3 == 0, make([]byte, p.next()), make([]byte, p.next()))
	case 6:
		f.WriteWindowUpdate(a.id()*uint32(p.next()%2), of[uint32](p, 1, 1000, 100_000))
		if p.seldom() {
			f.WriteWindowUpdate(a.id(), of[uint32](p, 0, 1<<30, 1<<31-1))
		}
	case 7:
		id, value := xhttp2.SettingID(p.next()%8), of[uint32](p, 0, 1, 2, 100, 4096, 20000, 65535)
		switch {
		case p.seldom():
			value = of[uint32](p, 1<<24-1, 1<<31-1, 1<<32-1)
		case id == xhttp2.SettingMaxFrameSize:
			value = max(value, 16384)
		case id == xhttp2.SettingEnablePush:
			value = 0
		}
		f.WriteSettings(xhttp2.Setting{ID: id, Val: value})
	case 8:
		f.WritePing(p.next()%4 == 0, [8]byte{byte(p.next())})
	case 9:
		f.WriteRSTStream(a.id(), xhttp2.ErrCode(p.next()%14))
	case 10:
		switch {
		case p.seldom():
			f.WriteGoAway(of[uint32](p, maxID, 9, 3, 0), xhttp2.ErrCode(p.next()%14), nil)
		case p.seldom() || len(a.all) == 0:
			f.WriteRawFrame(xhttp2.FrameType(p.next()%12), xhttp2.Flags(p.next()), a.id(), make([]byte, p.next()))
		default:
			id, block := a.id(), a.server.fields(":status", "200")
			f.WriteHeaders(xhttp2.HeadersFrameParam{StreamID: id, BlockFragment: block[:0], EndStream: p.next()%2 == 0})
			f.WriteContinuation(id, true, block)
		}
	case 11:
		a.now = a.now.Add(time.Second)
	}
}

// FuzzFrames: whatever a server sends, and whatever is done meanwhile, we send nothing that RFC 9113 does
// not allow, and each receiver is told once how its exchange ended.
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
		if a.program.next()%4 == 0 {
			a.client() // before the settings are there
		}
		for open = a.pass(); open && len(a.program) > 0; open = a.pass() {
			if a.program.next()%3 == 0 {
				a.client()
			} else {
				a.serve()
			}
		}
		a.EOF()
		for i, r := range a.all {
			if told := r.ended || r.failed != nil; told == r.canceled || r.ended && r.failed != nil {
				t.Errorf("exchange %d: ended %t, canceled %t, %v", i, r.ended, r.canceled, r.failed)
			}
		}
	})
}
