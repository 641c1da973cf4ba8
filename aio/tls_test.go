//go:build linux

package aio_test

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"math/big"
	"net"
	"testing"
	"time"

	"github.com/weftcrawl/weft/aio"
	"github.com/weftcrawl/weft/aio/aiotest"
)

// onNetworks runs main over real loopback, once for each selector, and over the in-memory network,
// where every segment takes 5 ms of virtual time.
func onNetworks(t *testing.T, main func(t *testing.T, task *aio.Task) error) {
	t.Helper()
	onSelectors(t, main)
	t.Run("memory", func(t *testing.T) {
		n := aiotest.NewNet(aiotest.NetOptions{Latency: 5 * time.Millisecond})
		n.Run(t, func(task *aio.Task) error { return main(t, task) })
	})
}

// tlsHost is the name that the certificate of the tests is for.
const tlsHost = "weft.example"

// tlsConfigs returns the configurations of a server and of a client that trusts it, both on the
// loop's clock.
func tlsConfigs(t *testing.T, task *aio.Task) (server, client *tls.Config) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	now := task.Loop().Now()
	template := &x509.Certificate{
		SerialNumber:          big.NewInt(1),
		DNSNames:              []string{tlsHost},
		NotBefore:             now.Add(-time.Hour),
		NotAfter:              now.Add(time.Hour),
		IsCA:                  true,
		BasicConstraintsValid: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	roots := x509.NewCertPool()
	roots.AddCert(cert)
	server = &tls.Config{
		Certificates: []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: key}},
		Time:         task.Loop().Now,
	}
	client = &tls.Config{RootCAs: roots, ServerName: tlsHost, Time: task.Loop().Now}
	return server, client
}

// tlsServer accepts n connections as tasks of g, each of which runs serve on its side before the
// handshake.
func tlsServer(g *aio.Group, ln aio.Listener, config *tls.Config, n int, serve func(c *tls.Conn) error) {
	g.Go("accept", func(task *aio.Task) error {
		for range n {
			c, err := ln.Accept(task)
			if err != nil {
				return err
			}
			g.Go("server", func(task *aio.Task) error {
				conn := tls.Server(aio.NewNetConn(task, c), config)
				defer conn.Close()
				return serve(conn)
			})
		}
		return nil
	})
}

// tlsDial connects to ln; the handshake is still to come.
func tlsDial(task *aio.Task, ln aio.Listener, config *tls.Config) (*tls.Conn, error) {
	c, err := aio.Dial(task, "tcp", ln.Addr().String())
	if err != nil {
		return nil, err
	}
	return tls.Client(aio.NewNetConn(task, c), config), nil
}

// serveOnce reads to the end, expects want, and sends answer.
func serveOnce(want, answer []byte) func(c *tls.Conn) error {
	return func(c *tls.Conn) error {
		got, err := io.ReadAll(c)
		if err != nil {
			return err
		}
		if !bytes.Equal(got, want) {
			return fmt.Errorf("the server got %d bytes, not the %d sent", len(got), len(want))
		}
		_, err = c.Write(answer)
		return err
	}
}

// More than any buffer holds goes both ways; each side ends with a close-notify, and the other
// reads to a proper end.
func TestTLSTransfer(t *testing.T) {
	for _, version := range []uint16{tls.VersionTLS12, tls.VersionTLS13} {
		t.Run(tls.VersionName(version), func(t *testing.T) {
			onNetworks(t, func(t *testing.T, task *aio.Task) error {
				serverConfig, clientConfig := tlsConfigs(t, task)
				serverConfig.MaxVersion = version
				there, back := noise(1<<20), noise(1<<20+1)
				ln, err := listenLocal(task)
				if err != nil {
					return err
				}
				defer ln.Close()
				return task.Group(func(g *aio.Group) error {
					tlsServer(g, ln, serverConfig, 1, serveOnce(there, back))
					c, err := tlsDial(task, ln, clientConfig)
					if err != nil {
						return err
					}
					defer c.Close()
					if err := c.Handshake(); err != nil {
						return err
					}
					expect(t, "version", c.ConnectionState().Version, version)
					if _, err := c.Write(there); err != nil {
						return err
					}
					if err := c.CloseWrite(); err != nil {
						return err
					}
					got, err := io.ReadAll(c)
					if !bytes.Equal(got, back) {
						t.Errorf("the client got %d bytes, not the %d sent", len(got), len(back))
					}
					return err
				})
			})
		})
	}
}

