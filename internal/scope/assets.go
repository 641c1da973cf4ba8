package scope

import "github.com/weftcrawl/weft/option"

// Assets says which assets of pages a crawl fetches.
type Assets = option.Assets

// The choices of assets.
const (
	AssetsNone  = option.AssetsNone
	AssetsScope = option.AssetsScope
	AssetsAny   = option.AssetsAny
)
