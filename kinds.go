package weft

import "github.com/weftcrawl/weft/http1"

// Error kinds of a Record, beside those of package http1.
const (
	KindRedirects = "redirects"          // a redirect that is not followed, after MaxRedirects of them
	KindLocation  = "location"           // a redirect that leads nowhere
	KindRefused   = "refused"            // by Hooks.OnRequest
	KindExcluded  = "excluded"           // by an exclusion that was added while it waited
	KindRobots    = "robots"             // robots.txt disallows it
	KindNoRobots  = "robots-unreachable" // robots.txt answered with an error of the server, so nothing is allowed
)

// ErrorKind is a value that Record.ErrorKind may have.
type ErrorKind struct {
	Name    string
	Meaning string // for people, on one line; flags are those of the command
}

// Kinds returns all error kinds that a record may have, in the order in which a URL
// meets them. A status such as 404 is none; and a URL whose fetch was broken off has no
// record, so http1.KindCanceled is not among them.
func Kinds() []ErrorKind {
	return []ErrorKind{
		{KindExcluded, "matched by an --exclude that was added while the URL waited"},
		{KindRobots, "robots.txt disallows the URL, or asks for a Crawl-delay of more than an hour"},
		{KindNoRobots, "robots.txt failed with a 5xx status, so nothing of the host is fetched"},
		{KindRefused, "refused by the program that uses the library (Hooks.OnRequest)"},
		{string(http1.KindScheme), "no valid request: invalid scheme, host, target or header field"},
		{string(http1.KindResource), "this machine has no descriptor, port or memory left for a connection"},
		{string(http1.KindDNS), "the name does not resolve"},
		{string(http1.KindBlocked), "the URL leads to an address that is not public: see --allow-private"},
		{string(http1.KindConnect), "no connection: refused, unreachable or no route"},
		{string(http1.KindProxy), "the proxy is unreachable, refuses, or cannot connect to the host"},
		{string(http1.KindDialTimeout), "look-up and connection took longer than --connect-timeout"},
		{string(http1.KindTLS), "the TLS handshake failed, the certificate is invalid, or the data is damaged"},
		{string(http1.KindTLSTimeout), "the TLS handshake took longer than --tls-timeout"},
		{string(http1.KindFirstByteTimeout), "no response started within --first-byte-timeout"},
		{string(http1.KindIdleTimeout), "the response paused for longer than --idle-timeout"},
		{string(http1.KindTooSlow), "the response was slower than --min-rate, or stalled while others waited for memory"},
		{string(http1.KindTimeout), "the whole fetch took longer than --timeout"},
		{string(http1.KindReset), "the server reset the connection"},
		{string(http1.KindEarlyEnd), "the connection ended before the response was complete"},
		{string(http1.KindProtocol), "the response is not HTTP/1, or its length is ambiguous"},
		{string(http1.KindTooLarge), "the head is larger than 64 KiB, or the body larger than --max-body"},
		{string(http1.KindEncoding), "the Content-Encoding is unknown, or does not match the body"},
		{string(http1.KindBomb), "the compressed body grows beyond --max-body"},
		{KindLocation, "a redirect without a Location, or whose Location is not an http or https URL"},
		{KindRedirects, "more redirects than --max-redirects"},
	}
}
