package check

import (
	"fmt"
	"slices"
	"strings"
)

// Level is the severity of a rule's findings.
type Level string

// The levels.
const (
	Error   Level = "error"   // something is broken
	Warning Level = "warning" // it works, and should be mended
	Note    Level = "note"    // to know
)

// levels are the levels, the worst first.
var levels = []Level{Error, Warning, Note}

// Rule is a kind of finding.
type Rule struct {
	Name  string
	Level Level
	Group string // "links" or "site"
	Doc   string // the meaning of its findings, in a line
}

// Names of rules.
const (
	BrokenLink        = "broken-link"
	Certificate       = "certificate"
	RedirectLoop      = "redirect-loop"
	InvalidURL        = "invalid-url"
	InvalidMail       = "invalid-mail"
	MissingFragment   = "missing-fragment"
	BrokenInSitemap   = "broken-in-sitemap"
	UnknownLink       = "unknown"
	OwnUnknown        = "own-unknown"
	PermanentRedirect = "permanent-redirect"
	RedirectChain     = "redirect-chain"
	HTTPSAvailable    = "https-available"
	MixedContent      = "mixed-content"
	Soft404           = "soft-404"
	NeedsScripts      = "needs-scripts"
	NotRead           = "not-read"
	ScriptError       = "script-error"
	FailedRequest     = "failed-request"

	MissingTitle         = "missing-title"
	DuplicateTitle       = "duplicate-title"
	DuplicateDescription = "duplicate-description"
	DuplicateContent     = "duplicate-content"
	CanonicalElsewhere   = "canonical-elsewhere"
	NoindexLinked        = "noindex-linked"
	HreflangNoReturn     = "hreflang-no-return"
	ImageAlt             = "image-alt"
	Orphan               = "orphan"
	NotInSitemap         = "not-in-sitemap"
	RedirectInSitemap    = "redirect-in-sitemap"
	NoindexInSitemap     = "noindex-in-sitemap"
	BrokenSitemap        = "broken-sitemap"
	Deep                 = "deep"
	Slow                 = "slow"
	Huge                 = "huge"
)

// Groups of rules.
const (
	GroupLinks = "links" // of every link
	GroupSite  = "site"  // for the owner of a site
)

var rules = []Rule{
	{BrokenLink, Error, GroupLinks, "the link leads to an error, or to no server"},
	{Certificate, Error, GroupLinks, "the certificate of the server is invalid"},
	{RedirectLoop, Error, GroupLinks, "redirects in a circle, or too many"},
	{InvalidURL, Error, GroupLinks, "the link is no valid URL"},
	{InvalidMail, Error, GroupLinks, "the address of a mailto: link is invalid"},
	{MissingFragment, Error, GroupLinks, "nothing on the page has the id or name after the #"},
	{BrokenInSitemap, Error, GroupLinks, "the sitemap lists a URL that is an error"},
	{UnknownLink, Note, GroupLinks, "whether the link works cannot be told"},
	{OwnUnknown, Error, GroupLinks, "the same, and the link leads to a host of the seeds"},
	{PermanentRedirect, Warning, GroupLinks, "the target has moved for good"},
	{RedirectChain, Warning, GroupLinks, "several redirects, one after another"},
	{HTTPSAvailable, Warning, GroupLinks, "the link has http, and the server answers https"},
	{MixedContent, Warning, GroupLinks, "an https page loads this by http, which browsers block"},
	{Soft404, Warning, GroupLinks, "a page that does not exist has status 200"},
	{NeedsScripts, Warning, GroupLinks, "the page looks empty, as no scripts run"},
	{NotRead, Warning, GroupLinks, "a part of the page is not read: it is beyond a limit"},
	{ScriptError, Warning, GroupLinks, "a script of the page fails, or nothing renders it"},
	{FailedRequest, Warning, GroupLinks, "a request of the page fails"},

	{MissingTitle, Warning, GroupSite, "the page has no title"},
	{DuplicateTitle, Warning, GroupSite, "other pages have the same title"},
	{DuplicateDescription, Warning, GroupSite, "other pages have the same description"},
	{DuplicateContent, Warning, GroupSite, "the page has the content of another"},
	{CanonicalElsewhere, Note, GroupSite, "the canonical URL of the page is another"},
	{NoindexLinked, Note, GroupSite, "pages link to a page with noindex"},
	{HreflangNoReturn, Warning, GroupSite, "the page in another language does not link back"},
	{ImageAlt, Warning, GroupSite, "the image has no alt attribute"},
	{Orphan, Warning, GroupSite, "the page is in the sitemap, and no page links to it"},
	{NotInSitemap, Note, GroupSite, "the page is in no sitemap"},
	{RedirectInSitemap, Warning, GroupSite, "the sitemap has a URL that redirects"},
	{NoindexInSitemap, Warning, GroupSite, "the page is in the sitemap, and has noindex"},
	{BrokenSitemap, Warning, GroupSite, "the sitemap is none, empty, malformed, or too large"},
	{Deep, Note, GroupSite, "the page is many links away from the start"},
	{Slow, Warning, GroupSite, "the page took long"},
	{Huge, Warning, GroupSite, "the page is very large"},
}

