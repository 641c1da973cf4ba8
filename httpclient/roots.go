package httpclient

import (
	"crypto/x509"
	"os"
	"runtime"
	"sync"
)

// bundles are files in which distributions of Linux have the system's roots. crypto/x509 reads the first that
// is there, in this order: one more here, or another order, would trust what that does not.
var bundles = []string{
	"/etc/ssl/certs/ca-certificates.crt",                // Debian, Arch
	"/etc/pki/tls/certs/ca-bundle.crt",                  // Fedora
	"/etc/ssl/ca-bundle.pem",                            // openSUSE
	"/etc/pki/tls/cacert.pem",                           // OpenELEC
	"/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem", // CentOS
	"/etc/ssl/cert.pem",                                 // Alpine
}

// bundled returns the system's roots that are in one file; nil: there is none. crypto/x509 also reads the
// folders of certificates, which on Debian have each root twice more, and takes 10 ms.
var bundled = sync.OnceValue(func() *x509.CertPool {
	if runtime.GOOS != "linux" { // elsewhere a root may be in a file and not be trusted
		return nil
	}
	if file := os.Getenv("SSL_CERT_FILE"); file != "" {
		return readBundle(file)
	}
	return readBundle(bundles...)
})

// readBundle returns the certificates of the first file that can be read.
func readBundle(files ...string) *x509.CertPool {
	for _, file := range files {
		if text, err := os.ReadFile(file); err == nil {
			pool := x509.NewCertPool()
			pool.AppendCertsFromPEM(text)
			return pool
		}
	}
	return nil
}
