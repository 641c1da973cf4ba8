package aio_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/weftcrawl/weft/aio"
)

// chunks is a connection whose other end has sent these pieces: each Read returns one, or the
// first part of one; each wait gives up the turn. After the pieces comes end.
type chunks struct {
	aio.Conn // nil: a Reader needs no other methods
	pieces   [][]byte
	end      error
	between  func(left int) error // called by each wait
	buffers  map[*byte]bool       // buffers that Read was given, identified by their last bytes
	reads    int
}

func newChunks(pieces ...string) *chunks {
	c := &chunks{end: io.EOF, buffers: make(map[*byte]bool)}
	for _, p := range pieces {
		c.pieces = append(c.pieces, []byte(p))
	}
	return c
}

func (c *chunks) WaitReadable(task *aio.Task) error {
	if c.between != nil {
		if err := c.between(len(c.pieces)); err != nil {
			return err
		}
	}
	return task.Yield()
}

func (c *chunks) Ready() bool { return len(c.pieces) > 0 }

func (c *chunks) Read(task *aio.Task, p []byte) (int, error) {
	c.reads++
	c.buffers[&p[:cap(p)][cap(p)-1]] = true
	if err := task.Checkpoint(); err != nil {
		return 0, err
	}
	if len(c.pieces) == 0 {
		return 0, c.end
	}
	n := copy(p, c.pieces[0])
	if c.pieces[0] = c.pieces[0][n:]; len(c.pieces[0]) == 0 {
		c.pieces = c.pieces[1:]
	}
	return n, nil
}

// readChunks runs fn with a reader of c.
func readChunks(t *testing.T, c *chunks, fn func(task *aio.Task, r *aio.Reader)) {
	t.Helper()
	run(t, func(task *aio.Task) error {
		r := aio.NewReader(task.Loop(), c)
		defer r.Close()
		fn(task, r)
		return nil
	})
}

// splits returns text cut at all pairs of positions, so into one to three pieces, and into single
// bytes.
func splits(text string) [][]string {
	all := [][]string{strings.Split(text, "")}
	for i := range len(text) + 1 {
		for j := i; j <= len(text); j++ {
			cut := []string{text[:i], text[i:j], text[j:]}
			all = append(all, slices.DeleteFunc(cut, func(s string) bool { return s == "" }))
		}
	}
	return all
}

func TestReadUntilAtEverySplit(t *testing.T) {
	tests := []struct {
		name, sep, text string
		want            []string
	}{
		{"one byte", "\n", "ab\nc\n\nd", []string{"ab\n", "c\n", "\n"}},
		{"two bytes", "\r\n", "ab\r\nc\r\n\r\nd\re\n", []string{"ab\r\n", "c\r\n", "\r\n"}},
		{"the end of a header", "\r\n\r\n", "a\r\nb\r\n\r\nrest", []string{"a\r\nb\r\n\r\n"}},
		{"a separator that begins within itself", "aab", "aaaabaab", []string{"aaaab", "aab"}},
		{"of equal bytes", "--", "a---b--", []string{"a--", "-b--"}},
		{"all there is", "end", "end", []string{"end"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			for _, pieces := range splits(tt.text) {
				readChunks(t, newChunks(pieces...), func(task *aio.Task, r *aio.Reader) {
					rest := tt.text
					for _, want := range tt.want {
						got, err := r.ReadUntil(task, []byte(tt.sep), 100)
						if err != nil || string(got) != want {
							t.Errorf("pieces %q: got %q, %v; want %q", pieces, got, err, want)
						}
						rest = rest[len(want):]
					}
					got, err := r.ReadUntil(task, []byte(tt.sep), 100)
					want := io.EOF
					if rest != "" {
						want = io.ErrUnexpectedEOF
					}
					if string(got) != rest || err != want {
						t.Errorf("pieces %q: at the end got %q, %v; want %q, %v", pieces, got, err, rest, want)
					}
				})
			}
		})
	}
}

