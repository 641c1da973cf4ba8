package weft

import (
	"net/http"

	"github.com/weftcrawl/weft/httpclient"
	"github.com/weftcrawl/weft/record"
)

// Error kinds of a Record that the crawler gives itself; the others are those of package
// httpclient.
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
// 408, 429 or 5xx, or its error may be one of the network, of a server that is down or overloaded,
// or of this machine.
func MayPass(r *Record) bool {
	switch httpclient.Kind(r.ErrorKind) {
	case KindNoRobots, KindOverloaded, httpclient.KindResource, httpclient.KindDNS, httpclient.KindConnect, httpclient.KindProxy,
		httpclient.KindDialTimeout, httpclient.KindTLSTimeout, httpclient.KindFirstByteTimeout, httpclient.KindIdleTimeout, httpclient.KindTooSlow,
		httpclient.KindTimeout, httpclient.KindReset, httpclient.KindEarlyEnd:
		return true
	}
	return r.Status == http.StatusRequestTimeout || r.Status == http.StatusTooManyRequests || r.Status >= 500
}

// Kinds lists every error kind of a record, in the order in which a URL meets them. A status such
// as 404 is no error; and a URL whose fetch was cancelled has no record, so httpclient.KindCanceled
// is not among them.
func Kinds() []ErrorKind {
	return []ErrorKind{
		{KindExcluded, "an --exclude that was added while the URL waited matches it"},
		{KindNothingNew, "--max-alike pages like it in a row said nothing new, and led to ever more"},
		{KindRobots, "robots.txt disallows it, or asks for a Crawl-delay of more than an hour"},
		{KindNoRobots, "robots.txt returned a status of 429 or 5xx, so nothing on the host is fetched"},
		{KindOverloaded, "for as long as --give-up its server answered only 429 or 503, or asked for long pauses"},
		{KindRefused, "the program that uses the library refused it (Hooks.OnRequest)"},
		{string(httpclient.KindScheme), "no valid request can be made: scheme, host, target or a header field is invalid"},
		{string(httpclient.KindResource), "this machine had no descriptor, port or memory for a connection"},
		{string(httpclient.KindDNS), "the name could not be resolved"},
		{string(httpclient.KindBlocked), "a link, redirect or robots.txt leads to an address that is not public: see --allow-private"},
		{string(httpclient.KindConnect), "no connection: refused, unreachable, no route"},
		{string(httpclient.KindProxy), "the proxy is unreachable, refuses, or cannot connect to the host"},
		{string(httpclient.KindDialTimeout), "resolving the name and connecting took longer than --connect-timeout"},
		{string(httpclient.KindTLS), "the TLS handshake failed, the certificate is invalid, or the data was corrupt"},
		{string(httpclient.KindTLSTimeout), "the TLS handshake took longer than --tls-timeout"},
		{string(httpclient.KindFirstByteTimeout), "no response started within --first-byte-timeout"},
		{string(httpclient.KindIdleTimeout), "the response stalled for longer than --idle-timeout"},
		{string(httpclient.KindTooSlow), "the response was slower than --min-rate, or hardly moved while others waited for memory"},
		{string(httpclient.KindTimeout), "the fetch as a whole took longer than --timeout"},
		{string(httpclient.KindReset), "the server broke the connection"},
		{string(httpclient.KindEarlyEnd), "the connection ended before the response did"},
		{string(httpclient.KindProtocol), "the response is no valid HTTP, or its length is ambiguous"},
		{string(httpclient.KindTooLarge), "its head is larger than 64 KiB, or its body than --max-body"},
		{string(httpclient.KindEncoding), "the body is not what its Content-Encoding says, or Weft does not decode that"},
		{string(httpclient.KindBomb), "the compressed body grows beyond --max-body"},
		{KindLocation, "it redirects to nowhere: its Location is no http or https URL"},
		{KindRedirects, "one redirect more than --max-redirects"},
	}
}
