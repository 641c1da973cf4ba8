package dns

import (
	"errors"
	"net"
	"syscall"

	"github.com/weftcrawl/weft/aio"
	"golang.org/x/net/dns/dnsmessage"
)

// Why there is no address of a name.
const (
	noSuchHost = "no such host"               // NXDOMAIN
	noAddress  = "the host has no IP address" // NODATA
)

func notFound(name, server, why string) *net.DNSError {
	return &net.DNSError{Err: why, Name: name, Server: server, IsNotFound: true}
}

// failure is the error of an answer that has one.
type failure net.DNSError

func (a answer) failure() *failure {
	var e *net.DNSError
	errors.As(a.err, &e)
	return (*failure)(e)
}

// of returns the error for the name that was looked up, which may not be the one that
// was asked for.
func (f failure) of(name string) error {
	f.Name = name
	return (*net.DNSError)(&f)
}

// outweighs reports whether a, one of several names that have no address, says more
// about the look-up than b: that it may have one, or that the host is there.
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

// isOurs reports whether an error says nothing of a server: the task was cancelled, or
// this machine has no descriptor or memory just now.
func isOurs(err error) bool {
	for _, own := range []error{aio.ErrCanceled, aio.ErrNoDescriptors, syscall.EMFILE, syscall.ENFILE, syscall.ENOBUFS, syscall.ENOMEM} {
		if errors.Is(err, own) {
			return true
		}
	}
	return false
}

// reason is an error of the network in words, without the addresses that it repeats.
func reason(err error) string {
	var errno syscall.Errno
	if errors.As(err, &errno) {
		return errno.Error()
	}
	return err.Error()
}

// refusals is what servers say that do not answer a question.
var refusals = map[dnsmessage.RCode]string{
	dnsmessage.RCodeFormatError:    "the server did not understand the question (FORMERR)",
	dnsmessage.RCodeServerFailure:  "the server failed (SERVFAIL)",
	dnsmessage.RCodeNotImplemented: "the server does not know such questions (NOTIMP)",
	dnsmessage.RCodeRefused:        "the server refused (REFUSED)",
}
