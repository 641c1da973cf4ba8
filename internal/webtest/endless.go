package webtest

import (
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"strconv"
	"strings"
	"time"
)

// EndlessSite is a site that grows without new content, by its paths. It returns the page at a
// path; a page depends only on its path. Like TrapSite it is not part of a Web. The home page
// leads to ten pages /about/N and to
//
//   - /cal/YYYY/MM/, a month, which leads to its days and to the months before and after it;
//   - /s/TOKEN/topic/N, one of ten topics, each of which links to all, with new tokens.
func EndlessSite(path string) string {
	var b strings.Builder
	parts := strings.Split(strings.Trim(path, "/"), "/")
	switch number := numberAt(parts, 1); {
	case path == "/":
		b.WriteString(`<title>A site</title><a href="/cal/2026/11/">events</a> <a href="/s/start00/topic/0">forum</a>`)
		for i := range 10 {
			fmt.Fprintf(&b, ` <a href="/about/%d">more</a>`, i)
		}
	case parts[0] == "cal" && len(parts) == 3:
		first := time.Date(number, time.Month(numberAt(parts, 2)), 1, 0, 0, 0, 0, time.UTC)
		fmt.Fprintf(&b, "<title>Events in %s</title><h1>%[1]s</h1><p>Mo Tu We Th Fr Sa Su</p>\n", first.Format("January 2006"))
		for day := first; day.Month() == first.Month(); day = day.AddDate(0, 0, 1) {
			fmt.Fprintf(&b, `<a href="%s">%d</a> `, day.Format("/cal/2006/01/02"), day.Day())
		}
		for _, month := range []time.Time{first.AddDate(0, -1, 0), first.AddDate(0, 1, 0)} {
			fmt.Fprintf(&b, `<a href="%s">%s</a> `, month.Format("/cal/2006/01/"), month.Format("Jan 2006"))
		}
	case parts[0] == "cal" && len(parts) == 4:
		day := time.Date(number, time.Month(numberAt(parts, 2)), numberAt(parts, 3), 0, 0, 0, 0, time.UTC)
		fmt.Fprintf(&b, "<title>%s</title><p>There are no events on %[1]s. See the month for others.", day.Format("Monday, 2 January 2006"))
		fmt.Fprintf(&b, ` <a href="%s">%s</a>`, day.Format("/cal/2006/01/"), day.Format("January 2006"))
	case parts[0] == "s" && len(parts) == 4:
		topic := numberAt(parts, 3)
		fmt.Fprintf(&b, "<title>Topic %d</title><p>%s</p>\n", topic, prose(uint64(topic), 100))
		for i := range 10 {
			sum := fnv.New64a()
			fmt.Fprintf(sum, "%s %d", path, i)
			fmt.Fprintf(&b, `<a href="/s/%s/topic/%d">Topic %[2]d</a> `, strconv.FormatUint(sum.Sum64(), 36), i)
		}
	default:
		b.WriteString(prose(uint64(number), 50))
	}
	return b.String()
}

// BigSite is a site with n pages of each of several sorts, whose pages differ by little, or lead
// from one to the next for long: what must not be taken for a trap. It returns the page at a path;
// the home page leads to all.
//
//   - /YYYY/MM/DD/title, the articles of a newspaper, by a chain of archive pages /YYYY/MM/DD/;
//   - /p/N, products, a few words each; /photo/N, photographs without any;
//   - /data/YYYY/MM/DD, figures alone; /t/N/page/M, a forum; /docs/name;
//   - /member/N, which all say that one must log in.
//
// All but the last lead to the next page of their sort.
func BigSite(n int, path string) string {
	parts := strings.Split(strings.Trim(path, "/"), "/")
	number := numberAt(parts, 1)
	rnd := rand.New(rand.NewPCG(uint64(number), 7))
	var b strings.Builder
	next := func(format string, args ...any) {
		if number+1 < n {
			fmt.Fprintf(&b, `<p><a href="`+format+`">next</a>`, args...)
		}
	}
	date := func(i int) string { return time.Date(2020, 1, 1+i, 0, 0, 0, 0, time.UTC).Format("2006/01/02") }
	at := func(i int) int { // of the day whose date begins at a part
		day, _ := time.Parse("2006/01/02", strings.Join(parts[i:min(len(parts), i+3)], "/"))
		return int(day.Sub(time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC)).Hours() / 24)
	}
	switch parts[0] {
	case "":
		fmt.Fprintf(&b, `<a href="/%s/">news</a> <a href="/p/0">shop</a> <a href="/photo/0">photos</a>`, date(0))
		fmt.Fprintf(&b, ` <a href="/data/%s">weather</a> <a href="/t/0/page/0">forum</a> <a href="/docs/a0">docs</a>`, date(0))
	case "p":
		fmt.Fprintf(&b, "<title>Shop</title><h1>%s</h1><p>%d.%02d € Add to cart", prose(rnd.Uint64(), 3), number%90, number%100)
		next("/p/%d", number+1)
	case "photo":
		fmt.Fprintf(&b, `<title>Photo %d</title><img src="/img/%[1]d.jpg">`, number)
		next("/photo/%d", number+1)
	case "data":
		number = at(1)
		rnd = rand.New(rand.NewPCG(uint64(number), 7))
		fmt.Fprintf(&b, "<h1>%s</h1><table><tr><td>%d.%d<td>%d.%d<td>%d<td>%d</table>", date(number),
			rnd.IntN(30), rnd.IntN(10), rnd.IntN(30), rnd.IntN(10), 900+rnd.IntN(150), rnd.IntN(360))
		next("/data/%s", date(number+1))
	case "t":
		fmt.Fprintf(&b, "<title>Topic %d</title><p>%s</p>", number, prose(rnd.Uint64(), 60))
		fmt.Fprintf(&b, `<a href="/member/%d">its author</a> <a href="/t/%d/page/%d">older</a>`, number, number, min(2, numberAt(parts, 3)+1))
		next("/t/%d/page/0", number+1)
	case "member":
		b.WriteString("<title>Members only</title><p>You have to log in to see the profile of this member.")
	case "docs":
		number = numberAt([]string{strings.TrimPrefix(parts[1], "a")}, 0)
		fmt.Fprintf(&b, "<h1>%s</h1><p>%s", parts[1], prose(uint64(number), 80))
		next("/docs/a%d", number+1)
	default: // a day of the newspaper, or an article
		number = at(0)
		rnd = rand.New(rand.NewPCG(uint64(number), 8))
		title := prose(rnd.Uint64(), 4)
		if len(parts) == 3 {
			fmt.Fprintf(&b, `<h1>The news of %s</h1><a href="%s">%s</a>`, date(number), strings.ReplaceAll(title, " ", "-"), title)
			next("/%s/", date(number+1))
		} else {
			fmt.Fprintf(&b, "<h1>%s</h1><p>%s", title, prose(rnd.Uint64(), 90))
		}
	}
	return b.String()
}

// numberAt returns the number that a part of a path is; 0 if it is none.
func numberAt(parts []string, i int) int {
	if i >= len(parts) {
		return 0
	}
	n, _ := strconv.Atoi(parts[i])
	return n
}

// prose returns words drawn from a seed.
func prose(seed uint64, words int) string {
	rnd := rand.New(rand.NewPCG(seed, 0))
	var b strings.Builder
	for range words {
		if b.Len() > 0 {
			b.WriteByte(' ')
		}
		for range 1 + rnd.IntN(3) {
			b.WriteByte("bdfgklmnprstv"[rnd.IntN(13)])
			b.WriteByte("aeiou"[rnd.IntN(5)])
		}
	}
	return b.String()
}
