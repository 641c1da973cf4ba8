package check

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"github.com/weftcrawl/weft/record"
)

// Verdict is the judgement on a target.
type Verdict string

// The verdicts.
const (
	OK        Verdict = "ok"
	Broken    Verdict = "broken"
	Unknown   Verdict = "unknown"   // it cannot be told
	Unchecked Verdict = "unchecked" // it was not asked for
)

// Range is the statuses from one to another.
type Range struct{ From, To int }

// ParseRanges reads statuses such as "200..299,403".
func ParseRanges(list string) ([]Range, error) {
	var all []Range
	for part := range strings.SplitSeq(list, ",") {
		first, last, ok := strings.Cut(strings.TrimSpace(part), "..")
		if !ok {
			last = first
		}
		from, err := strconv.Atoi(first)
		to, err2 := strconv.Atoi(strings.TrimPrefix(last, "="))
		if err != nil || err2 != nil || from < 100 || to > 999 || from > to {
			return nil, fmt.Errorf("status %.32q, expected one such as 403, or a range such as 200..299", part)
		}
		all = append(all, Range{from, to})
	}
	return all, nil
}

func accepts(ranges []Range, status int) bool {
	if len(ranges) == 0 {
		return status >= 200 && status < 300
	}
	for _, r := range ranges {
		if r.From <= status && status <= r.To {
			return true
		}
	}
	return false
}

// undecided are statuses with which a server may answer a crawler and not a reader, or now and not
// later.
var undecided = map[int]string{
	401: "it asks for a login", 403: "it may refuse crawlers alone", 407: "a proxy asks for a login",
	408: "the server waited too long for the request", 425: "the server asks for the request later",
	429: "too many requests", 451: "it may be refused in this country alone",
	503: "the server is overloaded, or down for a while", 999: "it refuses crawlers",
}

// challenges are the beginnings of the titles of challenge pages, in lower case.
var challenges = []string{
	"just a moment", "attention required! | cloudflare", "checking your browser", "ddos-guard", "robot or human",
	"are you a robot", "are you a human", "access to this page has been denied", "pardon our interruption",
	"security check", "captcha", "client challenge", "verifying your browser", "one moment, please",
}

func isChallenge(title string) bool {
	title = strings.ToLower(title)
	for _, begin := range challenges {
		if strings.HasPrefix(title, begin) {
			return true
		}
	}
	return false
}

// kindVerdicts are the verdicts by error kind. Those that are missing are unknown.
var kindVerdicts = map[string]Verdict{
	"dns": Broken, "connect": Broken, "tls": Broken, "scheme": Broken, "blocked-address": Unknown, "protocol": Broken,
	"encoding": Broken, "location": Broken, "redirects": Broken,
	"too-large": OK, "bomb": OK, "too-slow": OK,
	record.KindExcluded: Unchecked, record.KindRefused: Unchecked, record.KindNothingNew: Unchecked,
}

// kindReasons are the reasons of error kinds, for people.
var kindReasons = map[string]string{
	record.KindRobots: "robots.txt disallows it", record.KindNoRobots: "its robots.txt cannot be read",
	record.KindOverloaded: "the server is overloaded", "dns": "the name does not resolve", "connect": "no connection",
	"tls": "TLS fails", "redirects": "too many redirects", "location": "it redirects to nowhere", "reset": "the server broke the connection",
	"dial-timeout": "no connection in time", "tls-timeout": "no TLS handshake in time", "first-byte-timeout": "no response in time",
	"idle-timeout": "the response stalled", "timeout": "no response in time", "protocol": "the response is not HTTP",
	"early-end": "the connection ended too early", "encoding": "the body is not what its Content-Encoding says",
	"scheme": "no request can be made", "blocked-address": "its address is not public", "proxy": "the proxy fails",
}

// judge returns what a record says of its URL, without its redirects, which rule that is, and why.
func judge(r *record.Record, accept []Range) (v Verdict, rule, message string) {
	v, ok := kindVerdicts[r.ErrorKind]
	switch {
	case r.ErrorKind != "" && (v != OK || r.Status == 0):
		if !ok {
			v = Unknown
		}
		message = kindReasons[r.ErrorKind]
		if message == "" {
			message = r.ErrorKind
		}
		switch {
		case v == Broken && r.ErrorKind == record.KindRedirects:
			rule = RedirectLoop
		case v == Broken && r.ErrorKind == "tls" && isCertificate(r.Error):
			rule, message = Certificate, "the certificate is invalid"
		case r.ErrorKind == "dns" && !hasNoAddress(r.Error):
			v, message = Unknown, "the name cannot be resolved now"
		}
		return v, rule, message
	case accepts(accept, r.Status), r.UnchangedBy == record.SameNotModified:
		if isChallenge(r.Title) {
			return Unknown, "", "a challenge page: it may let readers pass"
		}
		return OK, "", ""
	case undecided[r.Status] != "":
		return Unknown, "", inWords(r.Status) + ": " + undecided[r.Status]
	}
	return Broken, "", inWords(r.Status)
}

// blames reports whether it is the server that keeps a URL unknown: neither its robots.txt, which
// the owner has written, nor what stands between the crawler and the server.
func blames(r *record.Record) bool {
	switch r.ErrorKind {
	case record.KindRobots, "blocked-address", "proxy":
		return false
	}
	return r.Status != http.StatusProxyAuthRequired
}

func isCertificate(err string) bool {
	return strings.Contains(err, "x509") || strings.Contains(err, "certificate")
}

// hasNoAddress reports whether a name server said that a name, or its address, does not exist,
// rather than failed: see package dns.
func hasNoAddress(err string) bool {
	return strings.Contains(err, "no such host") || strings.Contains(err, "no IP address")
}

// inWords is "404 Not Found".
func inWords(status int) string {
	if text := http.StatusText(status); text != "" {
		return fmt.Sprintf("%d %s", status, text)
	}
	return strconv.Itoa(status)
}
