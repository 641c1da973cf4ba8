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

// recheck is how long the files and the routes are assumed to be unchanged.
const recheck = 5 * time.Second

// How much of each file is read: hosts files that block advertisements have a few megabytes.
const (
	maxConfFile  = 64 << 10
	maxHostsFile = 64 << 20
)

// maxHostAddrs bounds the addresses kept for a name in a hosts file.
const maxHostAddrs = 32

// settings is the content of the files. It is immutable.
type settings struct {
	conf                  *conf
	hosts                 hosts
	confStamp, hostsStamp stamp
}

// stamp distinguishes states of a file. The zero stamp means no file.
type stamp struct {
	modified time.Time
	size     int64
}

// files are resolv.conf and hosts, as far as they exist.
type files struct {
	conf, hosts string
	servers     []netip.AddrPort // instead of those of conf
	now         *settings
	until       time.Time // time of the next check
	reading     aio.Lock
}

// current returns the settings, and whether resolv.conf has changed. While one task checks the
// files, the others continue with the known settings.
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

// read returns the content of the files; for a file that has not changed, or cannot be read at the
// moment, the content of before.
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

// content returns the content of a file, "" if it does not exist. ok is false if it could not be
// read, for want of a descriptor, for example.
func content(path string, limit int64) (text string, ok bool) {
	file, err := os.Open(path)
	if err != nil {
		return "", errors.Is(err, fs.ErrNotExist)
	}
	defer file.Close()
	b, err := io.ReadAll(io.LimitReader(file, limit))
	return string(b), err == nil
}

// localDomain returns the search list where resolv.conf has none: the domain of this machine's
// name (resolv.conf(5)).
func localDomain() []string {
	name, err := os.Hostname()
	if err != nil {
		return nil
	}
	_, domain, _ := strings.Cut(name, ".")
	return domains([]string{domain})
}

// hosts maps names, in lower case and without a final dot, to addresses.
type hosts map[string][]netip.Addr

// parseHosts parses a hosts file (hosts(5)): on each line an address, then names for it; # begins
// a comment. Lines that do not begin with an address are ignored.
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
