package weft

import (
	"net/url"

	"github.com/weftcrawl/weft/httpclient"
	"github.com/weftcrawl/weft/seed"
	"github.com/weftcrawl/weft/weburl"
)

// ParseSeed reads a URL that a crawl may start from, in canonical form. Its error names the URL and
// what was expected.
func ParseSeed(s string) (weburl.URL, error) { return seed.Parse(s) }

// ParseSeedCredential is ParseSeed for a URL that may have user and password. They are the
// credential for its origin, and not part of the canonical form; nil: there are none.
func ParseSeedCredential(s string) (weburl.URL, *httpclient.Credential, error) {
	return seed.ParseCredential(s)
}

// Seed is a URL that a crawl starts from.
type Seed = seed.Seed

// ReadSeed reads a URL as Options.Seeds and SeedSeq have them. It may lack its scheme: then https
// is tried first, and http if the host does not answer by that; an address and a name of this
// machine are by http.
func ReadSeed(s string) (Seed, error) { return seed.Read(s) }

// GuessPatience is the longest time that https takes to connect where a URL lacks its scheme,
// before http is tried.
const GuessPatience = seed.Patience

// ReadListedSeed is ReadSeed for a line of a list, which has no credentials.
func ReadListedSeed(s string) (Seed, error) { return seed.ReadListed(s) }

// Post is a POST request that a crawl starts from, PostForm and PostMultipart those of forms, Part
// a field or file of such a form.
type (
	Post = seed.Post
	Part = seed.Part
)

// MaxPost bounds the body of a Post, in bytes.
const MaxPost = seed.MaxPost

// PostForm returns the request that a browser sends for a form with fields.
func PostForm(to string, fields url.Values) Post { return seed.PostForm(to, fields) }

// PostMultipart returns the request that a browser sends for a form with files.
func PostMultipart(to string, parts ...Part) Post { return seed.PostMultipart(to, parts...) }

// ReadKnownSeed is ReadListedSeed for a URL that a job may know: that of a POST stays one.
func ReadKnownSeed(s string) (Seed, error) { return seed.ReadKnown(s) }

// WithoutSecrets returns the text of a URL, valid or not, without what may be its user and
// password.
func WithoutSecrets(s string) string { return seed.WithoutSecrets(s) }
