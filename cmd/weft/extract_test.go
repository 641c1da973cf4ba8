package main

import (
	"testing"

	"github.com/weftcrawl/weft"
)

// TestItemsInWords: a recrawl has items of new and changed pages only, and says so.
func TestItemsInWords(t *testing.T) {
	c := weft.ItemCounts{Items: 2, Missing: map[string]int{"product.price": 1}}
	expect(t, "crawl", itemsInWords(c, 1), "2 items; product.price missing in 1")
	expect(t, "recrawl", itemsInWords(c, 2), "2 items of pages that are new or changed; product.price missing in 1")
}
