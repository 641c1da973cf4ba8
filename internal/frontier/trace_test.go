package frontier_test

import (
	"fmt"
	"net/netip"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/weftcrawl/weft/internal/frontier"
	"github.com/weftcrawl/weft/internal/golden"
	"github.com/weftcrawl/weft/robots"
)

// TestTrace runs the files in testdata. A case is lines of commands, a line "----", the expected
// output, and an empty line. URLs are short: a/1 is http://a.example/1.
//
//	config delay=1s per-host=2    a new frontier, at time 0; also rate, robots (its value is
//	                              RobotsTries), limit, limit-per-host, redirects, heads
//	at 1.5s                       the time is now 1.5 s
//	add a/1 b/1 b/2@d3 b/3@p1     prints which URLs are not added; depth 3, priority 1
//	lease 3                       prints the leases and the refused URLs
//	done a/1 a/2                  ends leases
//	retry a/1 5s                  ends a lease: again at 5 s
//	robots a Disallow:/x          ends a lease of robots.txt: its lines for all agents
//	robots-failed a status 503    ends a lease of robots.txt, with the reason
//	next                          prints when something is due
//	stats                         prints the counts
//	hosts                         prints the origins with something pending or leased
//
// and those of a crawl with a journal: see trace.durable. There retry has the kind of error, too:
// "retry a/1 5s timeout".
//
// The arguments of a result may begin with what it teaches: took=20ms, loopback, overload,
// retry-after=5s, failed, silent. A lease of robots.txt is printed as a:robots.txt.
func TestTrace(t *testing.T) {
	traces := make(map[string]*trace)
	golden.Cases(t, "testdata/*.txt", golden.EmptyLine, func(t *testing.T, file, commands, _ string) string {
		if traces[file] == nil {
			traces[file] = new(trace)
		}
		got := ""
		for line := range strings.SplitSeq(commands, "\n") {
			if !strings.HasPrefix(line, "#") {
				got += traces[file].command(t, line)
			}
		}
		return got
	})
}

// trace is a frontier that commands drive.
type trace struct {
	f       *frontier.Frontier
	cfg     frontier.Config
	now     time.Duration
	leased  map[string]frontier.URL
	journal *journal
	wants   map[string]*want // by short name of the host
}

