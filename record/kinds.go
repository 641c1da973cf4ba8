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
	KindOverloaded = "overloaded"         // only 429 and 503 for as long as GiveUp; or a long delay
	KindNoRobots   = "robots-unreachable" // robots.txt was a server error, so nothing is allowed
)
