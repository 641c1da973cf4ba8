package httpclient

import (
	"bytes"
	"crypto/x509"
	"crypto/x509/pkix"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// certificateError returns the error of certificates, the server's and then others, that were found
// invalid for a name: in words that say what is wrong, on one line.
func certificateError(err error, certs []*x509.Certificate, name string, now time.Time) error {
	return fmt.Errorf("%w: %w", ErrCertificate, &reworded{fault(err, certs, name, now), err})
}

func fault(err error, certs []*x509.Certificate, name string, now time.Time) string {
	leaf := certs[0]
	var host x509.HostnameError
	var invalid x509.CertificateInvalidError
	var unknown x509.UnknownAuthorityError
	switch {
	case errors.As(err, &host):
		return fmt.Sprintf("it is for %s, not for %s", namesOf(leaf), shown(name))
	case errors.As(err, &invalid) && invalid.Reason == x509.Expired:
		return outOfTime(invalid.Cert, invalid.Cert == leaf, now)
	case errors.As(err, &invalid) && invalid.Reason == x509.IncompatibleUsage:
		return "it is not for servers"
	case errors.As(err, &unknown):
		return unknownAuthority(leaf, certs)
	}
	return strings.TrimPrefix(err.Error(), "x509: ")
}

// outOfTime says that a certificate, the server's own or another, is not valid now.
func outOfTime(c *x509.Certificate, own bool, now time.Time) string {
	which := "it"
	if !own {
		which = "that of its issuer " + nameOf(c.Subject)
	}
	day := func(t time.Time) string { return t.UTC().Format(time.DateOnly) }
	if now.Before(c.NotBefore) {
		return fmt.Sprintf("%s is valid from %s on, and today is %s", which, day(c.NotBefore), day(now))
	}
	return fmt.Sprintf("%s expired on %s, %s ago", which, day(c.NotAfter), ago(now.Sub(c.NotAfter)))
}

// ago is a number of days or hours.
func ago(d time.Duration) string {
	n, unit := int(d.Hours()/24), "day"
	if n == 0 {
		n, unit = int(d.Hours()), "hour"
	}
	switch n {
	case 0:
		return "less than an hour"
	case 1:
	default:
		unit += "s"
	}
	return fmt.Sprintf("%d %s", n, unit)
}

// weakSignatures are refused: a certificate signed with one may be forged.
var weakSignatures = []x509.SignatureAlgorithm{x509.MD2WithRSA, x509.MD5WithRSA, x509.SHA1WithRSA, x509.DSAWithSHA1, x509.ECDSAWithSHA1}

// unknownAuthority says why certificates lead to no trusted root.
func unknownAuthority(leaf *x509.Certificate, certs []*x509.Certificate) string {
	if bytes.Equal(leaf.RawSubject, leaf.RawIssuer) {
		return "it is self-signed"
	}
	top, own := leaf, "it"
	for range min(len(certs), mostLinks) { // up to what the server has sent
		if bytes.Equal(top.RawSubject, top.RawIssuer) {
			break
		}
		if slices.Contains(weakSignatures, top.SignatureAlgorithm) {
			return fmt.Sprintf("%s is signed with %v, which can be forged", own, top.SignatureAlgorithm)
		}
		issuer, err := issuerOf(top, certs)
		switch {
		case errors.As(err, new(x509.ConstraintViolationError)):
			return fmt.Sprintf("that of its issuer %s is not one of an authority", nameOf(issuer.Subject))
		case err != nil:
			return fmt.Sprintf("%s is not signed by its issuer %s", own, nameOf(issuer.Subject))
		}
		if issuer == nil {
			break
		}
		top = issuer
		own = "that of its issuer " + nameOf(top.Subject)
	}
	switch {
	case bytes.Equal(top.RawSubject, top.RawIssuer):
		return fmt.Sprintf("its authority %s is not trusted", nameOf(top.Subject))
	case top == leaf:
		return fmt.Sprintf("its issuer %s is unknown, and the server sends no certificate of that", nameOf(top.Issuer))
	}
	return fmt.Sprintf("its authority %s is unknown", nameOf(top.Issuer))
}

// mostLinks bounds the length of a chain, and the certificates of the same name in it, that are
// looked at to say what is wrong with it.
const mostLinks = 8

// issuerOf returns the certificate, of those that a server has sent, that has signed c; or one of
// the same name, and why it has not; or nil.
func issuerOf(c *x509.Certificate, certs []*x509.Certificate) (issuer *x509.Certificate, err error) {
	tried := 0
	for _, other := range certs {
		if other == c || !bytes.Equal(other.RawSubject, c.RawIssuer) || tried == mostLinks {
			continue
		}
		tried++
		if issuer, err = other, c.CheckSignatureFrom(other); err == nil {
			break
		}
	}
	return issuer, err
}

// nameOf returns the name of an authority, quoted.
func nameOf(n pkix.Name) string {
	switch {
	case n.CommonName != "":
		return fmt.Sprintf("%.64q", n.CommonName)
	case len(n.Organization) > 0:
		return fmt.Sprintf("%.64q", n.Organization[0])
	}
	return fmt.Sprintf("%.64q", n.String())
}

// mostNames bounds the names of a certificate in an error.
const mostNames = 3

// namesOf returns the hosts that a certificate is for.
func namesOf(c *x509.Certificate) string {
	var names []string
	for _, n := range c.DNSNames {
		names = append(names, shown(n))
	}
	for _, a := range c.IPAddresses {
		names = append(names, a.String())
	}
	switch n := len(names); {
	case n == 0:
		return "no host"
	case n > mostNames+1:
		return fmt.Sprintf("%s and %d other names", strings.Join(names[:mostNames], ", "), n-mostNames)
	case n > 1:
		return strings.Join(names[:n-1], ", ") + " and " + names[n-1]
	}
	return names[0]
}

// shown is a name as it is, or quoted if it cannot be shown like that.
func shown(name string) string {
	name = name[:min(len(name), 255)]
	if quoted := strconv.Quote(name); quoted[1:len(quoted)-1] != name {
		return quoted
	}
	return name
}
