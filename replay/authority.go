package replay

import (
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
	"io"
	"io/fs"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/weftcrawl/weft/internal/atomicfile"
)

// Authority signs the certificates that a proxy shows to browsers. It keeps none: the certificate
// of a host is the same each time it is made, for as long as the authority is open.
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
	early         = time.Hour      // for clocks that are behind
	leastValidity = 24 * time.Hour // of an authority that is used again
)

// OpenAuthority opens the authority of a folder, which belongs to the user and is nobody else's:
// whoever can put a key there can pose as any site. If the folder has no authority, or one that is
// about to expire, a new one is made. One that Weft would not have made is an error.
func OpenAuthority(dir string, now time.Time) (*Authority, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	if info, err := os.Stat(dir); err != nil {
		return nil, err
	} else if mode := info.Mode().Perm(); mode&0o022 != 0 {
		return nil, fmt.Errorf("%s: mode %04o, expected a folder that only you can write to", dir, mode)
	}
	path := filepath.Join(dir, keyFile)
	pair, err := readPair(path)
	if errors.Is(err, fs.ErrNotExist) || err == nil && now.Add(leastValidity).After(pair.Leaf.NotAfter) {
		if err = writeCertificate(path, authorityOf(now)); err == nil {
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
	return ca, writeBlocks(ca.File, 0o644, &pem.Block{Type: "CERTIFICATE", Bytes: ca.cert.Raw})
}

// KeyIn returns the path of a key that earlier versions, or a stranger, have put into a folder with
// an archive; "" if there is none.
func KeyIn(dir string) string {
	path := filepath.Join(dir, keyFile)
	if _, err := os.Lstat(path); err != nil {
		return ""
	}
	return path
}

// PublicKey returns the SHA-256 of the public key as Chromium takes it (RFC 7469).
func (ca *Authority) PublicKey() string {
	sum := sha256.Sum256(ca.cert.RawSubjectPublicKeyInfo)
	return base64.StdEncoding.EncodeToString(sum[:])
}

func readPair(path string) (tls.Certificate, error) {
	info, err := os.Lstat(path)
	if err != nil {
		return tls.Certificate{}, err
	}
	if mode := info.Mode(); mode != 0o600 {
		return tls.Certificate{}, fmt.Errorf("%s: mode %v, expected a file of mode 0600: others may know the key; remove it", path, mode)
	}
	pair, err := tls.LoadX509KeyPair(path, path)
	if err == nil {
		err = ours(pair.Leaf)
	}
	if err != nil {
		return pair, fmt.Errorf("%s: %w, expected a key that Weft has made; remove it", path, err)
	}
	return pair, nil
}

// ours returns an error for the certificate that is not like those of Weft: one that is good
// for longer, or for more.
func ours(c *x509.Certificate) error {
	switch {
	case !c.IsCA || !c.MaxPathLenZero || c.KeyUsage != x509.KeyUsageCertSign ||
		len(c.ExtKeyUsage) != 1 || c.ExtKeyUsage[0] != x509.ExtKeyUsageServerAuth || len(c.UnknownExtKeyUsage) > 0:
		return errors.New("not an authority for servers only")
	case c.NotAfter.Sub(c.NotBefore) > validity+early:
		return fmt.Errorf("good for more than %d days", int(validity.Hours()/24))
	}
	return c.CheckSignature(c.SignatureAlgorithm, c.RawTBSCertificate, c.Signature)
}

// authorityOf is the certificate of an authority for servers only, which has no other below it.
func authorityOf(now time.Time) *x509.Certificate {
	return &x509.Certificate{
		Subject:               pkix.Name{CommonName: "Weft replay, made " + now.UTC().Format(time.DateTime)},
		NotBefore:             now.Add(-early),
		NotAfter:              now.Add(validity),
		IsCA:                  true,
		BasicConstraintsValid: true,
		MaxPathLenZero:        true,
		KeyUsage:              x509.KeyUsageCertSign,
		ExtKeyUsage:           []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
}

// writeCertificate makes a key, and writes it with its certificate.
func writeCertificate(path string, cert *x509.Certificate) error {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return err
	}
	der, err := x509.CreateCertificate(rand.Reader, cert, cert, key.Public(), key)
	if err != nil {
		return err
	}
	secret, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return err
	}
	return writeBlocks(path, 0o600, &pem.Block{Type: "PRIVATE KEY", Bytes: secret}, &pem.Block{Type: "CERTIFICATE", Bytes: der})
}

// writeBlocks replaces a file.
func writeBlocks(path string, mode fs.FileMode, blocks ...*pem.Block) error {
	return atomicfile.Replace(path, mode, func(w io.Writer) error {
		var errs []error
		for _, b := range blocks {
			errs = append(errs, pem.Encode(w, b))
		}
		return errors.Join(errs...)
	})
}

// certificate makes the certificate of a host. Its serial number depends on all that it says, and
// its signature on nothing else (RFC 6979): a browser that is told to accept it does so the next
// time.
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
