package scope

import "github.com/weftcrawl/weft/option"

// Assets selects the assets of pages that a crawl fetches.
type Assets = option.Assets

// The choices of assets.
const (
	AssetsNone  = option.AssetsNone
	AssetsScope = option.AssetsScope
	AssetsAny   = option.AssetsAny
)
