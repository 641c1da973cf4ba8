package blocklist

import (
	"net/netip"
	"strings"
	"unicode/utf8"
)

// parser sorts the lines of a list.
type parser struct {
	adblock bool // a header says that the list has the syntax of Adblock Plus
	number  int  // of the line, from 1
	kept    int

	important, blocking, exceptions, pages []rule

	skipped Skipped
}

func (p *parser) line(text string) {
	text = strings.TrimSpace(text)
	switch {
	case text == "" || text[0] == '!' || text[0] == '#':
		return // a comment, or a rule that hides elements on all sites
	case text[0] == '[' && text[len(text)-1] == ']':
		p.adblock = true
		return
	case !utf8.ValidString(text):
		p.skip("not UTF-8")
		return
	case hidesElements(text):
		return
	}
	text = withoutComment(text)
	first, names, several := strings.Cut(text, " ")
	if !several {
		first, names, several = strings.Cut(text, "\t")
	}
	switch {
	case !several && !p.adblock && isDomain(text):
		p.domain(text)
	case !several:
		p.filter(text)
	default:
		addr, err := netip.ParseAddr(first)
		if err != nil {
			p.skip("white space in a rule")
		} else if addr.IsUnspecified() || addr.IsLoopback() {
			p.hosts(text, names)
		}
	}
}

func (p *parser) skip(why string) {
	if p.skipped.Rules++; p.skipped.Rules == 1 {
		p.skipped.Line, p.skipped.Why = p.number, why
	}
}

func (p *parser) block(r rule) {
	p.blocking = append(p.blocking, r)
	p.kept++
}

// hidesElements reports whether a line is about elements of pages: "##", "#@#", "#?#", "#$#" and
// the like stand before a selector or a script, "$$" before HTML.
func hidesElements(line string) bool {
	for rest := line; ; {
		_, after, found := strings.Cut(rest, "#")
		if !found {
			return strings.Contains(line, "$$")
		}
		if strings.HasPrefix(strings.TrimLeft(after, "@?$%"), "#") {
			return true
		}
		rest = after
	}
}

func withoutComment(line string) string {
	for i := 1; i < len(line); i++ {
		if line[i] == '#' && (line[i-1] == ' ' || line[i-1] == '\t') {
			return strings.TrimSpace(line[:i])
		}
	}
	return line
}

// isDomain reports whether a line is the name of a domain, and not a pattern.
func isDomain(line string) bool {
	line = strings.TrimPrefix(line, "*.")
	return strings.IndexByte(line, '.') >= 0 && strings.IndexFunc(line, func(r rune) bool { return r < utf8.RuneSelf && !isHostByte(byte(r)) }) < 0
}

func (p *parser) domain(line string) {
	host, ok := canonicalHost(strings.Trim(strings.TrimPrefix(line, "*."), "."))
	if !ok {
		p.skip("not a domain")
		return
	}
	p.block(rule{line: line, pattern: host + "^", anchors: atDomain, types: requestTypes})
}

// hosts reads the names of a line of a hosts file. Those without a dot are the machine's own, such
// as localhost.
func (p *parser) hosts(line, names string) {
	for name := range strings.FieldsSeq(names) {
		host, ok := canonicalHost(strings.Trim(name, "."))
		_, err := netip.ParseAddr(host)
		switch {
		case !ok:
			p.skip("not a host")
		case err == nil || strings.IndexByte(host, '.') < 0 || host == "localhost.localdomain":
		default:
			p.block(rule{line: line, pattern: host + "^", anchors: atHost, types: requestTypes})
		}
	}
}

func (p *parser) filter(line string) {
	text, exception := strings.CutPrefix(line, "@@")
	text, list := splitOptions(text)
	switch {
	case text == "" && list == "":
		p.skip("no pattern")
		return
	case len(text) > 1 && text[0] == '/' && text[len(text)-1] == '/':
		p.skip("a regular expression")
		return
	}
	o, err := parseOptions(list)
	if err == nil && exception && o.important {
		err = unsupported("important")
	}
	if err != nil {
		p.skip(err.Error())
		return
	}
	r := rule{line: line, types: o.types(), party: o.party, matchCase: o.matchCase, domains: o.domains}
	if ok := r.setPattern(text); !ok {
		p.skip("not a host")
		return
	}
	p.keep(r, exception, o.important)
}

// keep adds a rule, unless it is for nothing that a page requests.
func (p *parser) keep(r rule, exception, important bool) {
	forPages := exception && r.types&typeDocument != 0
	forRequests := r.types&requestTypes != 0
	switch {
	case !forPages && !forRequests:
		return
	case important:
		p.important = append(p.important, r)
	case !exception:
		p.blocking = append(p.blocking, r)
	}
	if forPages {
		p.pages = append(p.pages, r)
	}
	if exception && forRequests {
		p.exceptions = append(p.exceptions, r)
	}
	p.kept++
}
