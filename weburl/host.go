package weburl

import (
	"math"
	"net/netip"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/weftcrawl/weft/internal/idna"
)

// Punycode is quadratic: maxIDNA bounds, in bytes, a domain that needs IDNA processing, and
// maxOther the characters of a label that are not ASCII. DNS carries 253 bytes at most, and 63 in a
// label, of which each such character needs one. The standard has no such limits.
const (
	maxIDNA  = 1024
	maxOther = 63
)

// appendHost is the host parser for special URLs: a domain, an IPv4 address or an IPv6 address.
// See https://url.spec.whatwg.org/#host-parsing.
func appendHost(dst []byte, host string) ([]byte, error) {
	if strings.HasPrefix(host, "[") {
		return appendIPv6(dst, host)
	}
	domain, err := toASCII(decode(host))
	if err != nil {
		return dst, err
	}
	if domain == "" || forbiddenDomain.in(domain) {
		return dst, ErrHost
	}
	if endsInNumber(domain) {
		return appendIPv4(dst, domain)
	}
	return append(dst, domain...), nil
}

// appendOpaqueHost is the host parser for all other URLs: it accepts anything that cannot be
// mistaken for another component.
func appendOpaqueHost(dst []byte, host string) ([]byte, error) {
	if strings.HasPrefix(host, "[") {
		return appendIPv6(dst, host)
	}
	if forbiddenHost.in(host) {
		return dst, ErrHost
	}
	return appendEncoded(dst, host, controlSet), nil
}

// decode percent-decodes s.
func decode(s string) string {
	if !strings.Contains(s, "%") {
		return s
	}
	out := make([]byte, 0, len(s))
	for i := 0; i < len(s); i++ {
		c, ok := escapeAt(s, i)
		if ok {
			i += 2
		} else {
			c = s[i]
		}
		out = append(out, c)
	}
	return string(out)
}

// toASCII is "domain to ASCII" with beStrict false. It only lower-cases an ASCII domain, even if a
// label begins with xn--. See https://url.spec.whatwg.org/#concept-domain-to-ascii.
func toASCII(domain string) (string, error) {
	if isASCII(domain) {
		return strings.ToLower(domain), nil
	}
	if len(domain) > maxIDNA || !utf8.ValidString(domain) || hasLongLabel(domain) {
		return "", ErrIDNA
	}
	ascii, err := idna.ToASCII(domain)
	if err != nil {
		return "", ErrIDNA
	}
	return ascii, nil
}

// hasLongLabel reports whether a label has more than maxOther characters that are not ASCII.
func hasLongLabel(domain string) bool {
	n := 0
	for _, c := range domain {
		switch {
		case c == '.', c == '。', c == '．', c == '｡':
			n = 0
		case c >= utf8.RuneSelf:
			n++
		}
		if n > maxOther {
			return true
		}
	}
	return false
}

func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// endsInNumber reports whether the last label looks like a number. Such a host is an IPv4 address
// or invalid.
func endsInNumber(host string) bool {
	host = strings.TrimSuffix(host, ".")
	last := host[strings.LastIndexByte(host, '.')+1:]
	if last == "" {
		return false
	}
	if strings.Trim(last, "0123456789") == "" {
		return true
	}
	_, ok := ipv4Number(last)
	return ok
}

// appendIPv4 parses an address as inet_aton does: one to four numbers, decimal, octal or
// hexadecimal, the last of which fills the rest of the 32 bits.
func appendIPv4(dst []byte, host string) ([]byte, error) {
	parts := strings.SplitN(strings.TrimSuffix(host, "."), ".", 5)
	if len(parts) > 4 {
		return dst, ErrIPv4
	}
	var addr uint64
	for i, part := range parts {
		n, ok := ipv4Number(part)
		bits := 8
		if i == len(parts)-1 {
			bits = 8 * (4 - i)
		}
		if !ok || n >= 1<<bits {
			return dst, ErrIPv4
		}
		addr = addr<<bits | n
	}
	return netip.AddrFrom4([4]byte{byte(addr >> 24), byte(addr >> 16), byte(addr >> 8), byte(addr)}).AppendTo(dst), nil
}

// ipv4Number parses one number of an IPv4 address. Numbers beyond 64 bits count as the largest
// one.
func ipv4Number(s string) (n uint64, ok bool) {
	base := 10
	switch {
	case s == "":
		return 0, false
	case strings.HasPrefix(s, "0x") || strings.HasPrefix(s, "0X"):
		s, base = s[2:], 16
	case len(s) > 1 && s[0] == '0':
		s, base = s[1:], 8
	}
	for i := range len(s) {
		d := hexValue(s[i])
		if d < 0 || d >= base {
			return 0, false
		}
		if n > math.MaxUint64>>8 {
			continue // out of range already; the digits are still checked
		}
		n = n*uint64(base) + uint64(d)
	}
	return n, true
}

// appendIPv6 parses an address in brackets. netip parses the same texts as the standard does,
// except for zones, and writes the same, except for IPv4-mapped addresses, which the standard
// writes in hexadecimal.
func appendIPv6(dst []byte, host string) ([]byte, error) {
	inner, closed := strings.CutSuffix(host[1:], "]")
	if !closed || strings.Contains(inner, "%") {
		return dst, ErrIPv6
	}
	addr, err := netip.ParseAddr(inner)
	if err != nil || !addr.Is6() {
		return dst, ErrIPv6
	}
	dst = append(dst, '[')
	if addr.Is4In6() {
		b := addr.As16()
		dst = append(dst, "::ffff:"...)
		dst = strconv.AppendUint(dst, uint64(b[12])<<8|uint64(b[13]), 16)
		dst = append(dst, ':')
		dst = strconv.AppendUint(dst, uint64(b[14])<<8|uint64(b[15]), 16)
	} else {
		dst = addr.AppendTo(dst)
	}
	return append(dst, ']'), nil
}

func appendDecimal(dst []byte, n int) []byte { return strconv.AppendInt(dst, int64(n), 10) }
