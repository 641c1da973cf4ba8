// Package partition says which partition of a crawl a URL belongs to.
//
// A partition is a set of sites: registrable domains, or names and addresses that have none. All
// hosts of a site are in one partition, and a partition has one owner, so that a host or a domain
// keeps its pace without a word between machines.
//
// Every node of every version computes the same: partitions outlive processes, as the keys and
// subjects of a crawl are named for them. The test pins values.
package partition

import (
	"strings"

	"github.com/weftcrawl/weft/weburl"
)

// Default is the number of partitions of a crawl unless it is begun with another one.
const Default = 1024

// Of returns the partition, from 0 to n-1, of a host without port.
func Of(host string, n int) int { return int(hash(Site(host)) % uint64(n)) }

// OfURL returns the partition of a URL's host; of what is no URL, that of no host.
func OfURL(href string, n int) int {
	u, err := weburl.Parse(href)
	if err != nil {
		return Of("", n)
	}
	return Of(u.Hostname(), n)
}

// Site returns what is in one partition with a host: its registrable domain, or the host itself
// if it has none.
func Site(host string) string {
	if domain := weburl.RegistrableDomain(host); domain != "" {
		return domain
	}
	return strings.TrimSuffix(host, ".")
}

// hash is FNV-1a with the final steps of MurmurHash3: FNV alone leaves names that differ in their
// last letters close to each other.
func hash(site string) uint64 {
	h := uint64(14695981039346656037)
	for i := range len(site) {
		h = (h ^ uint64(site[i])) * 1099511628211
	}
	h ^= h >> 33
	h *= 0xff51afd7ed558ccd
	h ^= h >> 33
	h *= 0xc4ceb9fe1a85ec53
	return h ^ h>>33
}
