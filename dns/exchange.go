package dns

import (
	"encoding/binary"
	"errors"
	"net/netip"
	"slices"
	"time"

	"github.com/weftcrawl/weft/aio"
	"golang.org/x/net/dns/dnsmessage"
)

// otherFamily is the time for which IPv4 addresses wait for IPv6. RFC 8305 (section 3) waits 50 ms,
// the other way round; here a distant server must not cost a crawl the IPv6 addresses for as long
// as the answer is kept.
const otherFamily = 500 * time.Millisecond

// impatience is the silence of a server from which, when the task that asked it is cancelled,
// to count as unresponsive: callers may have less time than resolv.conf gives a server.
const impatience = time.Second

// maxRounds bounds the exchanges with one server: for each question the first, one for each alias,
// one over TCP and one without EDNS.
const maxRounds = 2 * (maxAliases + 3)

// ask sends those of qs that have no answer to a server, until they have one or the server has
// failed them. An error means that the task was cancelled or that this machine lacks a resource.
func (r *Resolver) ask(t *aio.Task, server netip.AddrPort, conf *conf, qs questions) error {
	for _, q := range qs {
		if q.verdict == unknown {
			q.server, q.failed, q.silence, q.stream, q.plain = server, false, false, conf.tcp, false
		}
	}
	for range maxRounds {
		var datagrams, streams []*question
		for _, q := range qs {
			switch {
			case q.verdict != unknown || q.failed:
			case q.stream:
				streams = append(streams, q)
			default:
				datagrams = append(datagrams, q)
			}
		}
		if conf.single {
			datagrams = datagrams[:min(len(datagrams), 1)]
		}
		patience := conf.timeout
		if qs[0].verdict == found {
			patience = min(patience, otherFamily)
		}
		began := r.loop.Now()
		var err error
		switch {
		case len(datagrams) > 0:
			err = r.askUDP(t, server, patience, datagrams)
		case len(streams) > 0:
			err = r.askTCP(t, server, patience, streams)
		default:
			return nil
		}
		if err == nil {
			delete(r.sick, server)
			continue
		}
		if isOurs(err) {
			// The next task must not meet the same silence.
			if r.loop.Now().Sub(began) >= impatience {
				r.sick[server] = r.loop.Now().Add(sickness)
			}
			return err
		}
		for _, q := range qs {
			if q.verdict == unknown && !q.failed {
				q.silence = errors.Is(err, aio.ErrTimeout)
				q.fail(reason(err))
			}
		}
		if qs[0].verdict != found { // the server has answered, then
			r.sick[server] = r.loop.Now().Add(sickness)
		}
	}
	for _, q := range qs {
		if q.verdict == unknown && !q.failed {
			q.fail("the server never finished")
		}
	}
	return nil
}

// resend is the time after which an unanswered datagram counts as lost and is sent again; then
// twice that, and so on. Many look-ups at once exceed the buffer of a local server, which is not
// silent just because it has not read one of them.
const resend = time.Second

// askUDP sends qs from a port of their own and waits for an answer to each, as long as that is
// worthwhile.
func (r *Resolver) askUDP(t *aio.Task, server netip.AddrPort, patience time.Duration, qs []*question) error {
	c, err := aio.DialUDP(t, server)
	if err != nil {
		return err
	}
	defer c.Close()
	until := r.loop.Now().Add(patience)
	_ = c.SetWriteDeadline(until) // fails only when closed, like those below
	waiting := slices.Clone(qs)
	for _, q := range waiting {
		q.sent = q.pack()[2:]
	}
	for again, lost := r.loop.Now(), resend; len(waiting) > 0; {
		if !r.loop.Now().Before(again) {
			for _, q := range waiting {
				if _, err := c.Write(t, q.sent); err != nil {
					return err
				}
			}
			again = r.loop.Now().Add(lost)
			lost *= 2
		}
		if again.Before(until) {
			_ = c.SetReadDeadline(again)
		} else {
			_ = c.SetReadDeadline(until)
		}
		n, err := c.Read(t, r.buf[:])
		if errors.Is(err, aio.ErrTimeout) && r.loop.Now().Before(until) {
			continue
		}
		if err != nil {
			return err
		}
		for i, q := range waiting {
			if !q.take(r.buf[:n]) {
				continue
			}
			waiting = append(waiting[:i], waiting[i+1:]...)
			if soon := r.loop.Now().Add(otherFamily); q.verdict == found && q.kind == dnsmessage.TypeA && soon.Before(until) {
				until = soon
			}
			break
		}
	}
	return nil
}

// askTCP asks qs over one connection, one after the other (RFC 1035, section 4.2.2; RFC 7766).
func (r *Resolver) askTCP(t *aio.Task, server netip.AddrPort, patience time.Duration, qs []*question) error {
	return t.Timeout(patience, func(t *aio.Task) error {
		c, err := aio.Connect(t, []netip.AddrPort{server})
		if err != nil {
			return err
		}
		defer c.Close()
		reader := aio.NewReader(r.loop, c)
		defer reader.Close()
		for _, q := range qs {
			if _, err := c.Write(t, q.pack()); err != nil {
				return err
			}
			for taken := false; !taken; {
				var length [2]byte
				if _, err := reader.ReadFull(t, length[:]); err != nil {
					return err
				}
				message := make([]byte, binary.BigEndian.Uint16(length[:]))
				if _, err := reader.ReadFull(t, message); err != nil {
					return err
				}
				taken = q.take(message)
			}
		}
		return nil
	})
}
