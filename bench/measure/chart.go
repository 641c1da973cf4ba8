package measure

import (
	"bytes"
	"fmt"
	"text/template"
)

// Bar is one bar of a chart.
type Bar struct {
	Name  string
	Value float64
	Label string // the value with its unit
}

// The layout of a chart, in pixels.
const (
	chartWidth = 760
	chartTop   = 84 // above the first bar
	chartLeft  = 150
	chartRight = 96 // holds the label of the longest bar
	barPitch   = 34
	barHeight  = 20
)

// Chart draws horizontal bars as SVG, on a card whose colours follow the reader's theme.
func Chart(title, subtitle string, bars []Bar) ([]byte, error) {
	longest := 0.0
	for _, b := range bars {
		longest = max(longest, b.Value)
	}
	type row struct {
		Bar
		Y, Text int     // top of the bar, baseline of its texts
		Width   float64 // at least a hairline: every bar is seen
		LabelX  float64
	}
	height := chartTop + barPitch*len(bars) + 10
	chart := struct {
		Title, Subtitle       string
		Width, Height         int
		CardWidth, CardHeight int // within half a pixel, so that its border is sharp
		Left, Names           int // the beginning of bars, and the end of their names
		BarHeight, Bottom     int
		Rows                  []row
	}{
		Title: title, Subtitle: subtitle, Width: chartWidth, Height: height,
		CardWidth: chartWidth - 1, CardHeight: height - 1,
		Left: chartLeft, Names: chartLeft - 12, BarHeight: barHeight, Bottom: chartTop + barPitch*len(bars) - 6,
	}
	for i, b := range bars {
		width := 1.0
		if longest > 0 {
			width = max(width, b.Value/longest*(chartWidth-chartLeft-chartRight))
		}
		y := chartTop + barPitch*i
		chart.Rows = append(chart.Rows, row{
			Bar: b, Y: y, Text: y + barHeight - 5, Width: width, LabelX: chartLeft + width + 8,
		})
	}
	var out bytes.Buffer
	if err := chartTemplate.Execute(&out, chart); err != nil {
		return nil, fmt.Errorf("chart: %w", err)
	}
	return out.Bytes(), nil
}

var chartTemplate = template.Must(template.New("chart").Parse(
	`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {{.Width}} {{.Height}}"` +
		` width="{{.Width}}" height="{{.Height}}" role="img">
<title>{{html .Title}}</title>
<style>
.bg{fill:#fff;stroke:#d0d7de}
text{font-family:system-ui,"DejaVu Sans",sans-serif;font-size:14px;fill:#1f2328}
.t{font-size:17px;font-weight:600}
.s{font-size:13px;fill:#59636e}
.n{text-anchor:end}
.v{font-weight:600}
.bar{fill:#0969da}
.axis{stroke:#8c959f}
@media (prefers-color-scheme:dark){
.bg{fill:#0d1117;stroke:#3d444d}
text{fill:#f0f6fc}
.s{fill:#9198a1}
.bar{fill:#4493f8}
.axis{stroke:#656c76}
}
</style>
<rect class="bg" x="0.5" y="0.5" width="{{.CardWidth}}" height="{{.CardHeight}}" rx="8"/>
<text class="t" x="24" y="36">{{html .Title}}</text>
<text class="s" x="24" y="58">{{html .Subtitle}}</text>
{{- range .Rows}}
<text class="n" x="{{$.Names}}" y="{{.Text}}">{{html .Name}}</text>
<rect class="bar" x="{{$.Left}}" y="{{.Y}}" width="{{printf "%.1f" .Width}}" height="{{$.BarHeight}}" rx="2"/>
<text class="v" x="{{printf "%.1f" .LabelX}}" y="{{.Text}}">{{html .Label}}</text>
{{- end}}
<path class="axis" d="M{{.Left}} 74V{{.Bottom}}"/>
</svg>
`))
