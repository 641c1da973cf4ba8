package scope

import "github.com/weftcrawl/weft/option"

// Assets says which assets of pages a crawl fetches.
type Assets = option.Assets

// Which ones.
const (
	AssetsNone  = option.AssetsNone
	AssetsScope = option.AssetsScope
	AssetsAny   = option.AssetsAny
)
