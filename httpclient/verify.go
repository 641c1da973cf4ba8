package httpclient

import (
	"bytes"
	"crypto/sha256"
	"crypto/x509"
	"encoding/binary"
	"time"
)

// Bounds of what a verifier remembers. Beyond them all is forgotten, which costs each server one
// verification.
const (
	mostChains  = 4096 // of 100 bytes
	mostIssuers = 128
	mostIssuer  = 4 << 10 // bytes of a certificate; an issuer's takes up to 16 times that
)

// remembered is the longest time for which a chain is believed.
const remembered = time.Hour

// verifier verifies the certificates of servers against one set of roots, and remembers which it
// has found valid: those of a name, as sent; and issuers, for the certificates that others of their
// servers have. Verifying is most of the CPU time of a handshake. What is not valid is not
// remembered.
type verifier struct {
	roots   *x509.CertPool             // nil: the system's
	most    func() roots               // those of the roots that are tried first; nil: none
	chains  map[[sha256.Size]byte]span // by name and certificates
	issuers map[[sha256.Size]byte]*issuer
}

// issuer is an intermediate certificate that has led to a root.
type issuer struct {
	span
	pool *x509.CertPool // of it alone
}

// span is a time during which certificates are valid.
type span struct{ from, until time.Time }

func (s span) covers(now time.Time) bool { return !now.Before(s.from) && now.Before(s.until) }

// within returns what s has in common with the validity of certificates.
func (s span) within(certs ...*x509.Certificate) span {
	for _, c := range certs {
		if c.NotBefore.After(s.from) {
			s.from = c.NotBefore
		}
		if c.NotAfter.Before(s.until) {
			s.until = c.NotAfter
		}
	}
	return s
}

func newVerifier(roots *x509.CertPool) verifier {
	v := verifier{roots: roots, chains: make(map[[sha256.Size]byte]span), issuers: make(map[[sha256.Size]byte]*issuer)}
	if roots == nil {
		v.most = bundled
	}
	return v
}

// verify returns an error unless certs, the server's and then others, are valid for a name.
func (v *verifier) verify(certs []*x509.Certificate, name string, now time.Time) error {
	key := chainKey(certs, name)
	if v.chains[key].covers(now) {
		return nil
	}
	valid, err := v.judge(certs, name, now)
	if err != nil {
		return certificateError(err, certs, name, now)
	}
	if len(v.chains) >= mostChains {
		clear(v.chains)
	}
	v.chains[key] = valid
	return nil
}

// chainKey identifies certificates and a name.
func chainKey(certs []*x509.Certificate, name string) (key [sha256.Size]byte) {
	h := sha256.New()
	var size [4]byte
	part := func(b []byte) {
		binary.BigEndian.PutUint32(size[:], uint32(len(b)))
		_, _ = h.Write(size[:])
		_, _ = h.Write(b)
	}
	part([]byte(name))
	for _, c := range certs {
		part(c.Raw)
	}
	h.Sum(key[:0])
	return key
}

// judge verifies certificates, and returns for how long the result holds.
func (v *verifier) judge(certs []*x509.Certificate, name string, now time.Time) (span, error) {
	leaf := certs[0]
	opts := x509.VerifyOptions{DNSName: name, CurrentTime: now, Intermediates: x509.NewCertPool()}
	for _, c := range certs[1:] {
		if !bytes.Equal(c.RawSubject, leaf.RawIssuer) {
			continue
		}
		if known := v.issuers[sha256.Sum256(c.Raw)]; known != nil && known.covers(now) {
			opts.Roots = known.pool
			if _, err := leaf.Verify(opts); err == nil {
				return known.within(leaf), nil
			}
		}
	}
	for _, c := range certs[1:] {
		opts.Intermediates.AddCert(c)
	}
	chains, err := v.toRoot(certs, opts)
	if err != nil {
		return span{}, err
	}
	var longest span
	for _, chain := range chains {
		valid := span{until: now.Add(remembered)}.within(chain[1:]...)
		v.remember(chain, valid)
		if valid = valid.within(leaf); longest.until.Before(valid.until) {
			longest = valid
		}
	}
	return longest, nil
}

// toRoot returns the chains that lead from the first of certs to a root.
func (v *verifier) toRoot(certs []*x509.Certificate, opts x509.VerifyOptions) ([][]*x509.Certificate, error) {
	if v.most != nil {
		if opts.Roots = v.most().above(certs); opts.Roots != nil {
			if chains, err := certs[0].Verify(opts); err == nil {
				return chains, nil
			}
		}
	}
	opts.Roots = v.roots
	return certs[0].Verify(opts)
}

// remember remembers the issuer of a valid chain, unless the certificates above it, which are not
// looked at again, restrict those below it.
func (v *verifier) remember(chain []*x509.Certificate, valid span) {
	if len(chain) < 3 || len(chain[1].Raw) > mostIssuer {
		return
	}
	for _, above := range chain[2:] {
		if restricts(above) {
			return
		}
	}
	if len(v.issuers) >= mostIssuers {
		clear(v.issuers)
	}
	pool := x509.NewCertPool()
	pool.AddCert(chain[1])
	v.issuers[sha256.Sum256(chain[1].Raw)] = &issuer{valid, pool}
}

// restricts reports whether a certificate says more of the certificates below it than how far they
// are from it (RFC 5280, sections 4.2.1.10 and 4.2.1.11).
func restricts(c *x509.Certificate) bool {
	names := len(c.PermittedDNSDomains) + len(c.ExcludedDNSDomains) + len(c.PermittedIPRanges) + len(c.ExcludedIPRanges) +
		len(c.PermittedEmailAddresses) + len(c.ExcludedEmailAddresses) + len(c.PermittedURIDomains) + len(c.ExcludedURIDomains)
	return names > 0 || c.RequireExplicitPolicy > 0 || c.RequireExplicitPolicyZero || c.InhibitPolicyMapping > 0 ||
		c.InhibitPolicyMappingZero || c.InhibitAnyPolicy > 0 || c.InhibitAnyPolicyZero
}
