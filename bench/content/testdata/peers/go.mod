module peers

go 1.26.0

require (
	codeberg.org/readeck/go-readability/v2 v2.1.3
	github.com/go-shiori/go-readability v0.0.0-20241012063810-92284fa8a71f
	github.com/markusmobius/go-trafilatura v1.12.2
)
