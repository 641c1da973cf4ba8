package render

import (
	"encoding/json"
	"fmt"
	"io"
	"testing"
	"testing/synctest"
	"time"
)

// commands is the way to a browser that answers each command at once, by its method. It has no
// answer to one without a row.
type commands struct {
	replies map[string]string
	io.WriteCloser
}

func (commands) SetWriteDeadline(time.Time) error { return nil }

func (c commands) Write(text []byte) (int, error) {
	var m message
	err := json.Unmarshal(text[:len(text)-1], &m)
	if reply, answers := c.replies[m.Method]; answers {
		go fmt.Fprintf(c.WriteCloser, `{"id":%d,%s}`+"\x00", m.ID, reply)
	}
	return len(text), err
}

// TestLookFrames: a frame that has gone is none of the page's; one that cannot be read is an error,
// as for the page itself, and so is one that is too long.
func TestLookFrames(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		owner  string // reply to a look for its element
		kind   Kind
		frames int
	}{
		"it is read":   {`"result":{}`, "", 1},
		"it has gone":  {`"error":{"code":-32000,"message":"Frame with the given id was not found."}`, "", 0},
		"no answer":    {"", KindTime, 0},
		"its tab dies": {`"method":"Inspector.targetCrashed","sessionId":"s"`, KindCrash, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				out, browser := io.Pipe()
				replies := map[string]string{
					"DOM.getDocument":   `"result":{}`,
					"Page.getFrameTree": `"result":{"frameTree":{"childFrames":[{"frame":{"id":"f"}}]}}`,
					"DOM.describeNode":  `"result":{}`,
					"DOM.getOuterHTML":  `"result":{"outerHTML":"<p>text"}`,
				}
				if c.owner != "" {
					replies["DOM.getFrameOwner"] = c.owner
				}
				tab := &tab{session: "s", conn: newConn(out, commands{replies, browser}, maxMessage, func(*message) {})}
				r := newRun(t.Context(), tab, &Page{}, nil, new(clocks), nil)
				l, err := r.look(t.Context())
				if (err == nil) != (c.kind == "") || err != nil && KindOf(err) != c.kind || len(l.Frames) != c.frames {
					t.Errorf("%+v, %v, expected kind %q", l, err, c.kind)
				}
				browser.Close()
			})
		})
	}
}