func TestReadUntilLimit(t *testing.T) {
	tests := []struct {
		name  string
		limit int
		want  string
		err   error
	}{
		{"none", 0, "", aio.ErrLimit},
		{"shorter than the separator", 1, "", aio.ErrLimit},
		{"before the separator", 5, "", aio.ErrLimit},
		{"within the separator", 6, "", aio.ErrLimit},
		{"just enough", 7, "hello\r\n", nil},
		{"more than there is", 1000, "hello\r\n", nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			for _, pieces := range splits("hello\r\nyou") {
				readChunks(t, newChunks(pieces...), func(task *aio.Task, r *aio.Reader) {
					got, err := r.ReadUntil(task, []byte("\r\n"), tt.limit)
					if string(got) != tt.want || err != tt.err {
						t.Errorf("pieces %q: got %q, %v; want %q, %v", pieces, got, err, tt.want, tt.err)
					}
					if err == nil {
						return
					}
					// What was too long is still there for a larger limit.
					all, err := r.ReadAll(task, 100)
					if string(all) != "hello\r\nyou" || err != nil {
						t.Errorf("pieces %q: after the limit got %q, %v", pieces, all, err)
					}
				})
			}
		})
	}
}

// The limit applies to one unit: bytes that have arrived after it do not count.
func TestReadUntilLimitIsOfOneUnit(t *testing.T) {
	readChunks(t, newChunks(strings.Repeat("12345\n", 1000)), func(task *aio.Task, r *aio.Reader) {
		for range 1000 {
			got, err := r.ReadUntil(task, []byte("\n"), 6)
			if err != nil || string(got) != "12345\n" {
				t.Fatalf("got %q, %v", got, err)
			}
		}
	})
}

func TestReadUntilWithoutSeparator(t *testing.T) {
	readChunks(t, newChunks("x"), func(task *aio.Task, r *aio.Reader) {
		expectPanic(t, "without a separator", func() { _, _ = r.ReadUntil(task, nil, 10) })
	})
}

// Units and pieces of all sizes, some larger than any buffer.
func TestReadUntilOfAllSizes(t *testing.T) {
	for seed := range uint64(30) {
		rnd := rand.New(rand.NewPCG(seed, 2))
		var units [][]byte
		for range 20 {
			unit := bytes.Repeat([]byte{'u'}, rnd.IntN(1<<rnd.IntN(18)))
			units = append(units, append(unit, "\r\n"...))
		}
		stream := bytes.Join(units, nil)
		c := newChunks()
		for rest := stream; len(rest) > 0; {
			n := min(len(rest), 1+rnd.IntN(1<<rnd.IntN(18)))
			c.pieces = append(c.pieces, rest[:n])
			rest = rest[n:]
		}
		readChunks(t, c, func(task *aio.Task, r *aio.Reader) {
			for i, want := range units {
				got, err := r.ReadUntil(task, []byte("\r\n"), 1<<20)
				if err != nil || !bytes.Equal(got, want) {
					t.Fatalf("seed %d: unit %d: got %d bytes, %v; want %d", seed, i, len(got), err, len(want))
				}
			}
		})
	}
}

func TestReaderKeepsWhatCameBeforeAnError(t *testing.T) {
	own := errors.New("the line is noisy")
	calls := []struct {
		name string
		call func(task *aio.Task, r *aio.Reader) error
	}{
		{"ReadUntil", func(task *aio.Task, r *aio.Reader) error { _, err := r.ReadUntil(task, []byte("\n"), 100); return err }},
		{"More", func(task *aio.Task, r *aio.Reader) error {
			if _, err := r.Peek(task); err != nil {
				return err
			}
			_, err := r.More(task)
			return err
		}},
	}
	for _, tt := range calls {
		t.Run(tt.name, func(t *testing.T) {
			c := newChunks("hel", "lo\n")
			failed := false
			c.between = func(left int) error {
				if left == 1 && !failed {
					failed = true
					return own
				}
				return nil
			}
			readChunks(t, c, func(task *aio.Task, r *aio.Reader) {
				expectIs(t, "first call", tt.call(task, r), own)
				expect(t, "bytes kept", r.Buffered(), 3)
				got, err := r.ReadUntil(task, []byte("\n"), 100)
				expect(t, "then", string(got), "hello\n")
				expectIs(t, "then", err, nil)
			})
		})
	}
}

