package dns

import (
	"bytes"
	"crypto/rand"
	"encoding/binary"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"time"

	"golang.org/x/net/dns/dnsmessage"
)

const (
	maxDatagram = 4096 // some servers send more than requested
	// Requested by EDNS: fits into the smallest IPv6 packet (dnsflagday.net/2020).
	payload    = 1232
	maxRecords = 512 // read per answer
	maxAddrs   = 32  // kept per name and family
	maxAliases = 16  // one after the other
)

// verdict is the knowledge about the addresses of a name and family.
type verdict uint8

const (
	unknown verdict = iota
	found           // there are addresses
	empty           // there are none: NODATA
	missing         // there is no such name: NXDOMAIN
)

// question asks for the addresses of one family, and holds the answer once there is one.
type question struct {
	kind    dnsmessage.Type // A or AAAA
	name    dnsmessage.Name // to ask for: the last known alias
	aliases int             // that led to it
	ttl     uint32          // the least of these, in seconds
	id      uint16
	sent    []byte // the datagram with the question

	verdict verdict
	addrs   []netip.Addr
	server  netip.AddrPort // that gave the answer, or was the last to fail

	// At the current server.
	failed  bool
	why     string // it failed
	silence bool   // it failed by silence
	stream  bool   // the answer is too long for a datagram: use TCP
	plain   bool   // it does not support EDNS
}

// questions are the questions for A and AAAA, in this order.
type questions [2]*question

// newQuestions returns the questions for a valid absolute name.
func newQuestions(name string) questions {
	n := dnsmessage.MustNewName(name)
	const never = ^uint32(0) >> 1 // the longest TTL (RFC 2181, section 8)
	return questions{
		{kind: dnsmessage.TypeA, name: n, ttl: never},
		{kind: dnsmessage.TypeAAAA, name: n, ttl: never},
	}
}

// settled reports whether no server needs to be asked any more: everything is known, or there are
// IPv4 addresses, which suffice.
func settled(qs questions) bool {
	return qs[0].verdict == found || qs[0].verdict != unknown && qs[1].verdict != unknown
}

// pack returns the message that asks q, with room for its length over TCP in front, and gives q a
// new number.
func (q *question) pack() []byte {
	var random [2]byte
	_, _ = rand.Read(random[:]) // never fails
	q.id = binary.BigEndian.Uint16(random[:])
	b := dnsmessage.NewBuilder(make([]byte, 2, 512), dnsmessage.Header{ID: q.id, RecursionDesired: true})
	b.EnableCompression()
	_ = b.StartQuestions()
	_ = b.Question(dnsmessage.Question{Name: q.name, Type: q.kind, Class: dnsmessage.ClassINET})
	if !q.plain {
		_ = b.StartAdditionals()
		var h dnsmessage.ResourceHeader
		_ = h.SetEDNS0(payload, dnsmessage.RCodeSuccess, false)
		_ = b.OPTResource(h, dnsmessage.OPTResource{})
	}
	message, err := b.Finish()
	if err != nil {
		// The name is valid: a bug in this package.
		panic(fmt.Sprintf("dns: question for %q: %v", q.name.String(), err))
	}
	binary.BigEndian.PutUint16(message, uint16(len(message)-2))
	return message
}

// record is a record of an answer that matters: an address or an alias.
type record struct {
	owner dnsmessage.Name
	addr  netip.Addr
	alias dnsmessage.Name // if addr is not valid
	ttl   uint32
}

// take parses a message that a server has sent. It reports whether the message was an answer to q;
// then q knows its content, or is to be asked again (for another name, over TCP, without EDNS), or
// has failed.
func (q *question) take(message []byte) bool {
	var p dnsmessage.Parser
	h, err := p.Start(message)
	if err != nil || !h.Response || h.ID != q.id || h.OpCode != 0 {
		return false
	}
	asked, err := p.Question()
	switch {
	case err == dnsmessage.ErrSectionDone && refusals[h.RCode] != "":
		// Some servers send nothing but a header.
	case err != nil || asked.Type != q.kind || asked.Class != dnsmessage.ClassINET || !same(&asked.Name, &q.name):
		return false
	}
	switch h.RCode {
	case dnsmessage.RCodeSuccess, dnsmessage.RCodeNameError:
		if h.Truncated && !q.stream {
			q.stream = true
			return true
		}
		if err := q.read(&p, h); err != nil {
			q.fail("the answer is damaged: " + err.Error())
		}
	case dnsmessage.RCodeFormatError, dnsmessage.RCodeNotImplemented:
		if !q.plain { // RFC 6891, section 6.2.2
			q.plain = true
			return true
		}
		fallthrough
	default:
		why := refusals[h.RCode]
		if why == "" {
			why = fmt.Sprintf("the server answered with code %d", h.RCode)
		}
		q.fail(why)
	}
	return true
}

func (q *question) fail(why string) { q.failed, q.why = true, why }

