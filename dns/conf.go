package dns

import (
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"time"
)

// The bounds of resolv.conf are those of glibc (resolv.h), except for the number of domains.
const (
	maxServers  = 3
	maxNdots    = 15
	maxTimeout  = 30
	maxAttempts = 5
	maxSearch   = 32
)

// conf is the content of resolv.conf.
type conf struct {
	servers  []netip.AddrPort
	search   []string // domains without a final dot; nil: none given
	ndots    int      // a name with that many dots is first tried as it is
	timeout  time.Duration
	attempts int  // per server
	rotate   bool // rotate the servers from look-up to look-up
	tcp      bool // instead of UDP
	single   bool // one question at a time, for middleboxes that lose the second
}

// parseConf parses a resolv.conf (resolv.conf(5)). Like libc, it ignores lines and options that it
// does not understand, and lines that do not begin with a keyword.
func parseConf(text string) *conf {
	c := &conf{ndots: 1, timeout: 5 * time.Second, attempts: 2}
	for line := range strings.Lines(text) {
		fields := strings.Fields(line)
		if len(fields) < 2 || !strings.HasPrefix(line, fields[0]) { // the line begins with a space
			continue
		}
		switch args := fields[1:]; fields[0] {
		case "nameserver":
			if addr, err := netip.ParseAddr(args[0]); err == nil && len(c.servers) < maxServers {
				c.servers = append(c.servers, netip.AddrPortFrom(addr, 53))
			}
		case "domain":
			c.search = domains(args[:1])
		case "search":
			c.search = domains(args)
		case "options":
			for _, option := range args {
				c.option(option)
			}
		}
	}
	if len(c.servers) == 0 { // default: this machine
		c.servers = []netip.AddrPort{netip.MustParseAddrPort("127.0.0.1:53"), netip.MustParseAddrPort("[::1]:53")}
	}
	return c
}

func (c *conf) option(text string) {
	key, value, _ := strings.Cut(text, ":")
	switch key {
	case "rotate":
		c.rotate = true
	case "use-vc", "usevc":
		c.tcp = true
	case "single-request", "single-request-reopen":
		c.single = true
	}
	n, err := strconv.Atoi(value)
	if err != nil {
		return
	}
	switch key {
	case "ndots":
		c.ndots = min(max(n, 0), maxNdots)
	case "timeout":
		c.timeout = time.Duration(min(max(n, 1), maxTimeout)) * time.Second
	case "attempts":
		c.attempts = min(max(n, 1), maxAttempts)
	}
}

// domains returns the valid domains of a search list, not nil.
func domains(words []string) []string {
	list := []string{}
	for _, w := range words {
		if w = strings.TrimSuffix(strings.ToLower(w), "."); valid(w) && len(list) < maxSearch {
			list = append(list, w)
		}
	}
	return list
}

// names returns the absolute names to try for a given name, in order.
func (c *conf) names(name string) []string {
	if strings.HasSuffix(name, ".") {
		return []string{name}
	}
	var names []string
	for _, domain := range c.search {
		if full := name + "." + domain; valid(full) {
			names = append(names, full+".")
		}
	}
	at := len(names)
	if strings.Count(name, ".") >= c.ndots {
		at = 0
	}
	return slices.Insert(names, at, name+".")
}

// valid reports whether name, without a final dot, can be queried: labels of 1 to 63 bytes, 253 in
// all (RFC 1035, section 2.3.4), all visible ASCII characters.
func valid(name string) bool {
	if len(name) > 253 {
		return false
	}
	for label := range strings.SplitSeq(name, ".") {
		if label == "" || len(label) > 63 {
			return false
		}
	}
	return !strings.ContainsFunc(name, func(c rune) bool { return c <= ' ' || c >= 0x7f })
}

// topLabel returns the last label of a name without a final dot.
func topLabel(name string) string { return name[strings.LastIndexByte(name, '.')+1:] }