// A connection that has failed keeps failing; one that has ended stays at its end.
func TestReaderErrors(t *testing.T) {
	own := errors.New("reset")
	calls := map[string]func(task *aio.Task, r *aio.Reader) error{
		"Read":      func(task *aio.Task, r *aio.Reader) error { _, err := r.Read(task, make([]byte, 9)); return err },
		"big Read":  func(task *aio.Task, r *aio.Reader) error { _, err := r.Read(task, make([]byte, 1<<16)); return err },
		"ReadFull":  func(task *aio.Task, r *aio.Reader) error { _, err := r.ReadFull(task, make([]byte, 9)); return err },
		"ReadUntil": func(task *aio.Task, r *aio.Reader) error { _, err := r.ReadUntil(task, []byte("x"), 9); return err },
		"ReadAll": func(task *aio.Task, r *aio.Reader) error {
			b, err := r.ReadAll(task, 9)
			if err == nil && len(b) == 0 {
				err = io.EOF // what it calls success
			}
			return err
		},
		"Peek": func(task *aio.Task, r *aio.Reader) error { _, err := r.Peek(task); return err },
		"More": func(task *aio.Task, r *aio.Reader) error { _, err := r.More(task); return err },
	}
	for name, call := range calls {
		for _, end := range []error{io.EOF, own} {
			t.Run(fmt.Sprintf("%s, %v", name, end), func(t *testing.T) {
				c := newChunks()
				c.end = end
				readChunks(t, c, func(task *aio.Task, r *aio.Reader) {
					expectIs(t, "first call", call(task, r), end)
					expectIs(t, "second call", call(task, r), end)
				})
			})
		}
		t.Run(name+" after Close", func(t *testing.T) {
			readChunks(t, newChunks("hello"), func(task *aio.Task, r *aio.Reader) {
				if _, err := r.Peek(task); err != nil {
					t.Fatal(err)
				}
				r.Close()
				expectIs(t, "call", call(task, r), aio.ErrClosed)
				expect(t, "bytes", r.Buffered(), 0)
			})
		})
	}
}

func TestReaderCanceled(t *testing.T) {
	c := newChunks("hel", "lo\n")
	readChunks(t, c, func(task *aio.Task, r *aio.Reader) {
		err := task.Timeout(0, func(task *aio.Task) error {
			_, err := r.ReadUntil(task, []byte("\n"), 100)
			return err
		})
		expectIs(t, "before anything came", err, aio.ErrTimeout)
		expect(t, "reads", c.reads, 0)

		c.between = func(left int) error {
			if left == 1 {
				return task.Sleep(time.Hour)
			}
			return nil
		}
		err = task.Timeout(time.Second, func(task *aio.Task) error {
			_, err := r.ReadUntil(task, []byte("\n"), 100)
			return err
		})
		expectIs(t, "within a unit", err, aio.ErrTimeout)
		got, err := r.ReadUntil(task, []byte("\n"), 100)
		expect(t, "then", string(got), "hello\n")
		expectIs(t, "then", err, nil)
	})
}

func TestReaderRead(t *testing.T) {
	const text = "hello, you"
	for _, size := range []int{1, 2, len(text), 1 << 20} {
		for _, pieces := range splits(text) {
			readChunks(t, newChunks(pieces...), func(task *aio.Task, r *aio.Reader) {
				var got []byte
				p := make([]byte, size)
				for {
					n, err := r.Read(task, p)
					got = append(got, p[:n]...)
					if err == io.EOF {
						break
					}
					if err != nil || n == 0 {
						t.Fatalf("read %d bytes, %v", n, err)
					}
				}
				if string(got) != text {
					t.Errorf("pieces %q, reads of %d: got %q", pieces, size, got)
				}
			})
		}
	}
}

func TestReaderReadReturnsWhatIsThere(t *testing.T) {
	readChunks(t, newChunks("hello", "you"), func(task *aio.Task, r *aio.Reader) {
		p := make([]byte, 100)
		n, err := r.Read(task, p)
		expect(t, "first Read", string(p[:n]), "hello")
		expectIs(t, "first Read", err, nil)
	})
}

func TestReaderReadOfNothingDoesNotWait(t *testing.T) {
	c := newChunks("hello")
	c.between = func(int) error { t.Error("waited"); return nil }
	readChunks(t, c, func(task *aio.Task, r *aio.Reader) {
		n, err := r.Read(task, nil)
		expect(t, "bytes", n, 0)
		expectIs(t, "Read", err, nil)
		n, err = r.ReadFull(task, nil)
		expect(t, "bytes", n, 0)
		expectIs(t, "ReadFull", err, nil)
	})
}

