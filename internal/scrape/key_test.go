package scrape

import (
	"testing"

	"github.com/weftcrawl/weft"
	"github.com/weftcrawl/weft/extract"
)

// TestKeys: asks with different rules have different keys, however their texts are chosen: nobody
// gets what another's rules have found.
func TestKeys(t *testing.T) {
	given, err := weft.ReadSeed("https://a.test/")
	if err != nil {
		t.Fatal(err)
	}
	field := []extract.Field{{Name: "a", Select: "p"}}
	keys := make(map[string]extract.Rule)
	for _, r := range []extract.Rule{
		{URLs: "x Each:y", Fields: field}, {URLs: "x", Each: "y Each:", Fields: field}, {Fields: field},
		{Fields: []extract.Field{{Name: "a", Select: "p", Match: "x Format:y"}}}, {Fields: []extract.Field{{Name: "a", Select: "p", Match: "x", Format: "y Format:"}}},
	} {
		key := (&Ask{Rules: []extract.Rule{r}}).key(given)
		if other, ok := keys[key]; ok || key == "" {
			t.Errorf("%v has the key of %v", r, other)
		}
		keys[key] = r
	}
}
