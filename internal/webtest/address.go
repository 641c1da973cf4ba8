package webtest

import "net/netip"

// addresses are those of the hosts of a web: their own, the hoster's, and shared ones.
type addresses struct {
	draws   draws
	hosts   int
	shared  int // number of addresses that hosts share
	rates   *Rates
	network byte
}

// perAddress is the average number of hosts on a shared address.
const perAddress = 200

func newAddresses(cfg *Config, d draws) addresses {
	return addresses{
		draws: d, hosts: cfg.Hosts, rates: &cfg.Rates, network: cfg.Network,
		shared: 1 + int(float64(cfg.Hosts)*cfg.Rates.Shared/perAddress),
	}
}

// number returns the number of the address of host i: its own number, or the next one for the
// hoster, or one of the shared addresses after that.
func (a *addresses) number(i int) int {
	switch h := (resource{host: int32(i)}); {
	case a.draws.has(saltHosted, h, a.rates.Hosted):
		return a.hosts
	case a.draws.has(saltShared, h, a.rates.Shared):
		return a.hosts + 1 + int(a.draws.dice(saltAddr, h)%dice(a.shared))
	}
	return i
}

// at returns the address with a number, not in the first 16 bits of the network: in
// 127.0.0.0/16 systems keep services of their own.
func (a *addresses) at(n int) netip.Addr {
	at := 1<<16 + n
	switch {
	case n == a.hosts:
		at = 199 << 16
	case n > a.hosts:
		at = 200<<16 + n - a.hosts - 1
	}
	return netip.AddrFrom4([4]byte{a.network, byte(at >> 16), byte(at >> 8), byte(at)})
}
