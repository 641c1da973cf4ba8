package httpclient

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"maps"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

var today = time.Date(2026, time.November, 23, 12, 0, 0, 0, time.UTC)

// issuing is a certificate that issues others; nil issues a root.
type issuing struct {
	*x509.Certificate
	key crypto.Signer
}

// issue returns a certificate of a name, valid for 100 days around today unless change says
// otherwise.
func (by *issuing) issue(t *testing.T, name string, change func(c *x509.Certificate)) *issuing {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: name}, BasicConstraintsValid: true,
		NotBefore: today.AddDate(0, 0, -50), NotAfter: today.AddDate(0, 0, 50),
	}
	change(template)
	if by == nil {
		by = &issuing{template, key}
	}
	der, err := x509.CreateCertificate(rand.Reader, template, by.Certificate, key.Public(), by.key)
	if err != nil {
		t.Fatal(err)
	}
	c, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	return &issuing{c, key}
}

func authorityCert(c *x509.Certificate) { c.IsCA = true }

// forHost makes a certificate one of a.test.
func forHost(c *x509.Certificate) { c.DNSNames = []string{"a.test"} }

func rootsOf(certs ...*issuing) *x509.CertPool {
	p := x509.NewCertPool()
	for _, c := range certs {
		p.AddCert(c.Certificate)
	}
	return p
}

// TestCertificateErrors: the error of a certificate says what is wrong with it, on one line.
func TestCertificateErrors(t *testing.T) {
	var none *issuing
	root := none.issue(t, "Test Root", authorityCert)
	issuer := root.issue(t, "Test Issuer", authorityCert)
	ended := root.issue(t, "Ended Issuer", func(c *x509.Certificate) {
		authorityCert(c)
		c.NotAfter = today.Add(-30 * time.Hour)
	})
	other := none.issue(t, "Other\x1b[2J Root", authorityCert)
	host := func(change func(c *x509.Certificate)) *issuing {
		return issuer.issue(t, "leaf", func(c *x509.Certificate) {
			forHost(c)
			change(c)
		})
	}
	middle := other.issue(t, "Middle", authorityCert)
	owner, namesake := host(func(*x509.Certificate) {}), issuerNamed(t, "Test Issuer")
	for want, certs := range map[string][]*issuing{
		"it expired on 2026-11-20, 3 days ago": {host(func(c *x509.Certificate) { c.NotAfter = today.AddDate(0, 0, -3) }), issuer},
		"it expired on 2026-11-23, 1 hour ago": {host(func(c *x509.Certificate) { c.NotAfter = today.Add(-time.Hour) }), issuer},
		"it is valid from 2026-12-01 on, and today is 2026-11-23": {
			host(func(c *x509.Certificate) { c.NotBefore = time.Date(2026, time.December, 1, 0, 0, 0, 0, time.UTC) }), issuer,
		},
		"it is for b.test and 192.0.2.1, not for a.test": {host(func(c *x509.Certificate) {
			c.DNSNames, c.IPAddresses = []string{"b.test"}, []net.IP{net.IPv4(192, 0, 2, 1)}
		}), issuer},
		"it is for b.test, c.test, *.d.test and 2 other names, not for a.test": {host(func(c *x509.Certificate) {
			c.DNSNames = []string{"b.test", "c.test", "*.d.test", "e.test", "f.test"}
		}), issuer},
		`it is for "\x1b[2J.test", not for a.test`: {host(func(c *x509.Certificate) { c.DNSNames = []string{"\x1b[2J.test"} }), issuer},
		"it is for no host, not for a.test":        {host(func(c *x509.Certificate) { c.DNSNames = nil }), issuer},
		"it is not for servers": {host(func(c *x509.Certificate) {
			c.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}
		}), issuer},
		"it is self-signed": {none.issue(t, "leaf", forHost)},
		`its issuer "Test Issuer" is unknown, and the server sends no certificate of that`: {host(func(*x509.Certificate) {})},
		`its authority "Other\x1b[2J Root" is not trusted`:                                 {other.issue(t, "leaf", forHost), other},
		`its authority "Other\x1b[2J Root" is unknown`:                                     {middle.issue(t, "leaf", forHost), middle},
		`it is not signed by its issuer "Test Issuer"`:                                     {issuerNamed(t, "Test Issuer").issue(t, "leaf", forHost), issuer},
		`that of its issuer "leaf" is not one of an authority`:                             {owner.issue(t, "sub", forHost), owner, issuer},
		`its authority "Test Issuer" is not trusted`:                                       {namesake.issue(t, "leaf", forHost), issuer, namesake},
		"it expired on 2026-11-23, less than an hour ago":                                  {host(func(c *x509.Certificate) { c.NotAfter = today.Add(-time.Minute) }), issuer},
		`that of its issuer "Ended Issuer" expired on 2026-11-22, 1 day ago`:               {ended.issue(t, "leaf", forHost), ended},
	} {
		v := newVerifier(rootsOf(root))
		err := v.verify(plain(certs), "a.test", today)
		if err == nil || !errors.Is(err, ErrCertificate) || strings.TrimPrefix(err.Error(), "certificate not accepted: ") != want {
			t.Errorf("%v\nwant %s", err, want)
		}
		if len(v.chains) > 0 || len(v.issuers) > 0 {
			t.Errorf("%s: it is remembered", want)
		}
	}
}

