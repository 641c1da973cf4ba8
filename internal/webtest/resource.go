package webtest

import (
	"fmt"
	"strconv"
	"strings"
)

// kind is the kind of a resource.
type kind uint8

const (
	none        kind = iota // no such resource
	page                    // n is its number on the host; sub > 0: a copy under another URL
	hop                     // of redirect chain n, the sub-th
	loop                    // of redirects, n has n%3+1 members, sub is one
	missing                 // 404, 410; sub 1: linked to only by a missing page
	failing                 // 5xx
	stalled                 // never starts (n even) or never ends
	broken                  // see fault
	private                 // closed by robots.txt; sub 1: opened again by a longer rule
	asset                   // not HTML, see assetTypes
	day                     // of the endless calendar; sub: a session
	robotsTxt               // sub 1: where it has moved to
	sitemapFile             // n > 0: listed in an index
	listedPage              // a page that only a sitemap lists
	hostile                 // see hostilities
	maze                    // n folders deep; sub: number of the maze
)

// resource is a node of the link graph.
type resource struct {
	host   int32
	n, sub int32
	kind   kind
}

// corridor repeats in the paths of a maze, up to maxMaze times.
const (
	corridor = "left/right/"
	maxMaze  = 5000
)

// maxNumber is the largest n and sub in a URL.
const maxNumber = 1<<31 - 1

// variants is, by kind, how many consecutive numbers cover all sorts of it.
var variants = map[kind]int{hop: len(chainLengths), loop: 3, missing: 2, failing: len(failures), stalled: 2, broken: len(faults), private: 1, asset: len(assetTypes), hostile: len(hostilities)}

// target returns the path and query of a resource.
func (w *Web) target(p resource) string {
	n, sub := strconv.Itoa(int(p.n)), strconv.Itoa(int(p.sub))
	switch p.kind {
	case page:
		return pageTarget(p.n, n, p.sub, sub)
	case hop:
		return "/go/" + n + "/" + sub
	case loop:
		return "/loop/" + n + "/" + sub
	case missing:
		if p.sub > 0 {
			return "/missing/" + n + "/behind/" + sub
		}
		return "/missing/" + n
	case failing:
		return "/failing/" + n
	case stalled:
		return "/stalled/" + n
	case broken:
		return "/broken/" + n
	case private:
		if p.sub > 0 {
			return "/private/open/" + n + ".html"
		}
		return "/private/" + n + ".html"
	case asset:
		return "/asset/" + n + assetTypes[int(p.n)%len(assetTypes)].extension
	case day:
		if p.sub > 0 {
			return "/calendar?day=" + n + "&sid=" + sub
		}
		return "/calendar?day=" + n
	case hostile:
		return "/hostile/" + n
	case maze:
		return "/maze/" + sub + "/" + strings.Repeat(corridor, int(p.n)) + "here.html"
	case robotsTxt:
		if p.sub > 0 {
			return "/moved/robots.txt"
		}
		return "/robots.txt"
	case sitemapFile:
		return w.sitemapTarget(p)
	case listedPage:
		return "/told/" + n + ".html"
	}
	panic("webtest: a resource without a kind has no URL")
}

// pageTarget returns the target of a page, in one of several styles. A copy is in the same folder,
// so that relative links resolve alike.
func pageTarget(number int32, n string, sub int32, copied string) string {
	folder := "/d" + strconv.Itoa(int(number%7))
	t, sep := "/", "?"
	switch {
	case number == 0:
	case number%4 == 1:
		t = folder + "/p" + n + ".html"
	case number%4 == 2:
		t = folder + "/p" + n + "/"
	case number%4 == 3:
		t, sep = "/p?id="+n, "&"
	default:
		t = folder + "/caf%C3%A9/p" + n + ".html"
	}
	if sub > 0 {
		t += sep + "copy=" + copied
	}
	return t
}

