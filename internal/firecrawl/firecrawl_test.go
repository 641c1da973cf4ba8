package firecrawl

import (
	"encoding/json"
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/weftcrawl/weft/extract"
	"github.com/weftcrawl/weft/internal/scrape"
	"github.com/weftcrawl/weft/record"
)

// refusals are parts of requests that are refused, and what the refusal begins with.
var refusals = []struct{ of, body, want string }{
	{"scrape", `{"url":"a.test","formats":["summary"]}`, "formats: summary is not supported"},
	{"scrape", `{"url":"a.test","formats":["images"]}`, "formats: images is not supported"},
	{"scrape", `{"url":"a.test","formats":["poem"]}`, "formats: poem is not supported"},
	{"scrape", `{"url":"a.test","formats":[{"type":"changeTracking","modes":["json"]}]}`, "formats: changeTracking is not supported"},
	{"scrape", `{"url":"a.test","formats":[{"type":"screenshot","quality":80}]}`, "formats: screenshot with a quality or viewport is not supported"},
	{"scrape", `{"url":"a.test","formats":[{"type":"json","prompt":"all"}]}`, "formats: json with a prompt is not supported"},
	{"scrape", `{"url":"a.test","formats":[{"type":"json","schema":{"properties":{"a":{"type":"string"}}}}]}`, "formats: json: schema: a without a selector is not supported"},
	{"scrape", `{"url":"a.test","formats":[{"type":"json","schema":{"properties":{"a":{"type":"boolean","selector":"b"}}}}]}`, "formats: json: schema: a of type boolean is not supported"},
	{"scrape", `{"url":"a.test","includeTags":["main"]}`, "includeTags is not supported"},
	{"scrape", `{"url":"a.test","excludeTags":["nav"]}`, "excludeTags is not supported"},
	{"scrape", `{"url":"a.test","mobile":true}`, "mobile is not supported"},
	{"scrape", `{"url":"a.test","actions":[{"type":"wait"}]}`, "actions is not supported"},
	{"scrape", `{"url":"a.test","location":{"country":"DE"}}`, "location is not supported"},
	{"scrape", `{"url":"a.test","proxy":"stealth"}`, "proxy is not supported"},
	{"scrape", `{"url":"a.test","parsers":["pdf"]}`, "parsers is not supported"},
	{"scrape", `{"url":"a.test","skipTlsVerification":true}`, "skipTlsVerification is not supported"},
	{"scrape", `{"url":"a.test","removeBase64Images":false}`, "removeBase64Images is not supported"},
	{"scrape", `{"url":"a.test","storeInCache":false}`, "storeInCache is not supported"},
	{"scrape", `{"url":"a.test","minAge":1}`, "minAge is not supported"},
	{"scrape", `{"url":"a.test","lockdown":true}`, "lockdown is not supported"},
	{"scrape", `{"url":"a.test","redactPII":{}}`, "redactPII is not supported"},
	{"scrape", `{"url":"a.test","limit":3}`, "limit is not supported"},
	{"map", `{"url":"a.test","ignoreQueryParameters":true}`, "ignoreQueryParameters is not supported"},
	{"map", `{"url":"a.test","location":{}}`, "location is not supported"},
	{"crawl", `{"url":"a.test","webhook":{"url":"https://b.test/","secret":"x"}}`, "webhook.secret is not supported"},
	{"crawl", `{"url":"a.test","webhook":{"url":"https://b.test/","events":["monitor.check"]}}`, "webhook.events: monitor.check is not supported"},
	{"crawl", `{"url":"a.test","prompt":"all"}`, "prompt is not supported"},
	{"crawl", `{"url":"a.test","zeroDataRetention":true}`, "zeroDataRetention is not supported"},
	{"crawl", `{"url":"a.test","ignoreRobotsTxt":true}`, "ignoreRobotsTxt is not supported"},
	{"crawl", `{"url":"a.test","robotsUserAgent":"x"}`, "robotsUserAgent is not supported"},
	{"crawl", `{"url":"a.test","sitemap":"only"}`, "sitemap: only is not supported"},
	{"crawl", `{"url":"a.test","maxDiscoveryDepth":0}`, "maxDiscoveryDepth: 0 is not supported"},
	{"crawl", `{"url":"a.test/b/","allowSubdomains":true}`, "allowSubdomains is not supported"},
	{"crawl", `{"url":"a.test","scrapeOptions":{"headers":{"a":"b"}}}`, "scrapeOptions.headers is not supported"},
	{"crawl", `{"url":"a.test","scrapeOptions":{"formats":["screenshot"]}}`, "scrapeOptions.formats: screenshot is not supported"},
	{"crawl", `{"url":"a.test","scrapeOptions":{"poem":1}}`, "scrapeOptions.poem is not supported"},
	{"batch", `{"urls":["a.test"],"appendToId":"x"}`, "appendToId is not supported"},
	{"batch", `{"urls":["a.test"],"headers":{"a":"b"}}`, "headers is not supported"},
}

