package record

// Error kinds of a Record that the crawler gives itself; the others are those of package
// httpclient.
const (
	KindRedirects  = "redirects"          // one redirect more than MaxRedirects
	KindLocation   = "location"           // a redirect without a usable target
	KindRefused    = "refused"            // refused by Hooks.OnRequest
	KindExcluded   = "excluded"           // matches an exclusion added while the URL waited
	KindRobots     = "robots"             // disallowed by robots.txt
	KindNothingNew = "nothing-new"        // MaxAlike pages like it in a row said nothing new
	KindOverloaded = "overloaded"         // every response was 429 or 503 for as long as GiveUp, or the Crawl-delay is long
	KindNoRobots   = "robots-unreachable" // robots.txt answered with a server error, so nothing is allowed
)
