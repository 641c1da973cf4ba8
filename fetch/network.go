package fetch

import "github.com/weftcrawl/weft/http1"

// Network is what an outcome says of this machine's own network.
type Network uint8

const (
	NetworkUnknown Network = iota // nothing
	NetworkUp                     // a server has responded, if only to refuse
	NetworkLost                   // it may be down, or the server
	NetworkDown                   // it is down: no route, no name server, no proxy
)

// blameNetwork takes in what an error says of the network.
func (out *Outcome) blameNetwork(e *http1.Error) {
	switch e.Kind {
	case http1.KindReset, http1.KindEarlyEnd, http1.KindTLS, http1.KindProtocol, http1.KindProxy:
		out.Network = NetworkUp
	case http1.KindConnect:
		out.Network = NetworkLost
		if e.Refused() {
			out.Network = NetworkUp
		}
	case http1.KindDNS:
		if e.Temporary() {
			out.Network = NetworkLost
		}
	case http1.KindDialTimeout, http1.KindTLSTimeout, http1.KindFirstByteTimeout,
		http1.KindIdleTimeout, http1.KindTimeout:
		out.Network = NetworkLost
	}
	if e.Local() {
		out.Network = NetworkDown
	}
	switch {
	case out.Network < NetworkLost:
	case e.Kind == http1.KindProxy:
		out.Lost = "the proxy seems to be down: " + e.Err.Error()
	default:
		out.Lost = "the network seems to be down: " + e.Err.Error()
	}
}
