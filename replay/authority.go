package replay

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// Authority signs the certificates that a proxy shows to browsers. It keeps none: the certificate of
// a host is the same each time it is made, for as long as the authority is open.
type Authority struct {
	// File holds the certificate for browsers to trust, in PEM.
	File string

	cert *x509.Certificate
	key  any               // of the authority
	leaf *ecdsa.PrivateKey // of all hosts; never written
}

const (
	authorityFile = "replay-ca.pem"
	keyFile       = "replay-ca-key.pem" // the key with its certificate
	validity      = 30 * 24 * time.Hour
	leastValidity = 24 * time.Hour // of an authority that is used again
)

// OpenAuthority opens the authority of a folder. If it has none, or one that is about to expire, a new
// one is made.
func OpenAuthority(dir string, now time.Time) (*Authority, error) {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return nil, err
	}
	path := filepath.Join(dir, keyFile)
	pair, err := readPair(path)
	if errors.Is(err, fs.ErrNotExist) || err == nil && now.Add(leastValidity).After(pair.Leaf.NotAfter) {
		if err = writePair(path, now); err == nil {
			pair, err = readPair(path)
		}
	}
	if err != nil {
		return nil, err
	}
	ca := &Authority{File: filepath.Join(dir, authorityFile), cert: pair.Leaf, key: pair.PrivateKey}
	if ca.leaf, err = ecdsa.GenerateKey(elliptic.P256(), rand.Reader); err != nil {
		return nil, err
	}
	public := &pem.Block{Type: "CERTIFICATE", Bytes: ca.cert.Raw}
	if text, err := os.ReadFile(ca.File); err == nil && bytes.Equal(text, pem.EncodeToMemory(public)) {
		return ca, nil
	}
	return ca, replace(ca.File, 0o644, public)
}

// PublicKey returns the SHA-256 of the public key as Chromium takes it (RFC 7469).
func (ca *Authority) PublicKey() string {
	sum := sha256.Sum256(ca.cert.RawSubjectPublicKeyInfo)
	return base64.StdEncoding.EncodeToString(sum[:])
}

func readPair(path string) (tls.Certificate, error) {
	info, err := os.Stat(path)
	if err != nil {
		return tls.Certificate{}, err
	}
	if mode := info.Mode().Perm(); mode&0o077 != 0 {
		return tls.Certificate{}, fmt.Errorf("%s: mode %04o, expected 0600: others may know the key; remove the file", path, mode)
	}
	pair, err := tls.LoadX509KeyPair(path, path)
	if err == nil && !pair.Leaf.IsCA {
		err = errors.New("its certificate is not that of an authority")
	}
	if err != nil {
		return pair, fmt.Errorf("%s: %w", path, err)
	}
	return pair, nil
}

// writePair makes an authority for servers only, which has no other below it.
func writePair(path string, now time.Time) error {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return err
	}
	cert := &x509.Certificate{
		Subject:               pkix.Name{CommonName: "Weft replay, made " + now.UTC().Format(time.DateTime)},
		NotBefore:             now.Add(-time.Hour),
		NotAfter:              now.Add(validity),
		IsCA:                  true,
		BasicConstraintsValid: true,
		MaxPathLenZero:        true,
		KeyUsage:              x509.KeyUsageCertSign,
		ExtKeyUsage:           []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	der, err := x509.CreateCertificate(rand.Reader, cert, cert, key.Public(), key)
	if err != nil {
		return err
	}
	secret, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return err
	}
	return replace(path, 0o600, &pem.Block{Type: "PRIVATE KEY", Bytes: secret}, &pem.Block{Type: "CERTIFICATE", Bytes: der})
}

// replace writes a file as a whole.
func replace(path string, mode fs.FileMode, blocks ...*pem.Block) error {
	f, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".*")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name()) // fails once it has its name
	var errs []error
	for _, b := range blocks {
		errs = append(errs, pem.Encode(f, b))
	}
	if err := errors.Join(append(errs, f.Chmod(mode), f.Close())...); err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}

// certificate makes the certificate of a host. Its serial number depends on all that it says, and its
// signature on nothing else (RFC 6979): a browser that is told to accept it does so the next time.
func (ca *Authority) certificate(host string) (*tls.Certificate, error) {
	public, err := ca.leaf.PublicKey.Bytes()
	if err != nil {
		return nil, err
	}
	serial := sha256.Sum256(append(public, host...))
	cert := &x509.Certificate{
		SerialNumber: new(big.Int).SetBytes(serial[:16]),
		NotBefore:    ca.cert.NotBefore,
		NotAfter:     ca.cert.NotAfter,
		KeyUsage:     x509.KeyUsageDigitalSignature,
		ExtKeyUsage:  []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	if ip := net.ParseIP(host); ip != nil {
		cert.IPAddresses = []net.IP{ip}
	} else {
		cert.DNSNames = []string{strings.TrimSuffix(host, ".")}
	}
	der, err := x509.CreateCertificate(nil, cert, ca.cert, ca.leaf.Public(), ca.key)
	if err != nil {
		return nil, err
	}
	return &tls.Certificate{Certificate: [][]byte{der, ca.cert.Raw}, PrivateKey: ca.leaf}, nil
}
