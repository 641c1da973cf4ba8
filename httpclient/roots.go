package httpclient

import (
	"bytes"
	"crypto/x509"
	"encoding/asn1"
	"encoding/pem"
	"os"
	"runtime"
	"slices"
	"sync"
)

// bundles are files in which distributions of Linux have the system's roots. crypto/x509 reads the
// first that is there, in this order: one more here, or another order, would trust what that does
// not.
var bundles = []string{
	"/etc/ssl/certs/ca-certificates.crt",                // Debian, Arch
	"/etc/pki/tls/certs/ca-bundle.crt",                  // Fedora
	"/etc/ssl/ca-bundle.pem",                            // openSUSE
	"/etc/pki/tls/cacert.pem",                           // OpenELEC
	"/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem", // CentOS
	"/etc/ssl/cert.pem",                                 // Alpine
}

// roots are certificates of authorities in DER, by their subjects in DER. Parsing all that a system
// has takes 6 ms, of which a crawl needs a few.
type roots map[string][][]byte

// bundled returns the system's roots that are in one file; nil: there is none. crypto/x509 also
// reads the folders of certificates, which on Debian have each root twice more, and takes 10 ms.
var bundled = sync.OnceValue(func() roots {
	if runtime.GOOS != "linux" { // elsewhere a root may be in a file and not be trusted
		return nil
	}
	if file := os.Getenv("SSL_CERT_FILE"); file != "" {
		return readBundle(file)
	}
	return readBundle(bundles...)
})

// readBundle returns the certificates of the first file that can be read.
func readBundle(files ...string) roots {
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			continue
		}
		all := make(roots)
		for block, rest := pem.Decode(text); block != nil; block, rest = pem.Decode(rest) {
			if block.Type != "CERTIFICATE" || len(block.Headers) > 0 {
				continue // crypto/x509 does not read it either
			}
			if subject := subjectOf(block.Bytes); subject != nil {
				all[string(subject)] = append(all[string(subject)], block.Bytes)
			}
		}
		return all
	}
	return nil
}

// subjectOf returns the subject of a certificate (RFC 5280, section 4.1), nil if it has none.
func subjectOf(der []byte) []byte {
	var c struct {
		Signed struct {
			Version                             int `asn1:"optional,explicit,default:0,tag:0"`
			Serial, Algorithm, Issuer, Validity asn1.RawValue
			Subject                             asn1.RawValue
		}
	}
	if _, err := asn1.Unmarshal(der, &c); err != nil {
		return nil
	}
	return c.Signed.Subject.FullBytes
}

// above returns those that may have issued one of certs, or are one; nil: none may.
func (r roots) above(certs []*x509.Certificate) (pool *x509.CertPool) {
	for i, c := range certs {
		if slices.ContainsFunc(certs[:i], func(b *x509.Certificate) bool { return bytes.Equal(b.RawIssuer, c.RawIssuer) }) {
			continue
		}
		for _, der := range r[string(c.RawIssuer)] {
			root, err := x509.ParseCertificate(der)
			if err != nil {
				continue
			}
			if pool == nil {
				pool = x509.NewCertPool()
			}
			pool.AddCert(root)
		}
	}
	return pool
}
