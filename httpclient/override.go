package httpclient

import (
	"fmt"
	"net/netip"
	"strconv"
	"strings"
)

// Override is the address to connect to for a host and port, in place of the name service's.
type Override struct {
	Host string     // as in a URL, IPv6 without brackets; case is ignored; "*": every host
	Port uint16     // in the URL
	Addr netip.Addr // to connect to
	To   uint16     // port to connect to; 0: Port
}

// ParseOverride parses HOST:PORT:ADDR or HOST:PORT:ADDR:PORT, like curl's --resolve. HOST may be
// *, for every host; ADDR is an IP address, IPv6 in brackets.
func ParseOverride(s string) (Override, error) {
	parts, ok := splitColons(s)
	if !ok || len(parts) < 3 || len(parts) > 4 {
		return Override{}, fmt.Errorf("override %.100q: expected HOST:PORT:ADDR[:PORT], IPv6 in brackets", s)
	}
	host := parts[0]
	if host == "" || !visible(host) {
		return Override{}, fmt.Errorf("override %.100q: host %.100q, expected a name, an address or *", s, host)
	}
	port, err := strconv.ParseUint(parts[1], 10, 16)
	if err != nil || port == 0 {
		return Override{}, fmt.Errorf("override %.100q: port %.20q, expected 1 to 65535", s, parts[1])
	}
	addr, err := netip.ParseAddr(parts[2])
	if err != nil {
		return Override{}, fmt.Errorf("override %.100q: address %.100q, expected an IP address", s, parts[2])
	}
	o := Override{Host: host, Port: uint16(port), Addr: addr.Unmap()}
	if len(parts) == 4 {
		to, err := strconv.ParseUint(parts[3], 10, 16)
		if err != nil || to == 0 {
			return Override{}, fmt.Errorf("override %.100q: port %.20q, expected 1 to 65535", s, parts[3])
		}
		o.To = uint16(to)
	}
	return o, nil
}

// String returns the form that ParseOverride parses.
func (o Override) String() string {
	s := bracketed(o.Host) + ":" + strconv.Itoa(int(o.Port)) + ":" + bracketed(o.Addr.String())
	if o.To != 0 {
		s += ":" + strconv.Itoa(int(o.To))
	}
	return s
}

// resolve returns the destination of o, if it applies to host and port.
func (o *Override) resolve(host string, port uint16) (to netip.AddrPort, ok bool) {
	if o.Port != port || o.Host != "*" && !strings.EqualFold(o.Host, host) {
		return netip.AddrPort{}, false
	}
	if o.To != 0 {
		port = o.To
	}
	return netip.AddrPortFrom(o.Addr, port), true
}

// splitColons splits s at its colons, except inside brackets, which it removes.
func splitColons(s string) (parts []string, ok bool) {
	for {
		var part string
		if rest, bracket := strings.CutPrefix(s, "["); bracket {
			if part, s, ok = strings.Cut(rest, "]"); !ok || s != "" && s[0] != ':' {
				return nil, false
			}
		} else {
			i := strings.IndexByte(s, ':')
			if i < 0 {
				i = len(s)
			}
			part, s = s[:i], s[i:]
		}
		parts = append(parts, part)
		if s == "" {
			return parts, true
		}
		s = s[1:]
	}
}

func bracketed(host string) string {
	if strings.IndexByte(host, ':') >= 0 {
		return "[" + host + "]"
	}
	return host
}
