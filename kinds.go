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
		{KindExcluded, "an --exclude that was added while the URL waited matches it"},
		{KindRobots, "robots.txt disallows it, or asks for a Crawl-delay of more than an hour"},
		{KindNoRobots, "robots.txt was answered with a status of 5xx, so nothing of the host is fetched"},
		{KindRefused, "the program that uses the library refused it (Hooks.OnRequest)"},
		{string(http1.KindScheme), "no request can be made of it: its scheme, host, target or a header field is not valid"},
		{string(http1.KindResource), "this machine had no descriptor, port or memory for a connection"},
		{string(http1.KindDNS), "the name could not be resolved"},
		{string(http1.KindBlocked), "a link, redirect or robots.txt leads to an address that is not public: see --allow-private"},
		{string(http1.KindConnect), "no connection could be made: refused, unreachable, no route"},
		{string(http1.KindProxy), "the proxy cannot be reached, refuses, or has no connection to the host"},
		{string(http1.KindDialTimeout), "name and connection took longer than --connect-timeout"},
		{string(http1.KindTLS), "the TLS handshake failed, its certificate does not hold, or what came was damaged"},
		{string(http1.KindTLSTimeout), "the TLS handshake took longer than --tls-timeout"},
		{string(http1.KindFirstByteTimeout), "no answer began within --first-byte-timeout"},
		{string(http1.KindIdleTimeout), "the answer did not go on within --idle-timeout"},
		{string(http1.KindTooSlow), "the answer came slower than --min-rate, or hardly at all while others waited for memory"},
		{string(http1.KindTimeout), "the fetch as a whole took longer than --timeout"},
		{string(http1.KindReset), "the server broke the connection"},
		{string(http1.KindEarlyEnd), "the connection ended before the answer did"},
		{string(http1.KindProtocol), "the answer is not HTTP/1, or its length is in doubt"},
		{string(http1.KindTooLarge), "its head is larger than 64 KiB, or its body than --max-body"},
		{string(http1.KindEncoding), "the Content-Encoding is unknown, or the body is not what it says"},
		{string(http1.KindBomb), "the compressed body grows beyond --max-body"},
		{KindLocation, "it redirects to nowhere: no Location, or none that is a URL of http or https"},
		{KindRedirects, "it redirects once more than --max-redirects"},
	}
}