// Connections interleave at every wait inside crypto/tls.
func TestTLSManyAtOnce(t *testing.T) {
	const n = 30
	onNetworks(t, func(t *testing.T, task *aio.Task) error {
		serverConfig, clientConfig := tlsConfigs(t, task)
		there, back := noise(100_000), noise(50_000)
		ln, err := listenLocal(task)
		if err != nil {
			return err
		}
		defer ln.Close()
		return task.Group(func(g *aio.Group) error {
			tlsServer(g, ln, serverConfig, n, serveOnce(there, back))
			for range n {
				g.Go("client", func(task *aio.Task) error {
					c, err := tlsDial(task, ln, clientConfig)
					if err != nil {
						return err
					}
					defer c.Close()
					if _, err := c.Write(there); err != nil {
						return err
					}
					if err := c.CloseWrite(); err != nil {
						return err
					}
					got, err := io.ReadAll(c)
					if !bytes.Equal(got, back) {
						t.Errorf("a client got %d bytes, not the %d sent", len(got), len(back))
					}
					return err
				})
			}
			return nil
		})
	})
}

// An end within a record is a truncation, not an end.
func TestTLSTruncated(t *testing.T) {
	onNetworks(t, func(t *testing.T, task *aio.Task) error {
		serverConfig, clientConfig := tlsConfigs(t, task)
		ln, err := listenLocal(task)
		if err != nil {
			return err
		}
		defer ln.Close()
		return task.Group(func(g *aio.Group) error {
			tlsServer(g, ln, serverConfig, 1, func(c *tls.Conn) error {
				if _, err := c.Write([]byte("whole")); err != nil {
					return err
				}
				// Application data, TLS 1.2, 100 bytes.
				record := []byte{23, 3, 3, 0, 100, 'h', 'a', 'l', 'f'}
				if _, err := c.NetConn().Write(record); err != nil {
					return err
				}
				return c.NetConn().Close()
			})
			c, err := tlsDial(task, ln, clientConfig)
			if err != nil {
				return err
			}
			defer c.Close()
			got, err := io.ReadAll(c)
			expect(t, "read", string(got), "whole")
			expectIs(t, "then", err, io.ErrUnexpectedEOF)
			return nil
		})
	})
}

func TestTLSResumption(t *testing.T) {
	for _, version := range []uint16{tls.VersionTLS12, tls.VersionTLS13} {
		t.Run(tls.VersionName(version), func(t *testing.T) {
			onNetworks(t, func(t *testing.T, task *aio.Task) error {
				serverConfig, clientConfig := tlsConfigs(t, task)
				serverConfig.MaxVersion = version
				clientConfig.ClientSessionCache = tls.NewLRUClientSessionCache(1)
				ln, err := listenLocal(task)
				if err != nil {
					return err
				}
				defer ln.Close()
				const connections = 3
				return task.Group(func(g *aio.Group) error {
					tlsServer(g, ln, serverConfig, connections, serveOnce([]byte("ping"), []byte("pong")))
					for i := range connections {
						c, err := tlsDial(task, ln, clientConfig)
						if err != nil {
							return err
						}
						defer c.Close()
						if _, err := c.Write([]byte("ping")); err != nil {
							return err
						}
						if err := c.CloseWrite(); err != nil {
							return err
						}
						got, err := io.ReadAll(c) // reading also takes the ticket of TLS 1.3
						if err != nil {
							return err
						}
						expect(t, "answer", string(got), "pong")
						expect(t, fmt.Sprintf("connection %d is a resumption", i), c.ConnectionState().DidResume, i > 0)
					}
					return nil
				})
			})
		})
	}
}

func TestTLSUntrustedServer(t *testing.T) {
	onNetworks(t, func(t *testing.T, task *aio.Task) error {
		serverConfig, clientConfig := tlsConfigs(t, task)
		clientConfig.RootCAs = x509.NewCertPool()
		ln, err := listenLocal(task)
		if err != nil {
			return err
		}
		defer ln.Close()
		return task.Group(func(g *aio.Group) error {
			tlsServer(g, ln, serverConfig, 1, func(c *tls.Conn) error {
				_, err := c.Read(make([]byte, 1))
				var alert *net.OpError
				if !errors.As(err, &alert) || alert.Op != "remote error" {
					t.Errorf("the server's error: %v", err)
				}
				return nil
			})
			c, err := tlsDial(task, ln, clientConfig)
			if err != nil {
				return err
			}
			defer c.Close()
			var unknown x509.UnknownAuthorityError
			if err := c.Handshake(); !errors.As(err, &unknown) {
				t.Errorf("the client's error: %v", err)
			}
			return nil
		})
	})
}

