package serve

import (
	"crypto/tls"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/weftcrawl/weft/internal/regular"
)

// Certificate is that of a server, from files that are read again when they change.
type Certificate struct {
	cert, key string
	warn      func(error)

	mu     sync.Mutex
	pair   *tls.Certificate
	read   [2]regular.Version // of the files of pair, or of later ones with a mistake
	looked time.Time
}

// LoadCertificate reads a certificate and its key. When the files change later and cannot be read,
// warn takes the error, and the server goes on with the certificate that it has.
func LoadCertificate(cert, key string, warn func(error)) (*Certificate, error) {
	c := &Certificate{cert: cert, key: key, warn: warn}
	read, err := c.versions()
	if err != nil {
		return nil, err
	}
	pair, err := tls.LoadX509KeyPair(cert, key)
	if err != nil {
		return nil, err
	}
	c.pair, c.read, c.looked = &pair, read, time.Now()
	return c, nil
}

const (
	certificateEvery   = time.Second     // between two looks at the files
	certificateSettles = 2 * time.Second // after a change the other file may not have changed yet
)

// Get returns the certificate for a connection.
func (c *Certificate) Get(*tls.ClientHelloInfo) (*tls.Certificate, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := time.Now()
	if since := now.Sub(c.looked); since >= 0 && since < certificateEvery {
		return c.pair, nil
	}
	c.looked = now
	read, err := c.versions()
	if read == c.read || read[0].IsFresh(now, certificateSettles) || read[1].IsFresh(now, certificateSettles) {
		return c.pair, nil
	}
	c.read = read
	if err == nil {
		var pair tls.Certificate
		if pair, err = tls.LoadX509KeyPair(c.cert, c.key); err == nil {
			c.pair = &pair
			return c.pair, nil
		}
	}
	c.warn(fmt.Errorf("%s: the certificate before is used: %w", c.cert, err))
	return c.pair, nil
}

// versions returns those of the files.
func (c *Certificate) versions() (all [2]regular.Version, err error) {
	for i, name := range []string{c.cert, c.key} {
		info, failed := os.Stat(name)
		if failed != nil {
			err = errors.Join(err, failed)
			continue
		}
		all[i] = regular.VersionOf(info)
	}
	return all, err
}