// plain returns what a server sends.
func plain(certs []*issuing) (all []*x509.Certificate) {
	for _, c := range certs {
		all = append(all, c.Certificate)
	}
	return all
}

// TestVerifiedChains: a chain that was found valid is believed for an hour, while all of it is
// valid, for its name and as it was sent; and so is its issuer, for other certificates. It makes no
// difference whether it was verified up to its root or up to an issuer that was known already.
func TestVerifiedChains(t *testing.T) {
	var none *issuing
	root := none.issue(t, "Test Root", authorityCert)
	issuer := root.issue(t, "Test Issuer", authorityCert)
	soon := func(c *x509.Certificate) {
		forHost(c)
		c.NotAfter = today.Add(10 * time.Minute)
	}
	leaf, brief := issuer.issue(t, "leaf", forHost), issuer.issue(t, "brief", soon)
	briefAlone := root.issue(t, "brief", soon)
	briefIssuer := root.issue(t, "Brief Issuer", func(c *x509.Certificate) {
		authorityCert(c)
		c.NotAfter = today.Add(10 * time.Minute)
	})
	outlives, outlivesToo := briefIssuer.issue(t, "leaf", forHost), briefIssuer.issue(t, "leaf", forHost)
	another := issuer.issue(t, "leaf", func(c *x509.Certificate) { c.DNSNames = []string{"b.test"} })
	direct := root.issue(t, "leaf", forHost)

	v := newVerifier(rootsOf(root))
	for _, c := range [][]*issuing{
		{leaf, issuer}, {brief, issuer}, {direct, issuer}, // the second up to the issuer of the first
		{briefAlone}, {outlives, briefIssuer}, {outlivesToo, briefIssuer},
	} {
		if err := v.verify(plain(c), "a.test", today); err != nil {
			t.Fatal(err)
		}
	}
	v.roots = rootsOf() // so only what is remembered counts
	for _, c := range []struct {
		what  string
		certs []*issuing
		name  string
		after time.Duration
		valid bool
	}{
		{"the same", []*issuing{leaf, issuer}, "a.test", 59 * time.Minute, true},
		{"the same, late", []*issuing{leaf, issuer}, "a.test", time.Hour, false},
		{"the same, and the clock has been set back", []*issuing{leaf, issuer}, "a.test", -60 * 24 * time.Hour, false},
		{"another name", []*issuing{leaf, issuer}, "b.test", 0, false},
		{"without its issuer", []*issuing{leaf}, "a.test", 0, false},
		{"one that ends sooner", []*issuing{brief, issuer}, "a.test", 9 * time.Minute, true},
		{"one that has ended", []*issuing{brief, issuer}, "a.test", 11 * time.Minute, false},
		{"one of the root that ends sooner", []*issuing{briefAlone}, "a.test", 9 * time.Minute, true},
		{"one of the root that has ended", []*issuing{briefAlone}, "a.test", 11 * time.Minute, false},
		{"its issuer ends sooner", []*issuing{outlives, briefIssuer}, "a.test", 9 * time.Minute, true},
		{"its issuer has ended", []*issuing{outlives, briefIssuer}, "a.test", 11 * time.Minute, false},
		{"its issuer, which was known, has ended", []*issuing{outlivesToo, briefIssuer}, "a.test", 11 * time.Minute, false},
		{"another of the issuer", []*issuing{another, issuer}, "b.test", 59 * time.Minute, true},
		{"another of the issuer, late", []*issuing{another, issuer}, "b.test", time.Hour, false},
		{"another of the root", []*issuing{root.issue(t, "leaf", forHost)}, "a.test", 0, false},
		{"of an issuer of that name", []*issuing{issuerNamed(t, "Test Issuer").issue(t, "leaf", forHost), issuer}, "a.test", 0, false},
	} {
		// No case sees what another has learnt.
		fresh := verifier{roots: v.roots, chains: maps.Clone(v.chains), issuers: maps.Clone(v.issuers)}
		if err := fresh.verify(plain(c.certs), c.name, today.Add(c.after)); (err == nil) != c.valid {
			t.Errorf("%s: %v", c.what, err)
		}
	}
}

