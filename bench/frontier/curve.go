//go:build linux

package main

import (
	"bytes"
	"fmt"
	"math"
)

// Sizes of the drawing and its margins, in pixels.
const (
	width, height = 640, 360
	left, bottom  = 60, 40
	margin        = 20
)

// drawing returns an SVG of the cost of a new URL and of a check by the number of URLs, on
// logarithmic scales.
func drawing(rows []result) []byte {
	lines := []struct {
		name, color string
		cost        func(result) float64 // in µs
	}{
		{"a new URL", "#1f5fa8", func(r result) float64 { return r.CPU / float64(r.Since) * 1e6 }},
		{"a check", "#b5480e", func(r result) float64 { return r.Check / float64(r.Checks) * 1e6 }},
	}
	const decades = 3 // of costs: from 0.1 to 100 µs
	first, last := math.Log10(float64(rows[0].URLs)), math.Log10(float64(rows[len(rows)-1].URLs))
	x := func(urls int) float64 {
		return left + (math.Log10(float64(urls))-first)/math.Max(last-first, 1e-9)*(width-left-2*margin)
	}
	y := func(us float64) float64 {
		at := min(max(math.Log10(us)+1, 0), decades)
		return height - bottom - at/decades*(height-bottom-margin)
	}
	var b bytes.Buffer
	fmt.Fprintf(&b, "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" font-family=\"sans-serif\" font-size=\"12\">\n<rect width=\"100%%\" height=\"100%%\" fill=\"white\"/>\n", width, height)
	for _, us := range []float64{0.1, 1, 10, 100} {
		fmt.Fprintf(&b, "<path d=\"M%d %.1fH%d\" stroke=\"#ddd\"/><text x=\"%d\" y=\"%.1f\" text-anchor=\"end\">%g µs</text>\n", left, y(us), width-margin, left-6, y(us)+4, us)
	}
	for _, r := range rows {
		fmt.Fprintf(&b, "<text x=\"%.1f\" y=\"%d\" text-anchor=\"middle\">%.3g M</text>\n", x(r.URLs), height-bottom+18, float64(r.URLs)/1e6)
	}
	for _, l := range lines {
		path := "M"
		for _, r := range rows {
			path += fmt.Sprintf("%.1f %.1f ", x(r.URLs), y(l.cost(r)))
			fmt.Fprintf(&b, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"3\" fill=\"%s\"/>\n", x(r.URLs), y(l.cost(r)), l.color)
		}
		fmt.Fprintf(&b, "<path d=\"%s\" fill=\"none\" stroke=\"%s\" stroke-width=\"2\"/><text x=\"%.1f\" y=\"%.1f\" fill=\"%s\">%s</text>\n",
			path, l.color, float64(left+6), y(l.cost(rows[0]))-8, l.color, l.name)
	}
	fmt.Fprintf(&b, "<text x=\"%d\" y=\"%d\" text-anchor=\"middle\">URLs of the crawl; CPU time per new URL or check</text>\n</svg>\n", width/2, height-6)
	return b.Bytes()
}
