package dns

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"net/netip"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/weftcrawl/weft/aio"
)

// recheck is how long the files and the routes are taken to be as they were.
const recheck = 5 * time.Second

// How much of each file is read: lists of hosts that block advertisements have a few
// megabytes.
const (
	maxConfFile  = 64 << 10
	maxHostsFile = 64 << 20
)

// maxHostAddrs is how many addresses of a name are kept of a hosts file.
const maxHostAddrs = 32

// settings is what the files say. It does not change once it is made.
type settings struct {
	conf                  *conf
	hosts                 hosts
	confStamp, hostsStamp stamp
}

// stamp tells one state of a file from another. The zero stamp is that of none.
type stamp struct {
	modified time.Time
	size     int64
}

// files are resolv.conf and hosts, as far as there are any.
type files struct {
	conf, hosts string
	servers     []netip.AddrPort // instead of those of conf
	now         *settings
	until       time.Time // they are looked at again
	reading     aio.Lock
}

// current returns what the files say, and whether resolv.conf has changed. While one
// task looks at them again, the others go on with what is known.
func (f *files) current(t *aio.Task) (s *settings, changed bool, err error) {
	fresh := func() bool { return t.Loop().Now().Before(f.until) }
	if f.now != nil && (fresh() || f.reading.Owner() != nil) {
		return f.now, false, nil
	}
	if err := f.reading.Lock(t); err != nil {
		return nil, false, err
	}
	defer f.reading.Unlock(t)
	if f.now != nil && fresh() {
		return f.now, false, nil
	}
	before := f.now
	s, err = aio.Offload(t, func(context.Context) (*settings, error) { return f.read(before), nil })
	if err != nil {
		return nil, false, err
	}
	f.now, f.until = s, t.Loop().Now().Add(recheck)
	return s, before != nil && s.conf != before.conf, nil
}

// read returns what the files say: before, where they have not changed or cannot be
// read just now.
func (f *files) read(before *settings) *settings {
	var s settings
	if before != nil {
		s = *before
	}
	if now := stampOf(f.conf); before == nil || now != s.confStamp {
		if text, ok := content(f.conf, maxConfFile); ok || before == nil {
			s.conf = parseConf(text)
			if s.conf.search == nil && f.conf != "" {
				s.conf.search = localDomain()
			}
			if len(f.servers) > 0 {
				s.conf.servers = f.servers
			}
			if ok {
				s.confStamp = now
			}
		}
	}
	if now := stampOf(f.hosts); before == nil || now != s.hostsStamp {
		if text, ok := content(f.hosts, maxHostsFile); ok || before == nil {
			s.hosts = parseHosts(text)
			if ok {
				s.hostsStamp = now
			}
		}
	}
	return &s
}

func stampOf(path string) stamp {
	info, err := os.Stat(path)
	if err != nil {
		return stamp{}
	}
	return stamp{info.ModTime(), info.Size()}
}

// content returns what is in a file, nothing of one that is not there; and whether that
// is so, or it could not be read, for want of a descriptor, say.
func content(path string, limit int64) (text string, ok bool) {
	file, err := os.Open(path)
	if err != nil {
		return "", errors.Is(err, fs.ErrNotExist)
	}
	defer file.Close()
	b, err := io.ReadAll(io.LimitReader(file, limit))
	return string(b), err == nil
}

// localDomain is the search list where resolv.conf has none: the domain of this
// machine's name (resolv.conf(5)).
func localDomain() []string {
	name, err := os.Hostname()
	if err != nil {
		return nil
	}
	_, domain, _ := strings.Cut(name, ".")
	return domains([]string{domain})
}

// hosts are the addresses of names, in lower case and without a dot at the end.
type hosts map[string][]netip.Addr

// parseHosts reads a hosts file (hosts(5)): an address, then names for it, on a line;
// # begins a comment. Lines that do not begin with an address are ignored.
func parseHosts(text string) hosts {
	h := make(hosts)
	for line := range strings.Lines(text) {
		line, _, _ = strings.Cut(line, "#")
		fields := strings.Fields(line)
		if len(fields) < 2 {
			continue
		}
		addr, err := netip.ParseAddr(fields[0])
		if err != nil {
			continue
		}
		addr = addr.Unmap()
		for _, name := range fields[1:] {
			name = strings.TrimSuffix(strings.ToLower(name), ".")
			if addrs := h[name]; valid(name) && len(addrs) < maxHostAddrs && !slices.Contains(addrs, addr) {
				h[name] = append(addrs, addr)
			}
		}
	}
	return h
}