func TestReadFull(t *testing.T) {
	const text = "hello, you"
	tests := []struct {
		name string
		n    int
		want string
		err  error
		rest string
	}{
		{"nothing", 0, "", nil, text},
		{"a part", 5, "hello", nil, ", you"},
		{"all", len(text), text, nil, ""},
		{"more than there is", len(text) + 1, text, io.ErrUnexpectedEOF, ""},
		{"much more, past the buffer", 1 << 20, text, io.ErrUnexpectedEOF, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			for _, pieces := range splits(text) {
				readChunks(t, newChunks(pieces...), func(task *aio.Task, r *aio.Reader) {
					p := make([]byte, tt.n)
					n, err := r.ReadFull(task, p)
					rest, restErr := r.ReadAll(task, 100)
					if string(p[:n]) != tt.want || err != tt.err || string(rest) != tt.rest || restErr != nil {
						t.Errorf("pieces %q: got %q, %v and then %q, %v", pieces, p[:n], err, rest, restErr)
					}
				})
			}
		})
	}
	t.Run("of an empty stream", func(t *testing.T) {
		readChunks(t, newChunks(), func(task *aio.Task, r *aio.Reader) {
			n, err := r.ReadFull(task, make([]byte, 5))
			expect(t, "bytes", n, 0)
			expect(t, "error", err, io.EOF)
		})
	})
	t.Run("of megabytes", func(t *testing.T) {
		sent := string(noise(3 << 20))
		readChunks(t, newChunks(sent[:100], sent[100:1<<20], sent[1<<20:]), func(task *aio.Task, r *aio.Reader) {
			head, err := r.ReadFull(task, make([]byte, 50))
			expect(t, "head", head, 50)
			expectIs(t, "head", err, nil)
			body := make([]byte, len(sent)-50)
			_, err = r.ReadFull(task, body)
			expectIs(t, "body", err, nil)
			expect(t, "all came through", string(body) == sent[50:], true)
		})
	})
}

func TestReadAll(t *testing.T) {
	const text = "hello, you"
	tests := []struct {
		name  string
		limit int
		err   error
	}{
		{"just enough", len(text), nil},
		{"more than there is", 1 << 20, nil},
		{"a byte too few", len(text) - 1, aio.ErrLimit},
		{"none", 0, aio.ErrLimit},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			for _, pieces := range splits(text) {
				readChunks(t, newChunks(pieces...), func(task *aio.Task, r *aio.Reader) {
					got, err := r.ReadAll(task, tt.limit)
					if err != tt.err {
						t.Errorf("pieces %q: got %v, want %v", pieces, err, tt.err)
					}
					if len(got) > tt.limit || !strings.HasPrefix(text, string(got)) || err == nil && string(got) != text {
						t.Errorf("pieces %q: got %q", pieces, got)
					}
				})
			}
		})
	}
	t.Run("of an empty stream", func(t *testing.T) {
		readChunks(t, newChunks(), func(task *aio.Task, r *aio.Reader) {
			got, err := r.ReadAll(task, 0)
			expect(t, "bytes", len(got), 0)
			expectIs(t, "error", err, nil)
		})
	})
	t.Run("of a stream that breaks", func(t *testing.T) {
		own := errors.New("reset")
		c := newChunks("hello")
		c.end = own
		readChunks(t, c, func(task *aio.Task, r *aio.Reader) {
			got, err := r.ReadAll(task, 100)
			expect(t, "what came before", string(got), "hello")
			expectIs(t, "error", err, own)
		})
	})
}

func TestPeekMoreDiscard(t *testing.T) {
	c := newChunks("ab", "cd", "ef")
	readChunks(t, c, func(task *aio.Task, r *aio.Reader) {
		step := func(what, want string, err error, got []byte, gotErr error) {
			t.Helper()
			expect(t, what, string(got), want)
			expect(t, what, gotErr, err)
			expect(t, what+": buffered", r.Buffered(), len(want))
		}
		expect(t, "buffered at first", r.Buffered(), 0)
		b, err := r.Peek(task)
		step("Peek", "ab", nil, b, err)
		b, err = r.Peek(task)
		step("Peek again", "ab", nil, b, err)
		b, err = r.More(task)
		step("More", "abcd", nil, b, err)
		r.Discard(0)
		r.Discard(3)
		b, err = r.Peek(task)
		step("Peek after Discard", "d", nil, b, err)
		b, err = r.More(task)
		step("More", "def", nil, b, err)
		b, err = r.More(task)
		step("More at the end", "def", io.EOF, b, err)
		expectPanic(t, "Discard(4) with 3 bytes available", func() { r.Discard(4) })
		expectPanic(t, "Discard(-1)", func() { r.Discard(-1) })
		r.Discard(3)
		b, err = r.Peek(task)
		step("Peek at the end", "", io.EOF, b, err)
	})
}