// read parses an answer after its first question.
func (q *question) read(p *dnsmessage.Parser, h dnsmessage.Header) error {
	if err := p.SkipAllQuestions(); err != nil {
		return err
	}
	records, err := q.records(p)
	if err != nil {
		return err
	}
	name, aliases, ttl := q.name, q.aliases, q.ttl
	var addrs []netip.Addr
	for {
		next := -1
		for i := range records {
			switch r := &records[i]; {
			case !same(&r.owner, &name):
			case !r.addr.IsValid():
				next = i
			case len(addrs) < maxAddrs && !slices.Contains(addrs, r.addr):
				addrs = append(addrs, r.addr)
				ttl = min(ttl, r.ttl)
			}
		}
		if len(addrs) > 0 || next < 0 {
			break
		}
		if aliases++; aliases > maxAliases {
			q.fail(fmt.Sprintf("more than %d aliases in a chain", maxAliases))
			return nil
		}
		name, ttl = records[next].alias, min(ttl, records[next].ttl)
	}
	switch {
	case h.RCode == dnsmessage.RCodeNameError:
		q.verdict = missing
	case len(addrs) > 0:
		q.verdict, q.addrs, q.ttl = found, addrs, ttl
		return nil
	}
	negative, ok, err := authority(p)
	switch {
	case err != nil:
		q.verdict = unknown
		return err
	case q.verdict == missing:
	case ok:
		q.verdict = empty
	case aliases > q.aliases: // the server leaves the rest to us
		q.name, q.aliases, q.ttl = name, aliases, ttl
		return nil
	case !h.Authoritative && !h.RecursionAvailable:
		q.fail("the server does not know the name and does not recurse")
		return nil
	default:
		q.verdict = empty
	}
	q.ttl = min(ttl, negative)
	return nil
}

// records returns the relevant records of the answer section.
func (q *question) records(p *dnsmessage.Parser) ([]record, error) {
	var records []record
	for range maxRecords {
		h, err := p.AnswerHeader()
		if err == dnsmessage.ErrSectionDone {
			return records, nil
		}
		if err != nil {
			return nil, err
		}
		r := record{owner: h.Name, ttl: seconds(h.TTL)}
		switch {
		case h.Class != dnsmessage.ClassINET || h.Type != q.kind && h.Type != dnsmessage.TypeCNAME:
			err = p.SkipAnswer()
		case h.Type == dnsmessage.TypeA:
			var a dnsmessage.AResource
			a, err = p.AResource()
			r.addr = netip.AddrFrom4(a.A)
		case h.Type == dnsmessage.TypeAAAA:
			var a dnsmessage.AAAAResource
			a, err = p.AAAAResource()
			r.addr = netip.AddrFrom16(a.AAAA).Unmap()
		default:
			var c dnsmessage.CNAMEResource
			c, err = p.CNAMEResource()
			r.alias = c.CNAME
		}
		if err != nil {
			return nil, err
		}
		if r.addr.IsValid() || r.alias.Length > 0 {
			records = append(records, r)
		}
	}
	return records, p.SkipAllAnswers()
}

// authority returns how long an absence may be kept, in seconds (RFC 2308, section 5), and whether
// the answer says so.
func authority(p *dnsmessage.Parser) (ttl uint32, ok bool, err error) {
	for range maxRecords {
		h, err := p.AuthorityHeader()
		if err == dnsmessage.ErrSectionDone {
			break
		}
		if err != nil {
			return 0, false, err
		}
		if h.Type == dnsmessage.TypeSOA && h.Class == dnsmessage.ClassINET {
			soa, err := p.SOAResource()
			return min(seconds(h.TTL), seconds(soa.MinTTL)), err == nil, err
		}
		if err := p.SkipAuthority(); err != nil {
			return 0, false, err
		}
	}
	return 0, false, nil
}

// seconds returns a TTL; one with the highest bit set counts as 0 (RFC 2181, section 8).
func seconds(ttl uint32) uint32 {
	if ttl>>31 != 0 {
		return 0
	}
	return ttl
}

// same reports whether two names are equal, ignoring case.
func same(a, b *dnsmessage.Name) bool {
	return a.Length == b.Length && bytes.EqualFold(a.Data[:a.Length], b.Data[:b.Length])
}

// answer returns the combined answer of qs, with unordered addresses.
func (qs questions) answer(name string) answer {
	bound := func(ttl uint32, most time.Duration) time.Duration {
		return min(max(time.Duration(ttl)*time.Second, minKeep), most)
	}
	a4, a6 := qs[0], qs[1]
	switch {
	case a4.verdict == found || a6.verdict == found:
		keep := maxKeep
		for _, q := range qs {
			switch q.verdict {
			case found:
				keep = min(keep, bound(q.ttl, maxKeep))
			case unknown:
				keep = min(keep, maxKeepHalf)
			}
		}
		return answer{addrs: slices.Concat(a6.addrs, a4.addrs), keep: keep}
	case a4.verdict == unknown:
		return a4.failure(name)
	case a6.verdict == unknown:
		return a6.failure(name)
	}
	why := noAddress
	if a4.verdict == missing && a6.verdict == missing {
		why = noSuchHost
	}
	return answer{err: notFound(name, a4.server.String(), why), keep: bound(min(a4.ttl, a6.ttl), maxKeepMissing)}
}

// failure returns the answer to a question that no server has answered.
func (q *question) failure(name string) answer {
	why := q.why
	if q.silence {
		why = "the server did not answer"
	}
	return answer{
		err:  &net.DNSError{Err: why, Name: name, Server: q.server.String(), IsTimeout: q.silence, IsTemporary: true},
		keep: keepFailure,
	}
}
