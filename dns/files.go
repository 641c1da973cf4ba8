package dns

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"net/netip"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/weftcrawl/weft/aio"
	"github.com/weftcrawl/weft/internal/regular"
)

// recheck is the time for which the files and the routes are assumed to be unchanged.
const recheck = 5 * time.Second

// maxConfFile bounds the part of resolv.conf that is read.
const maxConfFile = 64 << 10

// settings is the content of the files. It is immutable.
type settings struct {
	conf                  *conf
	hosts                 names
	confStamp, hostsStamp stamp
}

// stamp distinguishes states of a file. The zero stamp means no file.
type stamp struct {
	modified time.Time
	size     int64
}

// Files is the knowledge of several resolvers about the files of their machine, so that each is
// read once for all of them. They must have the same Options. The zero Files is ready for use, from
// any goroutine.
type Files struct {
	mu struct {
		sync.Mutex
		now *settings // nil: none yet
	}
}

// files are resolv.conf and hosts, as far as they exist.
type files struct {
	conf, hosts string
	servers     []netip.AddrPort // instead of those of conf
	shared      *Files
	now         *settings
	until       time.Time // time of the next check
	reading     aio.Lock
}

// current returns the settings, and whether they have changed. While one task checks the files, the
// others continue with the known settings.
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
	s, err = aio.Offload(t, func(context.Context) (*settings, error) { return f.check(), nil })
	if err != nil {
		return nil, false, err
	}
	f.now, f.until = s, t.Loop().Now().Add(recheck)
	return s, before != nil && s != before, nil
}

// check returns the content of the files as they are now. It blocks.
func (f *files) check() *settings {
	mu := &f.shared.mu
	mu.Lock()
	defer mu.Unlock()
	mu.now = f.read(mu.now)
	return mu.now
}

// read returns the content of the files, or before if that has not changed; for a file that cannot
// be read at the moment, the content of before.
func (f *files) read(before *settings) *settings {
	var s settings
	if before != nil {
		s = *before
	}
	changed := before == nil
	if now := stampOf(f.conf); before == nil || now != s.confStamp {
		if text, ok := content(f.conf, maxConfFile); ok || before == nil {
			s.conf = parseConf(text)
			if s.conf.search == nil && f.conf != "" {
				s.conf.search = localDomain()
			}
			if len(f.servers) > 0 {
				s.conf.servers = f.servers
			}
			if changed = true; ok {
				s.confStamp = now
			}
		}
	}
	if now := stampOf(f.hosts); before == nil || now != s.hostsStamp {
		if names, ok := hostsIn(f.hosts, now.size); ok {
			s.hosts, s.hostsStamp, changed = names, now, true
		}
	}
	if !changed {
		return before
	}
	return &s
}

// hostsIn returns the names of a hosts file, none if it does not exist. ok is false if it could not
// be read.
func hostsIn(path string, size int64) (n names, ok bool) {
	file, err := regular.Open(path)
	if err != nil {
		return n, errors.Is(err, fs.ErrNotExist)
	}
	defer file.Close()
	n, err = namesOf(file, size)
	return n, err == nil
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
	file, err := regular.Open(path)
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
