package dns

import (
	"errors"
	"net"
	"syscall"

	"github.com/weftcrawl/weft/aio"
	"golang.org/x/net/dns/dnsmessage"
)

// The reasons why a name has no address.
const (
	noSuchHost = "no such host"               // NXDOMAIN
	noAddress  = "the host has no IP address" // NODATA
)

func notFound(name, server, why string) *net.DNSError {
	return &net.DNSError{Err: why, Name: name, Server: server, IsNotFound: true}
}

// failure is the error of an answer without addresses.
type failure net.DNSError

func (a answer) failure() *failure {
	var e *net.DNSError
	errors.As(a.err, &e)
	return (*failure)(e)
}

// forName returns the error for the name that was looked up, which may differ from the name in the
// query.
func (f failure) forName(name string) error {
	f.Name = name
	return (*net.DNSError)(&f)
}

// outweighs reports whether a, for one of several names without an address, says more about the
// look-up than b: that it may have an address, or that the host exists.
func (a answer) outweighs(b answer) bool {
	return weight(a.failure()) > weight(b.failure())
}

func weight(f *failure) int {
	switch {
	case !f.IsNotFound:
		return 2
	case f.Err == noAddress:
		return 1
	}
	return 0
}

// isOurs reports whether an error says nothing about a server: the task was cancelled, or this
// machine has no descriptor or memory at the moment.
func isOurs(err error) bool {
	for _, own := range []error{aio.ErrCanceled, aio.ErrNoDescriptors, syscall.EMFILE, syscall.ENFILE, syscall.ENOBUFS, syscall.ENOMEM} {
		if errors.Is(err, own) {
			return true
		}
	}
	return false
}

// reason returns the text of a network error without the addresses that it repeats.
func reason(err error) string {
	var errno syscall.Errno
	if errors.As(err, &errno) {
		return errno.Error()
	}
	return err.Error()
}

// refusals are the texts for servers that refuse to answer.
var refusals = map[dnsmessage.RCode]string{
	dnsmessage.RCodeFormatError:    "the server did not understand the question (FORMERR)",
	dnsmessage.RCodeServerFailure:  "the server failed (SERVFAIL)",
	dnsmessage.RCodeNotImplemented: "the server does not support such questions (NOTIMP)",
	dnsmessage.RCodeRefused:        "the server refused (REFUSED)",
}
