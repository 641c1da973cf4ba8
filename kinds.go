package weft

import (
	"net/http"

	"github.com/weftcrawl/weft/http1"
	"github.com/weftcrawl/weft/record"
)

// Error kinds of a Record that the crawler gives itself; the others are those of package http1.
const (
	KindRedirects  = record.KindRedirects
	KindLocation   = record.KindLocation
	KindRefused    = record.KindRefused
	KindExcluded   = record.KindExcluded
	KindRobots     = record.KindRobots
	KindNoRobots   = record.KindNoRobots
	KindOverloaded = record.KindOverloaded
	KindNothingNew = record.KindNothingNew
)

// ErrorKind is a value that Record.ErrorKind may have.
type ErrorKind struct {
	Name    string
	Meaning string // for people, on one line; flags are those of the command
}

// MayPass reports whether a later request for the URL of a record may end otherwise: its status is
// 408, 429 or 5xx, or its error may be one of the network, of a server that is down or overloaded, or
// of this machine.
func MayPass(r *Record) bool {
	switch http1.Kind(r.ErrorKind) {
	case KindNoRobots, KindOverloaded, http1.KindResource, http1.KindDNS, http1.KindConnect, http1.KindProxy,
		http1.KindDialTimeout, http1.KindTLSTimeout, http1.KindFirstByteTimeout, http1.KindIdleTimeout, http1.KindTooSlow,
		http1.KindTimeout, http1.KindReset, http1.KindEarlyEnd:
		return true
	}
	return r.Status == http.StatusRequestTimeout || r.Status == http.StatusTooManyRequests || r.Status >= 500
}

// Kinds lists every error kind of a record, in the order in which a URL meets them. A status such as
// 404 is no error; and a URL whose fetch was cancelled has no record, so http1.KindCanceled is not
// among them.
func Kinds() []ErrorKind {
	return []ErrorKind{
		{KindExcluded, "an --exclude that was added while the URL waited matches it"},
		{KindNothingNew, "--max-alike pages like it in a row said nothing new, and led to ever more"},
		{KindRobots, "robots.txt disallows it, or asks for a Crawl-delay of more than an hour"},
		{KindNoRobots, "robots.txt returned a status of 5xx, so nothing on the host is fetched"},
		{KindOverloaded, "for as long as --give-up its server answered only 429 or 503, or asked for long pauses"},
		{KindRefused, "the program that uses the library refused it (Hooks.OnRequest)"},
		{string(http1.KindScheme), "no valid request can be made: scheme, host, target or a header field is invalid"},
		{string(http1.KindResource), "this machine had no descriptor, port or memory for a connection"},
		{string(http1.KindDNS), "the name could not be resolved"},
		{string(http1.KindBlocked), "a link, redirect or robots.txt leads to an address that is not public: see --allow-private"},
		{string(http1.KindConnect), "no connection: refused, unreachable, no route"},
		{string(http1.KindProxy), "the proxy is unreachable, refuses, or cannot connect to the host"},
		{string(http1.KindDialTimeout), "resolving the name and connecting took longer than --connect-timeout"},
		{string(http1.KindTLS), "the TLS handshake failed, the certificate is invalid, or the data was corrupt"},
		{string(http1.KindTLSTimeout), "the TLS handshake took longer than --tls-timeout"},
		{string(http1.KindFirstByteTimeout), "no response started within --first-byte-timeout"},
		{string(http1.KindIdleTimeout), "the response stalled for longer than --idle-timeout"},
		{string(http1.KindTooSlow), "the response was slower than --min-rate, or hardly moved while others waited for memory"},
		{string(http1.KindTimeout), "the fetch as a whole took longer than --timeout"},
		{string(http1.KindReset), "the server broke the connection"},
		{string(http1.KindEarlyEnd), "the connection ended before the response did"},
		{string(http1.KindProtocol), "the response is not HTTP/1, or its length is ambiguous"},
		{string(http1.KindTooLarge), "its head is larger than 64 KiB, or its body than --max-body"},
		{string(http1.KindEncoding), "the body is not what its Content-Encoding says, or Weft does not decode that"},
		{string(http1.KindBomb), "the compressed body grows beyond --max-body"},
		{KindLocation, "it redirects to nowhere: its Location is no http or https URL"},
		{KindRedirects, "one redirect more than --max-redirects"},
	}
}