func issuerNamed(t *testing.T, name string) *issuing {
	var none *issuing
	return none.issue(t, name, authorityCert)
}

// TestRestrictedIssuers: an issuer under a root that restricts it is not remembered, and so each of
// its certificates is judged by the root, too.
func TestRestrictedIssuers(t *testing.T) {
	var none *issuing
	root := none.issue(t, "Test Root", func(c *x509.Certificate) {
		authorityCert(c)
		c.PermittedDNSDomainsCritical, c.PermittedDNSDomains = true, []string{"a.test"}
	})
	issuer := root.issue(t, "Test Issuer", authorityCert)
	v := newVerifier(rootsOf(root))
	if err := v.verify(plain([]*issuing{issuer.issue(t, "leaf", forHost), issuer}), "a.test", today); err != nil {
		t.Fatal(err)
	}
	beyond := issuer.issue(t, "leaf", func(c *x509.Certificate) { c.DNSNames = []string{"b.test"} })
	if err := v.verify(plain([]*issuing{beyond, issuer}), "b.test", today); err == nil {
		t.Error("a certificate for b.test is accepted: its root permits a.test")
	}
}

// TestVerifierIsBounded: beyond its bounds a verifier forgets.
func TestVerifierIsBounded(t *testing.T) {
	var none *issuing
	root := none.issue(t, "Test Root", authorityCert)
	leaf := root.issue(t, "leaf", func(c *x509.Certificate) { c.DNSNames = []string{"*.test"} })
	v := newVerifier(rootsOf(root))
	for i := range mostChains {
		v.chains[chainKey(nil, fmt.Sprint(i))] = span{}
	}
	if err := v.verify(plain([]*issuing{leaf}), "a.test", today); err != nil || len(v.chains) != 1 {
		t.Errorf("%v, %d chains", err, len(v.chains))
	}
}

// TestSomeRootsAreTriedFirst: a root beyond those that are tried first counts, and none besides. Of
// those that are, the issuers of the certificates are.
func TestSomeRootsAreTriedFirst(t *testing.T) {
	var none *issuing
	first, second, other := none.issue(t, "First", authorityCert), none.issue(t, "Second", authorityCert), none.issue(t, "Other", authorityCert)
	var text []byte
	for _, block := range []pem.Block{
		{Type: "CERTIFICATE", Bytes: first.Raw},
		{Type: "CERTIFICATE", Bytes: []byte("no certificate")},
		{Type: "TRUSTED CERTIFICATE", Bytes: other.Raw},
		{Type: "CERTIFICATE", Bytes: other.Raw, Headers: map[string]string{"Trust": "none"}},
		{Type: "CERTIFICATE", Bytes: none.issue(t, "Fourth", authorityCert).Raw},
	} {
		text = append(text, pem.EncodeToMemory(&block)...)
	}
	file := filepath.Join(t.TempDir(), "bundle.pem")
	if err := os.WriteFile(file, text, 0o600); err != nil {
		t.Fatal(err)
	}
	bundle := readBundle(file+"-missing", file)
	leaf := func(root *issuing) []*x509.Certificate {
		return plain([]*issuing{root.issue(t, "leaf", forHost)})
	}
	twice := append(leaf(first), leaf(first)...)
	if len(bundle) != 2 || bundle.above(leaf(second)) != nil || bundle.above(leaf(other)) != nil || !bundle.above(twice).Equal(rootsOf(first)) {
		t.Error("the bundle is not what the file has")
	}
	v, asked := newVerifier(rootsOf(second)), 0
	v.most = func() roots { asked++; return bundle }
	for root, valid := range map[*issuing]bool{first: true, second: true, other: false} {
		if err := v.verify(leaf(root), "a.test", today); (err == nil) != valid {
			t.Errorf("%s: %v", root.Subject.CommonName, err)
		}
	}
	if asked != 3 || newVerifier(rootsOf()).most != nil || newVerifier(nil).most == nil {
		t.Error("they are not the system's, or not tried")
	}
}
