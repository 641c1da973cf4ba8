package aio

import (
	"context"
	"errors"
	"fmt"
	"io"
	"testing"
	"time"
)

func TestSmoke(t *testing.T) {
	for _, sel := range []string{"epoll", "poll"} {
		l := NewLoop(Options{Selector: sel, Report: func(r Report) { fmt.Println(r) }})
		err := l.Run(context.Background(), func(t *Task) error {
			ln, err := Listen(t, "tcp", "127.0.0.1:0")
			if err != nil {
				return err
			}
			return t.Group(func(g *Group) error {
				g.Go("server", func(t *Task) error {
					defer ln.Close()
					c, err := ln.Accept(t)
					if err != nil {
						return err
					}
					defer c.Close()
					r := NewReader(t.Loop(), c)
					for {
						b, err := r.ReadUntil(t, []byte("\n"), 100)
						if err == io.EOF {
							return nil
						}
						if err != nil {
							return err
						}
						if _, err := c.Write(t, b); err != nil {
							return err
						}
					}
				})
				c, err := Dial(t, "tcp", ln.Addr().String())
				if err != nil {
					return err
				}
				defer c.Close()
				r := NewReader(t.Loop(), c)
				for i := 0; i < 10; i++ {
					fmt.Fprintf(io.Discard, "")
					c.Write(t, []byte("hello\n"))
					b, err := r.ReadUntil(t, []byte("\n"), 100)
					if err != nil || string(b) != "hello\n" {
						return errors.New("bad echo")
					}
				}
				err = t.Timeout(20*time.Millisecond, func(t *Task) error { _, err := r.ReadUntil(t, []byte("\n"), 100); return err })
				fmt.Println(err)
				return nil
			})
		})
		fmt.Println(err)
	}
	err := Run(context.Background(), func(t *Task) error {
		var e Event
		return t.Group(func(g *Group) error {
			g.Go("a", e.Wait)
			g.Go("b", func(t *Task) error { panic("x") })
			return nil
		})
	})
	fmt.Println(len(err.Error()))
	err = Run(context.Background(), func(t *Task) error {
		var e Event
		return t.Group(func(g *Group) error {
			g.Go("a", e.Wait)
			return nil
		})
	})
	fmt.Println(err)
	fmt.Println(Run(context.Background(), func(tt *Task) error {
		return tt.Group(func(g *Group) error {
			g.Go("a", func(tt *Task) error { t.SkipNow(); return nil })
			return nil
		})
	}))
}

func BenchmarkYield2(b *testing.B) {
	b.ReportAllocs()
	Run(context.Background(), func(t *Task) error {
		return t.Group(func(g *Group) error {
			for range 2 {
				g.Go("y", func(t *Task) error {
					for range b.N / 2 {
						t.Yield()
					}
					return nil
				})
			}
			return nil
		})
	})
}

func BenchmarkYield10000(b *testing.B) {
	b.ReportAllocs()
	Run(context.Background(), func(t *Task) error {
		return t.Group(func(g *Group) error {
			for range 10000 {
				g.Go("y", func(t *Task) error {
					for range b.N / 10000 {
						t.Yield()
					}
					return nil
				})
			}
			return nil
		})
	})
}

func BenchmarkPingPong(b *testing.B) {
	Run(context.Background(), func(t *Task) error {
		return t.Group(func(g *Group) error {
			var p, q Lot
			g.Go("a", func(t *Task) error {
				for range b.N / 2 {
					p.Park(t, "x")
					q.Unpark(nil)
				}
				return nil
			})
			g.Go("b", func(t *Task) error {
				for range b.N / 2 {
					p.Unpark(nil)
					q.Park(t, "x")
				}
				return nil
			})
			return nil
		})
	})
}
func BenchmarkChan(b *testing.B) {
	c, d := make(chan int), make(chan int)
	go func() {
		for range b.N / 2 {
			<-c
			d <- 1
		}
	}()
	for range b.N / 2 {
		c <- 1
		<-d
	}
}