// Waiting connections hold no buffer. So any number of them, reading in turn, share one buffer,
// even with part of a unit unread.
func TestReadersShareOneBuffer(t *testing.T) {
	tests := []struct {
		name   string
		pieces []string
		read   func(task *aio.Task, r *aio.Reader) error
	}{
		{"whole units", slices.Repeat([]string{"unit\n"}, 20), func(task *aio.Task, r *aio.Reader) error {
			_, err := r.ReadUntil(task, []byte("\n"), 100)
			return err
		}},
		{"units in pieces", slices.Repeat([]string{"un", "it\nun", "it\n"}, 20), func(task *aio.Task, r *aio.Reader) error {
			_, err := r.ReadUntil(task, []byte("\n"), 100)
			return err
		}},
		{"Peek and Discard", slices.Repeat([]string{"bytes"}, 20), func(task *aio.Task, r *aio.Reader) error {
			b, err := r.Peek(task)
			r.Discard(len(b))
			return err
		}},
		{"small reads", slices.Repeat([]string{"bytes"}, 20), func(task *aio.Task, r *aio.Reader) error {
			_, err := r.Read(task, make([]byte, 10))
			return err
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			buffers := make(map[*byte]bool)
			run(t, func(task *aio.Task) error {
				return task.Group(func(g *aio.Group) error {
					for range 50 {
						c := newChunks(tt.pieces...)
						c.buffers = buffers
						g.Go("reader", func(task *aio.Task) error {
							r := aio.NewReader(task.Loop(), c)
							defer r.Close()
							for {
								if err := tt.read(task, r); err == io.EOF {
									return nil
								} else if err != nil {
									return err
								}
							}
						})
					}
					return nil
				})
			})
			expect(t, "buffers for 50 connections", len(buffers), 1)
		})
	}
}

// A stream that always has bytes does not keep the loop.
func TestReaderTakesTurns(t *testing.T) {
	turns := 0
	run(t, func(task *aio.Task) error {
		return task.Group(func(g *aio.Group) error {
			g.Go("other", func(task *aio.Task) error {
				for {
					if err := task.Yield(); err != nil {
						return err
					}
					turns++
				}
			})
			c := newChunks(strings.Repeat("x\n", 10_000))
			r := aio.NewReader(task.Loop(), c)
			defer r.Close()
			for range 10_000 {
				if _, err := r.ReadUntil(task, []byte("\n"), 10); err != nil {
					return err
				}
			}
			g.Cancel()
			return nil
		})
	})
	if turns < 50 {
		t.Errorf("while 10,000 lines were read another task had %d turns", turns)
	}
}

// The reader over real sockets: a pipelined exchange with units of all sizes.
func TestReaderOfSocket(t *testing.T) {
	onTransports(t, func(t *testing.T, task *aio.Task, tr transport) error {
		client, server := connect(t, task, tr)
		defer client.Close()
		return task.Group(func(g *aio.Group) error {
			g.Go("server", func(task *aio.Task) error {
				defer server.Close()
				for i := range 300 {
					line := append(bytes.Repeat([]byte{'a' + byte(i%26)}, i*i), '\n')
					if _, err := server.Write(task, line); err != nil {
						return err
					}
				}
				return nil
			})
			r := aio.NewReader(task.Loop(), client)
			defer r.Close()
			for i := range 300 {
				line, err := r.ReadUntil(task, []byte("\n"), 1<<20)
				if err != nil {
					return err
				}
				if len(line) != i*i+1 || i > 0 && line[0] != 'a'+byte(i%26) {
					t.Fatalf("line %d has %d bytes", i, len(line))
				}
			}
			_, err := r.Peek(task)
			expect(t, "at the end", err, io.EOF)
			return nil
		})
	})
}
