package blocklist

import (
	"fmt"
	"slices"
	"strings"
)

// typeSet is a set of types of requests.
type typeSet uint16

const (
	typeScript typeSet = 1 << iota
	typeImage
	typeStylesheet
	typeFont
	typeMedia
	typeXHR
	typeSubdocument
	typeWebSocket
	typePing
	typeOther
	typeDocument // not of a request: the page itself

	requestTypes = typeDocument - 1
)

// typeOf returns the type of a request from its name in the DevTools protocol.
func typeOf(name string) typeSet {
	switch name {
	case "Script":
		return typeScript
	case "Image":
		return typeImage
	case "Stylesheet":
		return typeStylesheet
	case "Font":
		return typeFont
	case "Media", "TextTrack":
		return typeMedia
	case "XHR", "Fetch", "EventSource", "Preflight":
		return typeXHR
	case "Document":
		return typeSubdocument
	case "WebSocket":
		return typeWebSocket
	case "Ping":
		return typePing
	}
	return typeOther
}

// optionTypes are the types that options name: none of those that a page which is rendered does
// not request, such as popups.
var optionTypes = map[string]typeSet{
	"script": typeScript, "image": typeImage, "stylesheet": typeStylesheet, "css": typeStylesheet,
	"font": typeFont, "media": typeMedia, "xmlhttprequest": typeXHR, "xhr": typeXHR,
	"subdocument": typeSubdocument, "frame": typeSubdocument, "websocket": typeWebSocket,
	"ping": typePing, "beacon": typePing, "other": typeOther,
	"document": typeDocument, "doc": typeDocument, "all": typeDocument | requestTypes,
	"popup": 0, "popunder": 0, "object": 0, "object-subrequest": 0, "webrtc": 0, "inline-script": 0, "inline-font": 0,
	"elemhide": 0, "ehide": 0, "generichide": 0, "ghide": 0, "specifichide": 0, "shide": 0,
}

// party is the site that a request goes to, seen from its page.
type party uint8

const (
	anyParty party = iota
	firstParty
	thirdParty
)

// options are those of one rule.
type options struct {
	named     bool // types are named, and the rule is for no others
	included  typeSet
	excluded  typeSet
	party     party
	matchCase bool
	important bool
	domains   *domains
}

func (o *options) types() typeSet {
	if o.named {
		return o.included &^ o.excluded
	}
	return requestTypes &^ o.excluded
}

// unsupported is the error of an option that this package cannot judge.
type unsupported string

func (u unsupported) Error() string { return fmt.Sprintf("option %.40q", string(u)) }

// splitOptions cuts a filter at the first '$' behind which all is options.
func splitOptions(filter string) (pattern, list string) {
	for i := range len(filter) {
		if filter[i] == '$' && areOptions(filter[i+1:]) {
			return filter[:i], filter[i+1:]
		}
	}
	return filter, ""
}

// areOptions reports whether text reads "name,~name,name=value".
func areOptions(text string) bool {
	for option := range strings.SplitSeq(text, ",") {
		name, _, _ := strings.Cut(strings.TrimPrefix(option, "~"), "=")
		if name == "" || strings.IndexFunc(name, func(r rune) bool { return r != '-' && r != '_' && (r > 'z' || !isAlnum(byte(r))) }) >= 0 {
			return false
		}
	}
	return true
}

func parseOptions(list string) (o options, err error) {
	if list == "" {
		return o, nil
	}
	for option := range strings.SplitSeq(list, ",") {
		if err := o.add(option); err != nil {
			return o, err
		}
	}
	return o, nil
}

func (o *options) add(option string) (err error) {
	name, not := strings.CutPrefix(lower(option), "~")
	name, value, _ := strings.Cut(name, "=")
	types, isType := optionTypes[name]
	hasValue := strings.IndexByte(option, '=') >= 0
	takesValue := name == "domain" || name == "from"
	switch {
	case hasValue != takesValue:
		return unsupported(option)
	case isType && not:
		o.excluded |= types
	case isType:
		o.named, o.included = true, o.included|types
	case name == "third-party" || name == "3p":
		o.party = oneOf(not, firstParty, thirdParty)
	case name == "first-party" || name == "1p":
		o.party = oneOf(not, thirdParty, firstParty)
	case not:
		return unsupported(option)
	case name == "match-case":
		o.matchCase = true
	case name == "important":
		o.important = true
	case takesValue:
		o.domains, err = parseDomains(value)
	default:
		return unsupported(option)
	}
	return err
}

func oneOf(second bool, a, b party) party {
	if second {
		return a
	}
	return b
}

// domains are those of the pages that a rule is for, or is not for.
type domains struct {
	sorted   []pageDomain
	included bool // one at least is included, and the rule is for no pages but these
}

type pageDomain struct {
	name     string
	excluded bool
}

func compareName(d pageDomain, name string) int { return strings.Compare(d.name, name) }

func parseDomains(list string) (*domains, error) {
	d := new(domains)
	for name := range strings.SplitSeq(list, "|") {
		name, not := strings.CutPrefix(name, "~")
		host, ok := canonicalHost(name)
		if !ok || strings.ContainsAny(host, "*/") {
			return nil, unsupported("domain=" + name)
		}
		d.sorted = append(d.sorted, pageDomain{host, not})
		d.included = d.included || !not
	}
	slices.SortFunc(d.sorted, func(a, b pageDomain) int { return compareName(a, b.name) })
	return d, nil
}

// include reports whether a rule is for pages of a host: the longest domain of the host that is
// listed decides.
func (d *domains) include(host string) bool {
	for {
		if at, found := slices.BinarySearchFunc(d.sorted, host, compareName); found {
			return !d.sorted[at].excluded
		}
		_, parent, more := strings.Cut(host, ".")
		if !more {
			return !d.included
		}
		host = parent
	}
}
