package serve

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// TestCertificate: a renewed certificate is used without a restart; half of a renewal, or a file
// that is none, is told once, and the certificate before goes on being used.
func TestCertificate(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	cert, key := filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	past := time.Now().Add(-time.Hour)
	write := func(path, kind string, der []byte) {
		t.Helper()
		past = past.Add(time.Second)
		if err := os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(path, past, past); err != nil { // it has been left alone for long
			t.Fatal(err)
		}
	}
	renewed := func(serial int64) (certificate, private []byte) {
		t.Helper()
		k, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
		if err != nil {
			t.Fatal(err)
		}
		of := &x509.Certificate{SerialNumber: big.NewInt(serial), NotAfter: time.Now().Add(time.Hour), IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}}
		if certificate, err = x509.CreateCertificate(rand.Reader, of, of, k.Public(), k); err != nil {
			t.Fatal(err)
		}
		if private, err = x509.MarshalECPrivateKey(k); err != nil {
			t.Fatal(err)
		}
		return certificate, private
	}
	first, firstKey := renewed(1)
	write(cert, "CERTIFICATE", first)
	write(key, "EC PRIVATE KEY", firstKey)
	var warnings []error
	c, err := LoadCertificate(cert, key, func(err error) { warnings = append(warnings, err) })
	if err != nil {
		t.Fatal(err)
	}
	listener, err := tls.Listen("tcp", "127.0.0.1:0", &tls.Config{GetCertificate: c.Get})
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	serial := func() int64 {
		t.Helper()
		c.mu.Lock()
		c.looked = time.Time{} // which is long ago
		c.mu.Unlock()
		go func() {
			if conn, err := listener.Accept(); err == nil {
				_ = conn.(*tls.Conn).Handshake()
				conn.Close()
			}
		}()
		conn, err := tls.Dial("tcp", listener.Addr().String(), &tls.Config{InsecureSkipVerify: true})
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		return conn.ConnectionState().PeerCertificates[0].SerialNumber.Int64()
	}
	expect := func(want int64, warned int) {
		t.Helper()
		for range 2 {
			if got := serial(); got != want || len(warnings) != warned {
				t.Errorf("certificate %d, warnings %q, expected %d", got, warnings, want)
			}
		}
	}
	expect(1, 0)
	second, secondKey := renewed(2)
	write(cert, "CERTIFICATE", second)
	expect(1, 1) // the key is not there yet
	write(key, "EC PRIVATE KEY", secondKey)
	expect(2, 1)
	if err := os.Remove(key); err != nil {
		t.Fatal(err)
	}
	expect(2, 2)
	third, thirdKey := renewed(3)
	write(cert, "CERTIFICATE", third)
	write(key, "EC PRIVATE KEY", thirdKey)
	expect(3, 2)
	if err := os.WriteFile(cert, []byte("half"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := LoadCertificate(cert, key, nil); err == nil {
		t.Error("a file that is no certificate is accepted")
	}
}