// mistakes are bodies that are wrong in themselves.
var mistakes = []struct{ of, body, want string }{
	{"scrape", ``, "the body: unexpected end of JSON input, at byte 0"},
	{"scrape", `null`, "the body: expected an object"},
	{"scrape", `[]`, "the body: an array, expected an object"},
	{"scrape", `{}`, "url: expected a URL"},
	{"scrape", `{"url":7}`, "url: a number, expected a text"},
	{"scrape", `{"url":"a.test"} {}`, "the body: invalid character"},
	{"scrape", `{"url":"a.test","formats":"markdown"}`, "formats: a string, expected a list of formats"},
	{"scrape", `{"url":"a.test","formats":[7]}`, "formats: a number, expected names"},
	{"scrape", `{"url":"a.test","formats":[{"type":"json"}]}`, "formats: json: schema: unexpected end"},
	{"scrape", `{"url":"a.test","formats":[{"type":"json","schema":{"properties":{"a":{"selector":"h1:fist"}}}}]}`, "formats: json: schema: a: column 3"},
	{"scrape", `{"url":"a.test","timeout":-1}`, "timeout: -1, expected a whole number"},
	{"scrape", `{"url":"a.test","timeout":1e300}`, "timeout: 1e+300, expected a whole number"},
	{"scrape", `{"url":"a.test","timeout":1.5}`, "timeout: 1.5, expected a whole number"},
	{"scrape", `{"url":"a.test","onlyMainContent":"yes"}`, "onlyMainContent: a string, expected true or false"},
	{"scrape", `{"url":"a.test","headers":["a"]}`, "headers: an array, expected an object of texts"},
	{"crawl", `{"url":"a.test","limit":0}`, "limit: 0, expected a whole number from 1"},
	{"crawl", `{"url":"a.test","limit":"7"}`, "limit: a string, expected a whole number"},
	{"crawl", `{"url":"ftp://a.test"}`, "url: "},
	{"crawl", `{"url":"a.test","sitemap":"all"}`, "sitemap: all, expected include, skip or only"},
	{"crawl", `{"url":"a.test","includePaths":["("]}`, "includePaths: (: "},
	{"crawl", `{"url":"a.test","excludePaths":["a(?=b)"]}`, "excludePaths: a(?=b): "},
	{"crawl", `{"url":"a.test","excludePaths":["(^/a|b)"]}`, "excludePaths: (^/a|b): a ^ within is not supported"},
	{"crawl", `{"url":"a.test","webhook":"file:///x"}`, "webhook: "},
	{"crawl", `{"url":"a.test","webhook":"http://b.test:25/"}`, "webhook: url: port 25"},
	{"crawl", `{"url":"a.test","webhook":{}}`, "webhook: "},
	{"crawl", `{"url":"a.test","webhook":7}`, "webhook: a number, expected a URL"},
	{"crawl", `{"url":"a.test","webhook":{"url":"https://b.test/","headers":{"a":"b\r\nc"}}}`, "webhook: headers: "},
	{"crawl", `{"url":"a.test","webhook":{"url":"https://b.test/","headers":{"Host":"x"}}}`, "webhook: headers: "},
	{"crawl", `{"url":"a.test","webhook":{"url":"https://b.test/","metadata":{"a":7}}}`, "webhook: a number, expected a URL, or an object"},
	{"crawl", `{"url":"a.test","webhook":{"url":"https://b.test/","metadata":{"a":"` + strings.Repeat("x", 40_000) + `"}}}`, "webhook: "},
	{"crawl", `{"url":"a.test","scrapeOptions":[]}`, "scrapeOptions: an array, expected an object"},
	{"crawl", `{"url":"a.test","delay":-1}`, "delay: -1, expected a number of seconds"},
	{"batch", `{"urls":[]}`, "urls: expected a URL"},
	{"batch", `{"urls":["http://"]}`, "urls: expected a URL"},
	{"batch", `{"urls":["a.test","http://"],"ignoreInvalidURLs":false}`, "urls: http://: expected a URL"},
	{"batch", `{"urls":"a.test"}`, "urls: a string, expected a list of texts"},
	{"scrape", strings.Repeat(`{"a":`, 100_000), "the body: invalid character '{' exceeded max depth"},
	{"scrape", `{"formats":` + strings.Repeat("[", 9000) + strings.Repeat("]", 9000) + `}`, "formats: an array, expected names"},
	{"scrape", `{"` + strings.Repeat("x", 100_000) + `":1}`, "xxxx"},
	{"scrape", `{"a\nb\u001b[31m":1}`, `a\nb\x1b[31m is not supported`},
}

