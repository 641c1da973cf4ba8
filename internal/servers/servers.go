package servers

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"text/template"
	"time"

	"github.com/weftcrawl/weft/internal/process"
)

// Server is a web server that speaks HTTP/2 over TLS.
type Server struct {
	Name    string
	program string            // "": it runs in this process
	version []string          // arguments that print its version
	files   map[string]string // its configuration: templates of Options
	args    []string          // its arguments: templates of Options
	log     string            // the file that it logs requests to; "": standard output
	read    func(line string) (Request, bool)
	reload  os.Signal // nil: it has none
	quit    os.Signal // ends it at once
	backend bool      // it is a proxy, of a server in this process
}

// Options are those of a server. The zero value is its default.
type Options struct {
	Root     string // the folder to serve
	Dir      string // an empty folder for its files, which other users may enter
	Streams  int    // the most that are open at once on a connection
	Requests int    // of a connection, which ends after them
	Window   int    // bytes that it takes on an HTTP/2 stream; -1: none
	HTTP1    bool   // no HTTP/2
	Flags    []string

	Port, Backend int    // are filled in
	Cert, Key     string // of its name, 127.0.0.1: are filled in
}

// Request is a line of a log.
type Request struct {
	Conn     string // tells connections apart
	Protocol string // such as HTTP/2.0
	Method   string
	URI      string
}

// Running is a server that accepts connections.
type Running struct {
	*Server
	Options
	process *process.Process
	here    *here // or the server in this process
	behind  *here // of a proxy
}

// Installed reports whether a server can be started here.
func (s *Server) Installed() bool {
	_, err := exec.LookPath(s.program)
	return s.program == "" || err == nil
}

// Version returns what a server says of its version.
func (s *Server) Version(ctx context.Context) string {
	if s.program == "" {
		return goVersion()
	}
	out, err := exec.CommandContext(ctx, s.program, s.version...).CombinedOutput()
	if err != nil {
		return ""
	}
	first, _, _ := strings.Cut(strings.TrimSpace(string(out)), "\n")
	for _, word := range strings.FieldsFunc(first, func(r rune) bool { return r == ' ' || r == '/' }) {
		if word = strings.TrimPrefix(word, "v"); word != "" && word[0] >= '0' && word[0] <= '9' {
			return word
		}
	}
	return first
}

// Start starts a server.
func (s *Server) Start(ctx context.Context, o Options) (*Running, error) {
	r := &Running{Server: s, Options: o}
	err := r.certify()
	if err == nil {
		r.Port, err = freePort()
	}
	if err == nil && s.backend {
		if r.behind, err = startHere(&Options{Root: o.Root}); err == nil {
			r.Backend = r.behind.port()
		}
	}
	if err == nil {
		err = r.Restart(ctx)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("%s: %w", s.Name, err), r.Stop())
	}
	return r, nil
}

// URL returns the start of the site.
func (r *Running) URL() string { return fmt.Sprintf("https://127.0.0.1:%d/", r.Port) }

// Restart starts the program, which has been stopped.
func (r *Running) Restart(ctx context.Context) (err error) {
	if r.program == "" {
		r.here, err = startHere(&r.Options)
		return err
	}
	for name, text := range r.files {
		text, err := r.fill(text)
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(r.Dir, name), []byte(text), 0o644); err != nil {
			return err
		}
	}
	args := []string{"-c", `exec "$0" "$@" >>output`, r.program}
	for _, arg := range append(r.args, r.Flags...) {
		if arg, err = r.fill(arg); err != nil {
			return err
		}
		if arg != "" {
			args = append(args, arg)
		}
	}
	env := []string{"HOME=" + r.Dir, "XDG_DATA_HOME=" + r.Dir, "XDG_CONFIG_HOME=" + r.Dir}
	if r.process, err = process.Start(ctx, process.Options{Dir: r.Dir, Env: env}, "sh", args...); err != nil {
		return err
	}
	for {
		c, err := net.Dial("tcp", fmt.Sprintf("127.0.0.1:%d", r.Port))
		if err == nil {
			return c.Close()
		}
		select {
		case <-r.process.Ended():
			return fmt.Errorf("it ended: %w", r.process.Wait())
		case <-time.After(time.Millisecond):
		}
	}
}

// fill fills in a template.
func (r *Running) fill(text string) (string, error) {
	t, err := template.New(r.Name).Parse(text)
	if err != nil {
		return "", err
	}
	var out strings.Builder
	err = t.Execute(&out, &r.Options)
	return out.String(), err
}

// Reload tells the server to take in its configuration anew, if it can.
func (r *Running) Reload() error {
	switch {
	case r.here != nil:
		return r.here.reload()
	case r.reload == nil:
		return fmt.Errorf("%s: no reload", r.Name)
	}
	r.process.Signal(r.reload)
	return nil
}

// End ends the program, and keeps what it has logged.
func (r *Running) End() {
	switch {
	case r.here != nil:
		r.here.stop()
	case r.process != nil:
		if r.process.Signal(r.quit); r.program == "apache2" { // a second one is for its children
			r.process.Signal(syscall.SIGTERM)
		}
		<-r.process.Ended()
	}
}

// Stop ends the program, and what is behind it.
func (r *Running) Stop() error {
	r.End()
	if r.behind != nil {
		r.behind.stop()
	}
	return nil
}

// Requests returns what was logged so far.
func (r *Running) Requests() (all []Request, err error) {
	if r.here != nil {
		return r.here.requests(), nil
	}
	name := r.log
	if name == "" {
		name = "output"
	}
	text, err := os.ReadFile(filepath.Join(r.Dir, name))
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	for line := range bytes.Lines(text) {
		if one, ok := r.read(strings.TrimSpace(string(line))); ok {
			all = append(all, one)
		}
	}
	return all, err
}

// Count returns how many requests were logged so far.
func (r *Running) Count() int {
	all, _ := r.Requests() // none yet
	return len(all)
}

// freePort returns a port that nobody listens on.
func freePort() (int, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, err
	}
	return l.Addr().(*net.TCPAddr).Port, l.Close()
}

// certify makes a certificate of 127.0.0.1.
func (r *Running) certify() error {
	r.Cert, r.Key = filepath.Join(r.Dir, "cert.pem"), filepath.Join(r.Dir, "key.pem")
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return err
	}
	now := time.Now()
	leaf := &x509.Certificate{
		SerialNumber: big.NewInt(now.UnixNano()), NotBefore: now.Add(-time.Hour), NotAfter: now.Add(24 * time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: true, BasicConstraintsValid: true,
		KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
	}
	cert, err := x509.CreateCertificate(rand.Reader, leaf, leaf, &key.PublicKey, key)
	if err != nil {
		return err
	}
	secret, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return err
	}
	certPEM := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: cert})
	keyPEM := pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: secret})
	return errors.Join(
		os.WriteFile(r.Cert, certPEM, 0o644), os.WriteFile(r.Key, keyPEM, 0o644),
		os.WriteFile(filepath.Join(r.Dir, "both.pem"), append(certPEM, keyPEM...), 0o644),
	)
}
