package httpclient

// route identifies connections that can be used for the same requests: one scheme, host and port,
// reached in one way. Overrides and the name of the TLS server follow from it.
type route struct {
	tls bool
	// As in the URL, including an explicit port; empty: any host, for requests sent to a proxy.
	host string
	via  *Proxy // nil: direct
}

// routeOf returns the route of req through a proxy; nil: direct.
func routeOf(req *Request, via *Proxy) route {
	to := route{tls: req.Scheme == "https", host: req.Host, via: via}
	if to.forwarded() {
		to.host = ""
	}
	return to
}

// forwarded reports whether requests are sent to a proxy that forwards them. Otherwise the
// connection leads to the server itself, possibly through a tunnel.
func (to route) forwarded() bool { return to.via != nil && !to.via.socks() && !to.tls }

// via returns the proxy for req, or nil.
func (c *Client) via(req *Request) *Proxy {
	if c.opt.Proxy == nil {
		return nil
	}
	return c.opt.Proxy(req.Scheme, req.Host)
}