// readAs reads a body as an endpoint does.
func readAs(endpoint, body string) (*ask, error) {
	a, err := read([]byte(body), map[string]fields{"scrape": scrapeFields, "map": mapFields, "crawl": crawlFields, "batch": batchFields}[endpoint])
	if err != nil {
		return nil, err
	}
	switch endpoint {
	case "scrape":
		_, err = a.single()
	case "map":
		_, err = a.site()
	case "crawl":
		if err = a.crawl(0); err == nil {
			_, err = a.hookOf(endpoint)
		}
	case "batch":
		_, err = a.batch()
	}
	return a, err
}

// TestRefused: what is not supported is refused by its name, and what is wrong in a line.
func TestRefused(t *testing.T) {
	for _, c := range slices.Concat(refusals, mistakes) {
		_, err := readAs(c.of, c.body)
		m, is := err.(*mistake)
		if !is || m.status != 400 || !strings.HasPrefix(m.text, c.want) || len(m.text) > 300 || strings.ContainsAny(m.text, "\n\x1b") {
			t.Errorf("%s %.200s: %T %.400v, expected %q", c.of, c.body, err, err, c.want)
		}
	}
}

// TestNothing: fields that ask for what is so anyway are taken.
func TestNothing(t *testing.T) {
	for endpoint, body := range map[string]string{
		"scrape": `{"url":"a.test","origin":"js","integration":"x","mobile":false,"blockAds":true,"proxy":"auto","removeBase64Images":true,"skipTlsVerification":false,
			"fastMode":false,"storeInCache":true,"actions":[],"includeTags":[],"location":null,"webhook":null,"zeroDataRetention":false,"waitFor":0}`,
		"map":   `{"url":"a.test","ignoreQueryParameters":false,"sitemap":"include"}`,
		"crawl": `{"url":"a.test","prompt":null,"ignoreRobotsTxt":false,"scrapeOptions":{"maxAge":172800000},"zeroDataRetention":false}`,
		"batch": `{"urls":["a.test"],"ignoreInvalidURLs":true,"onlyMainContent":true}`,
	} {
		if _, err := readAs(endpoint, body); err != nil {
			t.Errorf("%s: %v", endpoint, err)
		}
	}
}

// TestOptions: a crawl has the options of weft crawl that it asks for.
func TestOptions(t *testing.T) {
	for body, want := range map[string]map[string]any{
		`{"url":"a.test/b/"}`: {"scope": "prefix", "sitemaps": true, "limit": "10000", "bodies": true},
		`{"url":"a.test","crawlEntireDomain":true,"sitemap":"skip","limit":7}`:                                      {"scope": "host", "limit": "7", "bodies": true},
		`{"url":"a.test","allowSubdomains":true,"sitemap":"skip","limit":7,"delay":0.5}`:                            {"scope": "domain", "limit": "7", "bodies": true, "delay": "500ms"},
		`{"url":"a.test","allowExternalLinks":true,"sitemap":"skip","limit":7,"maxConcurrency":3}`:                  {"scope": "any", "limit": "7", "bodies": true, "concurrency": "3"},
		`{"url":"a.test","maxDiscoveryDepth":0,"sitemap":"skip","limit":7}`:                                         {"scope": "page", "limit": "7", "bodies": true},
		`{"url":"a.test","maxDiscoveryDepth":2,"sitemap":"skip","limit":7,"ignoreQueryParameters":true}`:            {"scope": "prefix", "limit": "7", "bodies": true, "depth": "2", "max-variants": "1"},
		`{"url":"a.test","sitemap":"skip","limit":7,"deduplicateSimilarURLs":true}`:                                 {"scope": "prefix", "limit": "7", "bodies": true, "canon": "drop-session,drop-tracking,drop-empty-query"},
		`{"url":"a.test","sitemap":"skip","limit":7,"scrapeOptions":{"waitFor":1500,"timeout":2000}}`:               {"scope": "prefix", "limit": "7", "bodies": true, "render": "always", "wait": "1.5s", "timeout": "2s"},
		`{"url":"a.test","sitemap":"skip","limit":7,"regexOnFullURL":true,"includePaths":["x$"],"excludePaths":[]}`: {"scope": "prefix", "limit": "7", "bodies": true, "include": []any{"x$"}},
	} {
		if a, err := readAs("crawl", body); err != nil || !reflect.DeepEqual(a.options, want) {
			t.Errorf("%s: %v %v, expected %v", body, a, err, want)
		}
	}
	a, err := read([]byte(`{"url":"a.test"}`), crawlFields)
	if err == nil {
		err = a.crawl(50)
	}
	if err != nil || a.options["limit"] != "50" {
		t.Errorf("%v %v, expected the token's limit", a.options, err)
	}
}

