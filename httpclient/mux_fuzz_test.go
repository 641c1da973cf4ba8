package httpclient_test

import (
	"io"
	"math/rand/v2"
	"testing"
	"time"

	"golang.org/x/net/http2"

	"github.com/weftcrawl/weft/aio"
	"github.com/weftcrawl/weft/httpclient"
	"github.com/weftcrawl/weft/internal/budget"
	"github.com/weftcrawl/weft/internal/http2/http2test"
)

// refereed is a connection of a task, whose client a referee judges.
type refereed struct {
	onTask
	*http2test.Referee
}

func (r refereed) Read(b []byte) (int, error) {
	n, err := r.onTask.Read(b)
	r.Client(b[:n])
	return n, err
}

func (r refereed) Write(b []byte) (int, error) {
	r.Server(b)
	return r.onTask.Write(b)
}

// hostile serves one connection by a program, and ends it.
func hostile(p *http2test.Program, task *aio.Task, conn aio.Conn, report func(string)) {
	defer conn.Close()
	on := refereed{onTask{task, conn, aio.NewReader(task.Loop(), conn)}, &http2test.Referee{Report: report}}
	defer on.from.Close()
	f := http2.NewFramer(on, on)
	f.AllowIllegalWrites = true
	if p.Next()%8 > 0 {
		_, _ = io.ReadFull(on, make([]byte, len(http2.ClientPreface)))
		_ = f.WriteSettings()
	}
	for err := error(nil); len(*p) > 0 && err == nil; {
		id := uint32(1 + 2*(p.Next()%12))
		switch p.Next() % 16 {
		case 0:
			err = f.WriteSettings(http2.Setting{ID: http2.SettingMaxConcurrentStreams, Val: http2test.OneOf[uint32](p, 0, 1, 2, 100)})
		case 1:
			err = f.WriteSettings(http2.Setting{ID: http2.SettingInitialWindowSize, Val: http2test.OneOf[uint32](p, 0, 1, 1000, 1<<31-1)})
		case 2, 3, 4:
			err = f.WriteHeaders(http2.HeadersFrameParam{StreamID: id, BlockFragment: []byte("\x88"), EndHeaders: true, EndStream: p.Next()%2 == 0})
		case 5, 6:
			err = f.WriteData(id, p.Next()%3 == 0, make([]byte, http2test.OneOf(p, 0, 1, 100, 16384)))
		case 7:
			err = f.WriteRSTStream(id, http2test.OneOf(p, http2.ErrCodeRefusedStream, http2.ErrCodeHTTP11Required, http2.ErrCodeInternal, http2.ErrCodeNo))
		case 8:
			if p.Next()%4 == 0 {
				err = f.WriteGoAway(id-2, http2.ErrCodeNo, nil)
			}
		case 9:
			err = f.WriteWindowUpdate(http2test.OneOf(p, 0, id), http2test.OneOf[uint32](p, 1, 1000, 1<<20))
		case 10:
			err = f.WritePing(p.Next()%2 == 0, [8]byte{})
		case 11, 12:
			err = task.Sleep(time.Duration(p.Next()) * 20 * time.Millisecond)
		case 13:
			if p.Next()%16 == 0 {
				_, err = on.Write([]byte{byte(p.Next()), byte(p.Next()), byte(p.Next())})
			}
		case 14:
			if p.Next()%8 == 0 {
				return
			}
		case 15: // reads what there is, and waits for more
			_, err = f.ReadFrame()
		}
	}
}

// FuzzHTTP2Server: whatever servers do, each request ends within its time, however it waits;
// nothing is held after that, and what was sent keeps to the rules.
func FuzzHTTP2Server(f *testing.F) {
	random := rand.New(rand.NewPCG(20, 26))
	for range 20 {
		b := make([]byte, 400)
		for i := range b {
			b[i] = byte(random.Uint32())
		}
		f.Add(b)
	}
	const limit = 10 * time.Second
	f.Fuzz(func(t *testing.T, b []byte) {
		p := http2test.Program(b)
		opt := httpclient.Options{HTTP2: true, Timeout: limit, FirstByteTimeout: 2 * time.Second, Window: 16 << 10, Meter: budget.New(100 << 10)}
		play(t, opt, func(s *site) {
			for {
				var conn aio.Conn
				err := s.task.Timeout(3*limit, func(task *aio.Task) (err error) {
					conn, err = s.ln.Accept(task)
					return err
				})
				if err != nil {
					return
				}
				_ = s.task.Timeout(2*limit, func(task *aio.Task) error {
					hostile(&p, task, conn, func(fault string) { t.Errorf("the client has sent %s", fault) })
					return nil
				})
			}
		}, func(b *browser) {
			_ = b.task.Group(func(g *aio.Group) error {
				for n := range 9 {
					g.Go("get", func(task *aio.Task) error {
						b := b.on(task)
						b.then = n%2 == 0
						for m := range 3 {
							req := httpclient.Request{Scheme: "http", Host: "www.example", Target: "/", MaxBody: 200 << 10, Cut: m == 1}
							if n%3 == 0 {
								req.Method, req.Body = "POST", make([]byte, n*m*10_000)
							}
							began := now(task)
							res, err := b.send(req)
							if res != nil {
								res.Close()
							}
							// A wait for memory has the same limit besides.
							if took := now(task) - began; took > 2*limit {
								t.Errorf("%s took %v: %v", req.Method, took, err)
							}
						}
						return nil
					})
				}
				return nil
			})
		})
		if held := opt.Meter.Held(); held != 0 {
			t.Errorf("%d bytes are still held", held)
		}
	})
}
