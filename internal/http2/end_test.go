package http2

import (
	"testing"
	"time"
)

// TestEndWithoutCredit: a server that has used up its credit with the last byte of a body may say
// that it was the last. Some look only while they may send more.
func TestEndWithoutCredit(t *testing.T) {
	const length = "65535" // the first window
	c, s, r := judge(t, Options{}), newServer(t), &reports{}
	s.f.WriteSettings()
	c.Feed(s.sent(), time.Time{})
	if _, err := c.Open(get, nil, r); err != nil {
		t.Fatal(err)
	}
	s.headers(1, false, ":status", "200", "content-length", length)
	for range 3 {
		s.f.WriteData(1, false, make([]byte, 16384))
	}
	s.f.WriteData(1, false, make([]byte, 16383))
	c.Output()
	if err := c.Feed(s.sent(), time.Time{}); err != nil || ours(t, c.Output()) != "WINDOW_UPDATE 1 1" || r.ended {
		t.Errorf("%v, %s", err, r.String())
	}
	s.f.WriteData(1, true, nil)
	if err := c.Feed(s.sent(), time.Time{}); err != nil || !r.ended {
		t.Errorf("%v, %s", err, r.String())
	}
}

// TestCreditWithinFrame: the rest of a frame that is arriving is no room for more.
func TestCreditWithinFrame(t *testing.T) {
	c, s := judge(t, Options{Window: 1000}), newServer(t)
	s.f.WriteSettings()
	c.Feed(s.sent(), time.Time{})
	stream, err := c.Open(get, nil, &reports{})
	if err != nil {
		t.Fatal(err)
	}
	s.headers(1, false, ":status", "200")
	s.f.WriteData(1, false, make([]byte, 600))
	for b := s.sent(); len(b) > 0; b = b[1:] {
		if err := c.Feed(b[:1], time.Time{}); err != nil || stream.Credit() != 400+min(600, len(b)-1) {
			t.Fatalf("%v, a credit of %d with %d bytes of the frame to come", err, stream.Credit(), len(b)-1)
		}
	}
}