// ofSitemaps are the rules that need sitemaps.
var ofSitemaps = []string{BrokenInSitemap, Orphan, NotInSitemap, RedirectInSitemap, NoindexInSitemap, BrokenSitemap}

// NeedsSitemaps reports whether the rule finds something only where sitemaps are read.
func (r Rule) NeedsSitemaps() bool { return slices.Contains(ofSitemaps, r.Name) }

// needSitemaps reports whether somebody has asked for a rule that needs sitemaps: those of links
// have one, too.
func (s RuleSet) needSitemaps() bool {
	var some RuleSet
	for _, name := range ofSitemaps {
		some |= named(name)
	}
	if links := named(GroupLinks); s.orDefault()&links != some&links {
		some &^= links
	}
	return s.orDefault()&some != 0
}

// Rules returns all rules, those of links first.
func Rules() []Rule { return slices.Clone(rules) }

// RuleSet is a set of rules, by their position in Rules. The zero RuleSet is that of links.
type RuleSet uint64

// ParseRules reads names of rules and groups, and "all", separated by commas. A name with "-" in
// front leaves the rule out; if the first has it, the others are those of links.
func ParseRules(list string) (RuleSet, error) {
	var s RuleSet
	for i, word := range strings.Split(list, ",") {
		name, without := strings.CutPrefix(strings.TrimSpace(word), "-")
		if i == 0 && without {
			s = named(GroupLinks)
		}
		found := named(name)
		switch {
		case found == 0:
			return 0, fmt.Errorf("rule %.64q, expected all, links, site, or some of %s", name, strings.Join(names(), ", "))
		case without:
			s &^= found
		default:
			s |= found
		}
	}
	return s | none, nil
}

// Without returns the set without a rule or group.
func (s RuleSet) Without(name string) (RuleSet, error) {
	found := named(name)
	if found == 0 {
		return 0, fmt.Errorf("rule %.64q, expected links, site, or one of %s", name, strings.Join(names(), ", "))
	}
	return s.orDefault() &^ found, nil
}

// named returns the rules of this name or group.
func named(name string) (s RuleSet) {
	for i, r := range rules {
		if name == r.Name || name == r.Group || name == "all" {
			s |= 1 << i
		}
	}
	return s
}

func names() (all []string) {
	for _, r := range rules {
		all = append(all, r.Name)
	}
	return all
}

// none marks a set from which all rules were taken: it is not the zero RuleSet.
const none RuleSet = 1 << 63

func (s RuleSet) orDefault() RuleSet {
	if s == 0 {
		return named(GroupLinks) | none
	}
	return s
}

// Has reports whether a rule is in the set.
func (s RuleSet) Has(name string) bool { return s.orDefault()&named(name) != 0 }

// ruleOf returns the rule of this name.
func ruleOf(name string) *Rule {
	i := slices.IndexFunc(rules, func(r Rule) bool { return r.Name == name })
	return &rules[i]
}
