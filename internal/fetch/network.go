package fetch

import "github.com/weftcrawl/weft/httpclient"

// Network is the state of this machine's own network, as an outcome shows it.
type Network uint8

const (
	NetworkUnknown Network = iota // nothing
	NetworkUp                     // a server has responded, if only to refuse
	NetworkStalled                // it may be down, or the server: it has begun to respond
	NetworkLost                   // it may be down, or the server: nothing has come
	NetworkDown                   // it is down: no route, no name server, no proxy
)

// blameNetwork takes in what an error says of the network, after the response has begun or before.
func (out *Outcome) blameNetwork(e *httpclient.Error, begun bool) {
	switch e.Kind {
	case httpclient.KindReset, httpclient.KindEarlyEnd, httpclient.KindTLS, httpclient.KindProtocol, httpclient.KindProxy:
		out.Network = NetworkUp
	case httpclient.KindConnect:
		out.Network = NetworkLost
		if e.Refused() {
			out.Network = NetworkUp
		}
	case httpclient.KindDNS:
		if e.Temporary() {
			out.Network = NetworkLost
		}
	case httpclient.KindDialTimeout, httpclient.KindTLSTimeout, httpclient.KindFirstByteTimeout,
		httpclient.KindIdleTimeout, httpclient.KindTimeout:
		if out.Network = NetworkLost; begun {
			out.Network = NetworkStalled
		}
	}
	if e.Local() {
		out.Network = NetworkDown
	}
	switch {
	case out.Network < NetworkLost:
	case e.Kind == httpclient.KindProxy:
		out.NoProxy, out.Err = e.NoProxy(), e.Err
		out.Lost = "the proxy seems to be down: " + e.Err.Error()
	default:
		out.Lost = "the network seems to be down: " + e.Err.Error()
	}
}
