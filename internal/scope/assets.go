package scope

import "fmt"

// Assets says which assets of pages a crawl fetches: what a browser loads to show a page, such as
// images, scripts and fonts.
type Assets string

// Which ones.
const (
	AssetsNone  Assets = ""      // none, but for style sheets in scope
	AssetsScope Assets = "scope" // those in scope, or on its hosts; Rules.Depth and Include do not apply to them
	AssetsAny   Assets = "any"   // all, wherever they are
)

// ParseAssets reads the name of these; the empty name is AssetsNone.
func ParseAssets(name string) (Assets, error) {
	switch a := Assets(name); a {
	case AssetsNone, AssetsScope, AssetsAny:
		return a, nil
	}
	return "", fmt.Errorf("assets %.64q, expected scope or any", name)
}
