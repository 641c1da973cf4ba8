package extract

import (
	"strings"
	"testing"
)

// TestShadowRoots: fields are found in shadow roots, whose text is that of their hosts, and in the
// frames of the page's own site.
func TestShadowRoots(t *testing.T) {
	rule, err := Of("host=x-a", "inner=x-a p", "light=x-a b", "frames[]=h2", "link:url=h2 a")
	if err != nil {
		t.Fatal(err)
	}
	x := extractor(t, rule)
	got := items(t, x, "http://a.example/", `<x-a><template shadowrootmode=closed><p>one</p></template><b>two</b><template>three</template></x-a>
<iframe hidden srcdoc="<base href=&#34;http://b.example/&#34;><h2>four</h2>"></iframe>
<iframe hidden srcdoc="<base href=&#34;http://a.example/f/&#34;><h2>five<a href=x></a></h2>"></iframe>`)
	for _, want := range []string{`"host":"one two"`, `"inner":"one"`, `"light":"two"`, `"frames":["five"]`, `"link":"http://a.example/f/x"`} {
		if !strings.Contains(got, want) {
			t.Errorf("%s, expected %s", got, want)
		}
	}
}