// silent accepts connections and sends nothing until its group is cancelled.
func silent(g *aio.Group, ln aio.Listener) {
	g.Go("silent", func(task *aio.Task) error {
		for {
			c, err := ln.Accept(task)
			if err != nil {
				return err
			}
			defer c.Close()
		}
	})
}

// A handshake with a peer that does not respond ends like any wait: by the cancellation of its
// task, by a Timeout around it, by a deadline of its connection.
func TestTLSHandshakeIsEnded(t *testing.T) {
	const patience = 30 * time.Millisecond
	for _, side := range []struct {
		name string
		open func(c net.Conn, server, client *tls.Config) *tls.Conn
	}{
		{"client", func(c net.Conn, _, client *tls.Config) *tls.Conn { return tls.Client(c, client) }},
		{"server", func(c net.Conn, server, _ *tls.Config) *tls.Conn { return tls.Server(c, server) }},
	} {
		for _, end := range []struct {
			name string
			// handshake runs the handshake of c, which is bound to task, and ends it.
			handshake func(task *aio.Task, c *tls.Conn) error
			want      error
		}{
			{"by cancellation", func(task *aio.Task, c *tls.Conn) error {
				task.Loop().CallLater(patience, func() { task.Cancel() })
				return c.Handshake()
			}, aio.ErrCanceled},
			{"by a timeout", func(task *aio.Task, c *tls.Conn) error {
				return task.Timeout(patience, func(*aio.Task) error { return c.Handshake() })
			}, aio.ErrTimeout},
			{"by a deadline", func(task *aio.Task, c *tls.Conn) error {
				if err := c.SetDeadline(task.Loop().Now().Add(patience)); err != nil {
					return err
				}
				return c.Handshake()
			}, aio.ErrTimeout},
		} {
			t.Run(side.name+" "+end.name, func(t *testing.T) {
				onNetworks(t, func(t *testing.T, task *aio.Task) error {
					serverConfig, clientConfig := tlsConfigs(t, task)
					ln, err := listenLocal(task)
					if err != nil {
						return err
					}
					defer ln.Close()
					return task.Group(func(g *aio.Group) error {
						silent(g, ln)
						handshake := g.Go("handshake", func(task *aio.Task) error {
							raw, err := aio.Dial(task, "tcp", ln.Addr().String())
							if err != nil {
								return err
							}
							c := side.open(aio.NewNetConn(task, raw), serverConfig, clientConfig)
							began := task.Loop().Now()
							err = end.handshake(task, c)
							expectIs(t, "Handshake", err, end.want)
							if took := task.Loop().Now().Sub(began); took < patience {
								t.Errorf("it ended after %v", took)
							}
							c.Close() // its close-notify cannot be sent
							if _, err := raw.Read(task, make([]byte, 1)); err == nil {
								t.Error("the connection is still open")
							}
							return nil
						})
						if err := handshake.Await(task); err != nil {
							return err
						}
						g.Cancel()
						return nil
					})
				})
			})
		}
	}
}

// Another task that uses a NetConn fails at once; a conversation can be handed over.
func TestTLSWrongTask(t *testing.T) {
	onNetworks(t, func(t *testing.T, task *aio.Task) error {
		serverConfig, clientConfig := tlsConfigs(t, task)
		ln, err := listenLocal(task)
		if err != nil {
			return err
		}
		defer ln.Close()
		return task.Group(func(g *aio.Group) error {
			tlsServer(g, ln, serverConfig, 1, serveOnce([]byte("ping"), []byte("pong")))
			c, err := tlsDial(task, ln, clientConfig)
			if err != nil {
				return err
			}
			defer c.Close()
			if err := c.Handshake(); err != nil {
				return err
			}
			other := g.Go("other", func(task *aio.Task) error {
				const message = `task "other" waits with the handle of task "main"`
				p := make([]byte, 1)
				expectPanic(t, message, func() { _, _ = c.Read(p) })
				expectPanic(t, message, func() { _, _ = c.NetConn().Write(p) })
				expectPanic(t, message, func() { _ = c.NetConn().Close() })
				c.NetConn().(*aio.NetConn).Bind(task)
				_, err := c.Write([]byte("ping"))
				return err
			})
			if err := other.Await(task); err != nil {
				return err
			}
			c.NetConn().(*aio.NetConn).Bind(task)
			if err := c.CloseWrite(); err != nil {
				return err
			}
			got, err := io.ReadAll(c)
			expect(t, "answer", string(got), "pong")
			return err
		})
	})
}