// parse is the inverse of target. Other targets give kind none.
func (w *Web) parse(host int, target string) resource {
	p := resource{host: int32(host)}
	first, rest, _ := strings.Cut(strings.TrimPrefix(target, "/"), "/")
	numbers := numbersOf(rest)
	switch {
	case first == "go":
		p.kind, p.n, p.sub = hop, numbers[0], numbers[1]
	case first == "loop":
		p.kind, p.n, p.sub = loop, numbers[0], numbers[1]
	case first == "missing":
		p.kind, p.n, p.sub = missing, numbers[0], numbers[1]
	case first == "failing":
		p.kind, p.n = failing, numbers[0]
	case first == "stalled":
		p.kind, p.n = stalled, numbers[0]
	case first == "broken":
		p.kind, p.n = broken, numbers[0]
	case first == "private":
		p.kind, p.n = private, numbers[0]
		if strings.HasPrefix(rest, "open/") {
			p.sub = 1
		}
	case first == "asset":
		p.kind, p.n = asset, numbers[0]
	case strings.HasPrefix(first, "calendar?"):
		numbers = numbersOf(first)
		p.kind, p.n, p.sub = day, numbers[0], numbers[1]
	case first == "robots.txt":
		p.kind = robotsTxt
	case first == "sitemap.xml":
		p.kind = sitemapFile
	case first == "sitemaps":
		p.kind, p.n = sitemapFile, numbers[0]
	case first == "told":
		p.kind, p.n = listedPage, numbers[0]
	case first == "hostile":
		p.kind, p.n = hostile, numbers[0]
	case first == "maze":
		p.kind, p.n, p.sub = maze, int32(strings.Count(rest, corridor)), numbers[0]
	case first == "moved":
		p.kind, p.sub = robotsTxt, 1
	case strings.HasPrefix(first, "p?"):
		numbers = numbersOf(first)
		p.kind, p.n, p.sub = page, numbers[0], numbers[1]
	case strings.HasPrefix(first, "?"):
		p.kind, p.sub = page, numbersOf(first)[0]
	case strings.HasPrefix(rest, "caf%C3%A9/"):
		numbers = numbersOf(strings.TrimPrefix(rest, "caf%C3%A9/"))
		p.kind, p.n, p.sub = page, numbers[0], numbers[1]
	default:
		p.kind, p.n, p.sub = page, numbers[0], numbers[1]
	}
	if !w.exists(p) || w.target(p) != target {
		return resource{host: int32(host)}
	}
	return p
}

// exists reports whether a resource has this number and variant.
func (w *Web) exists(p resource) bool {
	switch p.kind {
	case page:
		return int(p.n) < w.Pages(int(p.host)) && p.sub <= copies
	case hop:
		return int(p.sub) < chainLengths[int(p.n)%len(chainLengths)]
	case loop:
		return p.sub <= p.n%3
	case missing:
		return p.sub <= 1
	case day:
		return w.trap(int(p.host))
	case sitemapFile:
		return w.hasSitemap(p)
	case listedPage:
		return int(p.n) < w.cfg.Listed
	case maze:
		return p.n <= maxMaze
	}
	return true
}

// numbersOf returns the first two numbers in s; 0 for missing ones.
func numbersOf(s string) (ns [2]int32) {
	for i := range ns {
		s = s[min(len(s), indexDigit(s)):]
		end := 0
		for end < len(s) && s[end] >= '0' && s[end] <= '9' {
			end++
		}
		if n, err := strconv.ParseInt(s[:end], 10, 32); err == nil {
			ns[i] = int32(n)
		}
		s = s[end:]
	}
	return ns
}

// indexDigit returns the index of the first digit, len(s) if there is none.
func indexDigit(s string) int {
	for i := range len(s) {
		if s[i] >= '0' && s[i] <= '9' {
			return i
		}
	}
	return len(s)
}

// locate returns the resource with a Host field and target.
func (w *Web) locate(host, target string) (resource, bool) {
	name, _, _ := strings.Cut(host, ":")
	i, ok := w.Index(name)
	if !ok || w.away(i) {
		return resource{}, false
	}
	return w.parse(i, target), true
}

// robotsText returns the robots.txt of host i.
func (w *Web) robotsText(i int) []byte {
	agents := "User-agent: *\n"
	if w.robots(i) == robotsNamed {
		agents = "User-agent: *\nDisallow: /\n\nUser-Agent: " + strings.ToUpper(Agent) + "\nuser-agent: another\n"
	}
	delay := ""
	if d := w.CrawlDelay(i); d > 0 {
		delay = fmt.Sprintf("Crawl-delay: %g\n", d.Seconds())
	}
	return []byte("# of a synthetic web\nUser-agent: webtest-enemy\nDisallow: /\n\n" + agents + delay +
		"Disallow: /private/ # but\nAllow: /private/open/\nDisallow: /*.pdf$\n" + w.sitemapLine(i))
}
