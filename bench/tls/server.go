//go:build linux

package main

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"log"
	"math/big"
	"net"
	"net/http"
	"os"
	"time"
)

// pageBytes is the size of every page.
const pageBytes = 4096

// authority issues the certificates of the servers, through an intermediate one: as a server on the
// Web has them, names signed by an intermediate (P-256), which is signed by a root (P-384).
type authority struct {
	root   []byte // DER
	middle []byte
	issuer *x509.Certificate
	key    *ecdsa.PrivateKey // of the issuer
	serial int64
}

func newAuthority() (*authority, error) {
	rootKey, err := ecdsa.GenerateKey(elliptic.P384(), rand.Reader)
	if err != nil {
		return nil, err
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	a := &authority{key: key, serial: 2}
	root := a.template("Benchmark Root")
	root.IsCA, root.KeyUsage = true, x509.KeyUsageCertSign
	if a.root, err = x509.CreateCertificate(rand.Reader, root, root, rootKey.Public(), rootKey); err != nil {
		return nil, err
	}
	middle := a.template("Benchmark Issuer")
	middle.IsCA, middle.KeyUsage = true, x509.KeyUsageCertSign
	middle.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}
	if a.middle, err = x509.CreateCertificate(rand.Reader, middle, root, key.Public(), rootKey); err != nil {
		return nil, err
	}
	a.issuer, err = x509.ParseCertificate(a.middle)
	return a, err
}

func (a *authority) template(name string) *x509.Certificate {
	a.serial++
	return &x509.Certificate{
		SerialNumber: big.NewInt(a.serial), Subject: pkix.Name{CommonName: name}, BasicConstraintsValid: true,
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(24 * time.Hour),
	}
}

// issue returns the certificate of a server, with its chain.
func (a *authority) issue(name string) (*tls.Certificate, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	t := a.template(name)
	t.DNSNames, t.KeyUsage = []string{name, "www." + name}, x509.KeyUsageDigitalSignature
	t.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}
	leaf, err := x509.CreateCertificate(rand.Reader, t, a.issuer, key.Public(), a.key)
	return &tls.Certificate{Certificate: [][]byte{leaf, a.middle}, PrivateKey: key}, err
}

// originName is the name of the i-th server.
func originName(i int) string { return fmt.Sprintf("h%d.test", i) }

// serve serves the same page from many names, each with a certificate of its own, until standard
// input ends. It writes the root into a file, and prints its port.
func serve(roots string) error {
	a, err := newAuthority()
	if err != nil {
		return err
	}
	err = os.WriteFile(roots, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: a.root}), 0o666)
	if err != nil {
		return err
	}
	certs := make(map[string]*tls.Certificate, origins)
	for i := range origins {
		if certs[originName(i)], err = a.issue(originName(i)); err != nil {
			return err
		}
	}
	page := bytes.Repeat([]byte("<a href=\"/next\">next</a> weft\r\n\n"), pageBytes/32)
	server := &http.Server{
		Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "text/html; charset=utf-8")
			_, _ = w.Write(page)
		}),
		TLSConfig: &tls.Config{GetCertificate: func(hello *tls.ClientHelloInfo) (*tls.Certificate, error) {
			if c := certs[hello.ServerName]; c != nil {
				return c, nil
			}
			return certs[originName(0)], nil
		}},
		ErrorLog: log.New(os.Stderr, "server: ", 0),
	}
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	fmt.Println(ln.Addr().(*net.TCPAddr).Port)
	go func() {
		_, _ = os.Stdin.Read(make([]byte, 1))
		_ = server.Close()
	}()
	if err := server.ServeTLS(ln, "", ""); err != http.ErrServerClosed {
		return err
	}
	return nil
}
