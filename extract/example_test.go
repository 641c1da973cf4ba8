package extract_test

import (
	"fmt"

	"github.com/weftcrawl/weft/extract"
	"github.com/weftcrawl/weft/weburl"
)

func Example() {
	rules := []extract.Rule{{Fields: []extract.Field{
		{Name: "name", Select: "h1", Required: true},
		{Name: "price", Select: "//*[@class='price']", Type: extract.Number},
	}}}
	extractor, err := extract.New(rules, false)
	if err != nil {
		panic(err)
	}
	page, _ := weburl.Parse("https://example.org/product/7")
	for _, item := range extractor.Page(page, []byte(`<h1>Red shoes</h1> <p class=price>€ 1,299.50</p>`)) {
		fmt.Println(item.Fields.Text("name"), item.Fields.Text("price"))
	}
	// Output:
	// Red shoes 1299.50
}