// command runs a line and returns what it prints.
func (tr *trace) command(t *testing.T, line string) string {
	t.Helper()
	name, rest, _ := strings.Cut(line, " ")
	args := strings.Fields(rest)
	switch name {
	case "config":
		var cfg frontier.Config
		for _, arg := range args {
			switch key, value, _ := strings.Cut(arg, "="); key {
			case "delay":
				cfg.Delay = duration(t, value)
			case "per-host":
				cfg.PerHost = number(t, value)
			case "rate":
				cfg.RateLimit = float64(number(t, value))
			case "robots":
				cfg.Robots, cfg.RobotsTries = true, number(t, value)
			case "limit":
				cfg.Limit = number(t, value)
			case "limit-per-host":
				cfg.LimitPerHost = number(t, value)
			case "redirects":
				cfg.MaxRedirects = number(t, value)
			case "heads":
				cfg.Heads = number(t, value)
			default:
				t.Fatalf("%q: what is %s?", line, key)
			}
		}
		*tr = trace{f: frontier.New(cfg), cfg: cfg, leased: make(map[string]frontier.URL)}
	case "at":
		tr.now = duration(t, rest)
	case "add":
		out := ""
		for _, arg := range args {
			before := tr.f.View().Stats()
			switch arg, url := parse(t, arg); {
			case tr.f.Add(url):
			case tr.f.View().Stats().Duplicates > before.Duplicates:
				out += fmt.Sprintf("%v add: %s was seen before\n", tr.now, arg)
			default:
				out += fmt.Sprintf("%v add: %s is over the limit\n", tr.now, arg)
			}
		}
		return out
	case "lease":
		leases := tr.f.Lease(at(tr.now), number(t, rest))
		out := ""
		for _, lease := range leases {
			name := short(lease)
			if lease.Robots {
				name = strings.Replace(name, "/", ":", 1)
			}
			tr.leased[name] = lease
			out += " " + name
			if lease.Tries > 0 {
				out += fmt.Sprintf(" (tries: %d)", lease.Tries)
			}
		}
		if out == "" {
			out = " nothing"
		}
		out = fmt.Sprintf("%v lease:%s\n", tr.now, out)
		for _, r := range tr.f.Refused().URLs {
			out += fmt.Sprintf("%v refused: %s: %s: %s\n", tr.now, short(r.URL), r.Kind, r.Reason)
		}
		return out
	case "done":
		answer, args := tr.answer(t, args)
		for _, arg := range args {
			tr.f.Done(at(tr.now), tr.leased[arg], answer)
		}
	case "retry":
		answer, args := tr.answer(t, args)
		u := tr.leased[args[0]]
		if why := strings.Join(args[2:], " "); why != "" {
			u.Past = append(u.Past, frontier.Try{At: at(tr.now), Kind: why})
		}
		tr.f.Retry(at(tr.now), u, answer, at(duration(t, args[1])))
	case "robots":
		answer, args := tr.answer(t, args)
		body := "User-agent: *\n" + strings.Join(args[1:], "\n")
		tr.f.Robots().Set(at(tr.now), tr.leased[args[0]+":robots.txt"], robots.Parse([]byte(body)).Agent("weft"), answer)
	case "robots-failed":
		answer, args := tr.answer(t, args)
		tr.f.Robots().Failed(at(tr.now), tr.leased[args[0]+":robots.txt"], answer, "robots-unreachable", strings.Join(args[1:], " "), false)
	case "next":
		if next, ok := tr.f.Next(); ok {
			return fmt.Sprintf("%v next: %v\n", tr.now, max(tr.now, next.Sub(epoch)))
		}
		return fmt.Sprintf("%v next: never\n", tr.now)
	case "stats":
		s := tr.f.View().Stats()
		out := fmt.Sprintf("%v stats: %d pending, %d leased, %d done, %d hosts, %d duplicates", tr.now, s.Pending, s.Leased, s.Done, s.Origins, s.Duplicates)
		if s.Refused+s.OverLimit > 0 {
			out += fmt.Sprintf(", %d refused, %d over limit", s.Refused, s.OverLimit)
		}
		if s.LimitReached {
			out += ", limit reached"
		}
		switch {
		case tr.f.View().Over():
			out += ", over"
		case tr.f.View().Stopped():
			out += ", stopped"
		}
		return out + "\n"
	case "hosts":
		out := ""
		for _, h := range tr.f.View().Slowest(10) {
			out += fmt.Sprintf("%v %s: %d pending, %d leased, took %v, pace %d", tr.now, h.Origin, h.Pending, h.Leased, h.Took, h.Pace)
			if !h.BackOff.IsZero() {
				out += fmt.Sprintf(", backs off until %v", h.BackOff.Sub(epoch))
			}
			out += "\n"
		}
		return out
	default:
		return tr.durable(t, line)
	}
	return ""
}

// answer parses what a result teaches, and returns the other arguments.
func (tr *trace) answer(t *testing.T, args []string) (a frontier.Result, rest []string) {
	t.Helper()
	for i, arg := range args {
		switch key, value, _ := strings.Cut(arg, "="); key {
		case "took":
			a.Took = duration(t, value)
		case "loopback":
			a.Addr = netip.MustParseAddr("127.0.0.1")
		case "overload":
			a.Overload = true
		case "failed":
			a.Failure, a.Reason = "connect", "connection refused"
		case "silent":
			a.Failure, a.Reason, a.Silent = "timeout", "no answer", true
		case "retry-after":
			a.RetryAfter = duration(t, value)
		default:
			return a, args[i:]
		}
	}
	return a, nil
}

// parse reads a URL with a suffix such as @d3 or @p1.
func parse(t *testing.T, arg string) (string, frontier.URL) {
	t.Helper()
	name, more, _ := strings.Cut(arg, "@")
	url := u(t, name)
	switch {
	case strings.HasPrefix(more, "d"):
		url.Depth = number(t, more[1:])
	case strings.HasPrefix(more, "p"):
		url.Priority = int8(number(t, more[1:]))
	}
	return name, url
}

func duration(t *testing.T, s string) time.Duration {
	t.Helper()
	d, err := time.ParseDuration(s)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func number(t *testing.T, s string) int {
	t.Helper()
	n, err := strconv.Atoi(s)
	if err != nil {
		t.Fatal(err)
	}
	return n
}
