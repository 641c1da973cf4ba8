package measure

import (
	"fmt"
	"slices"

	"github.com/go-analyze/charts"
)

// Chart draws bars, one below the other, as SVG. Its background is that of the page, and its
// colours have a contrast of at least 3 to 1 to white and to black.
func Chart(title string, names []string, values []float64, format func(float64) string) ([]byte, error) {
	gray, blue := charts.ParseColor("#787878"), charts.ParseColor("#3b82c4")
	theme := charts.MakeTheme(charts.ThemeOption{
		BackgroundColor: charts.ColorTransparent, TextColor: gray, TextColorLabel: gray,
		AxisStrokeColor: gray, AxisSplitLineColor: gray.WithAlpha(80), SeriesColors: []charts.Color{blue},
	})
	p := charts.NewPainter(charts.PainterOptions{
		OutputFormat: charts.ChartOutputSVG, Width: 720, Height: 80 + 36*len(names), Theme: theme,
	})
	names, values = slices.Clone(names), slices.Clone(values)
	slices.Reverse(names) // the axis goes upwards
	slices.Reverse(values)
	series := charts.NewSeriesListBar([][]float64{values})
	series.SetSeriesLabels(charts.SeriesLabel{Show: charts.Ptr(true), ValueFormatter: format})
	err := p.BarChart(charts.BarChartOption{
		Theme: theme, Horizontal: true, SeriesList: series, ValueFormatter: format,
		Padding:      charts.NewBox(20, 20, 60, 20), // a label may stand past the longest bar
		Title:        charts.TitleOption{Text: title},
		CategoryAxis: charts.CategoryAxisOption{Labels: names},
		ValueAxis:    []charts.ValueAxisOption{{Show: charts.Ptr(false), Min: charts.Ptr(0.0)}}, // each bar tells its value,
	})
	if err != nil {
		return nil, fmt.Errorf("chart: %w", err)
	}
	return p.Bytes()
}
