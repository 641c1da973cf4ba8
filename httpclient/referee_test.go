package httpclient_test

import (
	"net"
	"testing"

	"github.com/weftcrawl/weft/internal/http2/http2test"
)

// judged is the server's end of a connection of HTTP/2. A referee reads what goes through it.
type judged struct {
	net.Conn
	referee http2test.Referee
}

func judge(t *testing.T, conn net.Conn) *judged {
	return &judged{conn, http2test.Referee{Report: func(fault string) { t.Errorf("the client has sent %s", fault) }}}
}

func (j *judged) Read(b []byte) (int, error) {
	n, err := j.Conn.Read(b)
	j.referee.Client(b[:n])
	return n, err
}

func (j *judged) Write(b []byte) (int, error) {
	j.referee.Server(b) // before the client can react
	return j.Conn.Write(b)
}
