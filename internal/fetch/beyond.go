package fetch

import (
	"cmp"
	"strings"

	"github.com/weftcrawl/weft/httpclient"
	"github.com/weftcrawl/weft/internal/frontier"
	"github.com/weftcrawl/weft/internal/scope"
	"github.com/weftcrawl/weft/links"
	"github.com/weftcrawl/weft/record"
)

// assets is the kinds of links to what a page needs to be shown, or a style sheet.
var assets = links.KindsOf(links.KindImage, links.KindStyle, links.KindScript, links.KindFont, links.KindMedia,
	links.KindEmbed, links.KindManifest, links.KindPreload, links.KindLazy)

// checked is the kinds of links that are only checked, even within the bounds: a crawl has nothing
// to look for where a form or a ping is sent, and neither sources nor previews belong to the page.
var checked = links.KindsOf(links.KindForm, links.KindPing, links.KindCite, links.KindPreview)

// wanted returns the kinds of links that lead to a request, if their URLs may be requested.
func (c *Config) wanted() links.Kinds {
	wanted := followed
	if c.Scope.Assets != scope.AssetsNone || c.Check.Beyond {
		wanted |= assets
	}
	if c.Check.All {
		wanted |= checked
	}
	return wanted
}

// maxImports is the longest chain of assets that lead from one to the next: style sheets that
// import style sheets. An asset's rank is the number of those before it, negative.
const maxImports = 8

// roles are those of frontier as records have them.
var roles = [...]record.Role{
	frontier.RolePage: "", frontier.RoleNeeded: "",
	frontier.RoleAsset: record.RoleAsset, frontier.RoleExternal: record.RoleExternal,
}

// RoleOf returns the role of a URL as records have it.
func RoleOf(u *frontier.URL) record.Role {
	if u.Role == frontier.RoleExternal && u.Rank == probeRank {
		return record.RoleProbe
	}
	return roles[u.Role]
}

// within returns the role of a URL within the bounds that a link leads to; ok is false if it is not
// requested.
func (c *Config) within(kind links.Kind) (role frontier.Role, ok bool) {
	switch {
	case c.Scope.Assets != scope.AssetsNone && assets.Has(kind):
		return frontier.RoleNeeded, true
	case c.Check.All && checked.Has(kind):
		return frontier.RoleExternal, true
	}
	return frontier.RolePage, followed.Has(kind)
}

// checkedBody is the part of a body that is received when a link is checked: enough for most pages,
// and little of a film.
const checkedBody = 64 << 10

// check makes the request for a URL one that checks a link to it: HEAD at first, then GET; or GET
// alone, if the body is wanted.
func (c *Config) check(req *httpclient.Request, u *frontier.URL) {
	if u.Role != frontier.RoleExternal {
		return
	}
	req.MaxBody, req.Cut = cmp.Or(c.Check.Body, checkedBody), true
	if u.Tries == 0 && c.Check.Body == 0 {
		req.Method = methodHead
	}
}

const methodHead = "HEAD"

// retries returns the number of times that a URL may be tried again: a HEAD takes no try from what
// follows, nor does a response after which the URL was asked again.
func (c *Config) retries(u *frontier.URL) int {
	n := Responses(u.Past)
	if n == 0 && u.Role == frontier.RoleExternal {
		n = 1
	}
	return c.Retries + n
}

// dislikesHead reports whether an error of a HEAD, or its response, may be about the method.
func dislikesHead(req *httpclient.Request, status int, e *httpclient.Error) bool {
	if req.Method != methodHead {
		return false
	}
	if e == nil {
		return status >= 400
	}
	switch e.Kind {
	case httpclient.KindFirstByteTimeout, httpclient.KindIdleTimeout, httpclient.KindTimeout, httpclient.KindTooSlow,
		httpclient.KindReset, httpclient.KindEarlyEnd, httpclient.KindProtocol, httpclient.KindTooLarge:
		return true
	}
	return false
}

// isStyle reports whether a Content-Type is that of a style sheet.
func isStyle(contentType string) bool {
	return strings.EqualFold(record.MediaType(contentType), "text/css")
}
