package markdown

import (
	"strings"
	"testing"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// TestMathML: a formula without TeX keeps its meaning.
func TestMathML(t *testing.T) {
	for text, want := range map[string]string{
		`<mi>x</mi>`: `x`,
		`<msup><mi>x</mi><mn>2</mn></msup><mo>+</mo><msub><mi>a</mi><mrow><mi>i</mi><mo>+</mo><mn>1</mn></mrow></msub>`: `x^{2}+a_{i+1}`,
		`<mfrac><mi>a</mi><mrow><mi>b</mi><mo>-</mo><msqrt><mn>3</mn></msqrt></mrow></mfrac>`:                           `\frac{a}{b-\sqrt{3}}`,
		`<munderover><mo>∑</mo><mrow><mi>i</mi><mo>=</mo><mn>0</mn></mrow><mi>n</mi></munderover>`:                      `∑_{i=0}^{n}`,
		`<msup><mrow><mo>(</mo><mi>a</mi><mi>b</mi><mo>)</mo></mrow><mi>n</mi></msup>`:                                  `{(ab)}^{n}`,
		`<mroot><mi>x</mi><mn>3</mn></mroot>`:                                                                           `\sqrt[3]{x}`,
		`<mover><mi>v</mi><mo>→</mo></mover><mi>sin</mi><mo>&#x2061;</mo>`:                                              `\vec{v}\operatorname{sin}`,
		`<mtext>if  x_1</mtext><mo>{</mo>`:                                                                              `\text{if x\_1}\{`,
		`<mfenced open="["><mi>a</mi><mi>b</mi></mfenced>`:                                                              `[a,b)`,
		`<mphantom><mi>q</mi></mphantom><msup></msup><mover></mover>`:                                                   `{}{}`,
		`<mtable><mtr><mtd>1</mtd><mtd><mn>2</mn></mtd></mtr></mtable>`:                                                 `\begin{matrix} & 2 \\ \end{matrix}`,
		strings.Repeat("<mrow>", 300) + "<mi>x</mi>":                                                                    ``,
	} {
		for n := range parse(t, []byte("<math>"+text+"</math>")).Descendants() {
			if n.Type == html.ElementNode && n.DataAtom == atom.Math {
				if got := presented(n); got != want {
					t.Errorf("%.200s:\n%s\nexpected\n%s", text, got, want)
				}
			}
		}
	}
}
