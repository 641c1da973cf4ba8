package natsserver_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/weftcrawl/weft/internal/natslogin"
	"github.com/weftcrawl/weft/internal/natsserver"
)

// start starts a server that ends with the test.
func start(t *testing.T, o natsserver.Options) *natsserver.Server {
	t.Helper()
	s, err := natsserver.Start(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

// connect connects to a server, until the test ends.
func connect(t *testing.T, url string, o ...nats.Option) jetstream.JetStream {
	t.Helper()
	nc, err := nats.Connect(url, o...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(nc.Close)
	js, err := jetstream.New(nc)
	if err != nil {
		t.Fatal(err)
	}
	return js
}

// TestStore: what a server has acknowledged is there for the next one in its folder, and one at a
// time has it.
func TestStore(t *testing.T) {
	o := natsserver.Options{Store: filepath.Join(t.TempDir(), "new", "store"), Listen: "127.0.0.1:0", Name: "a"}
	s := start(t, o)
	js := connect(t, s.URL())
	kv, err := js.CreateKeyValue(t.Context(), jetstream.KeyValueConfig{Bucket: "b"})
	if err == nil {
		_, err = kv.Create(t.Context(), "key", []byte("value"))
	}
	if err != nil {
		t.Fatal(err)
	}
	if _, err := natsserver.Start(o); err == nil || !strings.Contains(err.Error(), "another server has it") {
		t.Errorf("two servers of one store: %v", err)
	}
	s.Close()
	s.Close()
	s = start(t, o)
	if kv, err = connect(t, s.URL()).KeyValue(t.Context(), "b"); err != nil {
		t.Fatal(err)
	}
	if e, err := kv.Get(t.Context(), "key"); err != nil || string(e.Value()) != "value" {
		t.Errorf("after a restart: %v, %v", e, err)
	}
}

// TestMistakes: each is reported in one line that says what was expected.
func TestMistakes(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	three := []string{"127.0.0.1:1", "127.0.0.1:2", "127.0.0.1:3"}
	for _, c := range []struct {
		o    natsserver.Options
		want string
	}{
		{natsserver.Options{}, "no store, expected a folder"},
		{natsserver.Options{Store: file}, "not a directory, expected a folder that can be written"},
		{natsserver.Options{Store: filepath.Join(file, "sub")}, "not a directory, expected a folder that can be written"},
		{natsserver.Options{Listen: taken.Addr().String()}, taken.Addr().String() + ": in use, expected a free address"},
		{natsserver.Options{Listen: "192.0.2.1:0"}, "192.0.2.1:0: expected an address of this machine"},
		{natsserver.Options{Listen: "nats://127.0.0.1"}, "address to listen at: expected HOST or HOST:PORT, such as 10.0.0.1 or 10.0.0.1:4222"},
		{natsserver.Options{Listen: "127.0.0.1:99999"}, "address to listen at: expected HOST or HOST:PORT"},
		{natsserver.Options{Name: "a b"}, `name "a b": expected one without spaces`},
		{natsserver.Options{Login: "ada:"}, "login: expected USER:PASSWORD or a token"},
		{natsserver.Options{Cert: file}, "expected both a certificate and its key"},
		{natsserver.Options{Cert: file, Key: file}, "file"},
		{natsserver.Options{CA: file}, "expected both a certificate and its key"},
		{natsserver.Options{Peers: []string{"a", "a:6222", "b"}}, `peer "a:6222": named twice`},
		{natsserver.Options{Peers: []string{"a", "http://b", "c"}}, `peer "http://b": expected HOST or HOST:PORT, such as 10.0.0.1 or 10.0.0.1:6222`},
		{natsserver.Options{Peers: three}, "peers 127.0.0.1:1,127.0.0.1:2,127.0.0.1:3: expected all servers, this one too: 127.0.0.1:6222"},
		{natsserver.Options{Peers: three[:2], ListenPeers: three[0]}, "expected three or more"},
		{natsserver.Options{Peers: append(three, taken.Addr().String()), ListenPeers: taken.Addr().String()}, taken.Addr().String() + ": in use"},
	} {
		if c.o.Store == "" && c.want != "no store, expected a folder" {
			c.o.Store = filepath.Join(dir, "store")
		}
		if c.o.Listen == "" {
			c.o.Listen = "127.0.0.1:0"
		}
		s, err := natsserver.Start(c.o)
		if err == nil {
			s.Close()
		}
		if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%+v: %v, expected %s", c.o, err, c.want)
		}
	}
}

// TestLogin: only who has the login, and speaks TLS by the authority, gets in.
func TestLogin(t *testing.T) {
	files := certificates(t)
	o := natsserver.Options{Store: t.TempDir(), Listen: "127.0.0.1:0", Login: "ada:lovelace", Cert: files.cert, Key: files.key, CA: files.ca}
	s := start(t, o)
	ca, cert, login := nats.RootCAs(files.ca), nats.ClientCert(files.cert, files.key), nats.UserInfo("ada", "lovelace")
	connect(t, s.URL(), ca, cert, login)
	for name, with := range map[string][]nats.Option{
		"no certificate": {ca, login}, "no login": {ca, cert}, "another password": {ca, cert, nats.UserInfo("ada", "byron")}, "another authority": {cert, login},
	} {
		if nc, err := nats.Connect(s.URL(), with...); err == nil {
			nc.Close()
			t.Errorf("%s: got in", name)
		}
	}
	token := start(t, natsserver.Options{Store: t.TempDir(), Listen: "127.0.0.1:0", Login: "secret"})
	connect(t, token.URL(), nats.Token("secret"))
	if nc, err := nats.Connect(token.URL()); !errors.Is(err, nats.ErrAuthorization) {
		nc.Close()
		t.Errorf("without the token: %v", err)
	}
}

// TestThree: of three servers, which speak TLS and ask for a login, any may go. Each says how many
// are here, and nothing else.
func TestThree(t *testing.T) {
	files := certificates(t)
	var all []*natsserver.Server
	var peers []string
	for range 3 {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		peers = append(peers, l.Addr().String())
		l.Close()
	}
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	said := make(chan string, 100) // by the last
	hears := func(want string) {
		t.Helper()
		for {
			select {
			case text := <-said:
				if text == want {
					return
				}
				if !strings.Contains(text, " of 3 ") {
					t.Errorf("warned: %s", text)
				}
			case <-ctx.Done():
				t.Fatalf("no %q", want)
			}
		}
	}
	for i := range 3 {
		last := 2 - i
		o := natsserver.Options{
			Store: t.TempDir(), Listen: "127.0.0.1:0", Name: fmt.Sprint(last), Peers: peers, ListenPeers: peers[last],
			Login: "secret", Cert: files.cert, Key: files.key, CA: files.ca,
		}
		if last == 2 {
			o.Warn = func(text string) { said <- text }
		}
		all = append([]*natsserver.Server{start(t, o)}, all...)
		if last == 2 {
			hears("waits for the other servers: 1 of 3 are here")
		}
	}
	for _, s := range all {
		if err := s.Ready(ctx); err != nil {
			t.Fatal(err)
		}
	}
	js := connect(t, all[0].URL()+","+all[1].URL()+","+all[2].URL(), nats.RootCAs(files.ca), nats.ClientCert(files.cert, files.key), nats.Token("secret"))
	var kv jetstream.KeyValue
	var err error
	var refusal *jetstream.APIError
	for kv == nil { // the leader may take a server that has just come for one that is away
		kv, err = js.CreateKeyValue(ctx, jetstream.KeyValueConfig{Bucket: "b", Replicas: 3})
		if !errors.As(err, &refusal) || refusal.ErrorCode != 10005 {
			break
		}
	}
	if err == nil {
		_, err = kv.Create(ctx, "key", []byte("value"))
	}
	if err != nil {
		t.Fatal(err)
	}
	all[0].Close()
	for {
		short, cancel := context.WithTimeout(ctx, time.Second)
		_, err = kv.Put(short, "key", []byte("later"))
		cancel()
		if err == nil {
			break
		}
		if ctx.Err() != nil {
			t.Fatal("two of three take nothing:", err)
		}
	}
	hears("2 of 3 servers are here")
}

type pems struct{ ca, cert, key string }

// certificates writes a certificate of 127.0.0.1, which is its own authority.
func certificates(t *testing.T) pems {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	secret, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	p := pems{ca: filepath.Join(dir, "ca.pem"), cert: filepath.Join(dir, "cert.pem"), key: filepath.Join(dir, "key.pem")}
	for path, block := range map[string]*pem.Block{
		p.ca: {Type: "CERTIFICATE", Bytes: der}, p.cert: {Type: "CERTIFICATE", Bytes: der}, p.key: {Type: "PRIVATE KEY", Bytes: secret},
	} {
		if err := os.WriteFile(path, pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := tls.LoadX509KeyPair(p.cert, p.key); err != nil {
		t.Fatal(err)
	}
	return p
}

// TestKeepLogin: a server that keeps a login has the same one whenever it has this store, unless it
// is not readable, and lets in whoever of its user names it.
func TestKeepLogin(t *testing.T) {
	cache := t.TempDir()
	t.Setenv("XDG_CACHE_HOME", cache)
	o := natsserver.Options{Store: filepath.Join(t.TempDir(), "store"), Listen: "127.0.0.1:0", KeepLogin: true}
	s := start(t, o)
	connect(t, natslogin.With([]string{s.URL()})[0])
	if nc, err := nats.Connect(s.URL()); !errors.Is(err, nats.ErrAuthorization) {
		nc.Close()
		t.Errorf("without the login: %v", err)
	}
	if info, err := os.Stat(o.Store); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("%v, %v", info, err)
	}
	was := s.LoginURL()
	s.Close()
	if left, _ := filepath.Glob(filepath.Join(cache, "weft/servers/*")); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
	o.Listen = strings.TrimPrefix(s.URL(), "nats://")
	if s = start(t, o); s.LoginURL() != was {
		t.Errorf("%s, expected %s", s.LoginURL(), was)
	}
	s.Close()
	if err := os.WriteFile(natslogin.File(o.Store), []byte("junk"), 0o600); err != nil {
		t.Fatal(err)
	}
	if s = start(t, o); s.LoginURL() == was || !strings.Contains(s.LoginURL(), "@") {
		t.Errorf("of junk: %s", s.LoginURL())
	}
}