// TestOnPath: an expression for paths matches URLs by their path alone.
func TestOnPath(t *testing.T) {
	for _, c := range []struct{ re, url, want string }{
		{"blog", "https://blog.test/a", "no"}, {"blog", "https://a.test/my/blog/1", "yes"}, {"blog", "https://a.test/?blog", "no"},
		{"^/blog", "https://a.test/blog/1", "yes"}, {"^/blog", "https://a.test/x/blog/1", "no"}, {"^/blog$", "https://a.test/blog?x=1", "yes"},
		{"/blog$", "https://a.test/blog/1", "no"}, {"^/a|^/b", "https://a.test/b", "yes"}, {"^/a|/b$", "https://a.test/x/b?c", "yes"},
		{"^/a|c", "https://a.test/x/c", "yes"}, {"(^/a)", "https://a.test/a", "yes"}, {"(^/a)", "https://a.test/b/a", "no"},
		{"(?i)^/BLOG", "https://a.test/blog", "yes"}, {"blog/.*", "https://a.test:8080/blog/x", "yes"}, {"", "https://a.test/", "yes"},
	} {
		text, err := onPath(c.re)
		if err != nil {
			t.Errorf("%s: %v", c.re, err)
			continue
		}
		re, err := regexp.Compile(text)
		if err != nil || re.MatchString(c.url) != (c.want == "yes") {
			t.Errorf("%s as %s, of %s: expected %s; %v", c.re, text, c.url, c.want, err)
		}
	}
}

// TestSchema: a schema with selectors becomes a rule.
func TestSchema(t *testing.T) {
	a, err := readAs("scrape", `{"url":"a.test","formats":["markdown",{"type":"json","schema":{"type":"object","required":["name"],"properties":{
		"name":{"type":["string","null"],"selector":"h1"},"price":{"type":"number","selector":".p","match":"(\\d+)"},"at":{"type":"string","format":"date-time","selector":"time"},
		"tags":{"type":"array","selector":".tag","items":{"type":"string"}},
		"offers":{"type":"array","selector":".offer","items":{"type":"object","properties":{"to":{"type":"string","format":"uri","selector":"a"}}}}}}}]}`)
	if err != nil {
		t.Fatal(err)
	}
	want := []extract.Field{
		{Name: "at", Select: "time", Type: extract.Date}, {Name: "name", Select: "h1", Required: true},
		{Name: "offers", Select: ".offer", List: true, Fields: []extract.Field{{Name: "to", Select: "a", Type: extract.URL}}},
		{Name: "price", Select: ".p", Type: extract.Number, Match: `(\d+)`}, {Name: "tags", Select: ".tag", List: true},
	}
	if !reflect.DeepEqual(a.Page.Rules[0].Fields, want) || !reflect.DeepEqual(a.Page.Formats, []scrape.Format{scrape.Markdown, scrape.Items}) {
		t.Errorf("%+v, expected %+v", a.Page, want)
	}
	text, err := json.Marshal(a.Page)
	var again page
	if err == nil {
		err = json.Unmarshal(text, &again)
	}
	if err != nil || fmt.Sprint(again) != fmt.Sprint(a.Page) {
		t.Errorf("%+v %v", again, err)
	}
}

// TestSize: what a document has of fields counts towards the length of an answer.
func TestSize(t *testing.T) {
	r := &scrape.Result{Items: []record.Item{{Fields: record.Fields{{Name: "a", Value: strings.Repeat("x", 100_000)}}}}}
	if d := documentOf(r, "https://a.test/", nil); d.size() < 100_000 {
		t.Errorf("%d bytes", d.size())
	}
}
