package main

import (
	"testing"

	"github.com/weftcrawl/weft/internal/conformance"
)

// TestCharsetConformance runs the conformance suites through the command.
func TestCharsetConformance(t *testing.T) {
	for file, count := range map[string]int{"charset-prescan.jsonl": 104, "charset-labels.jsonl": 228} {
		cases := conformance.Cases[struct {
			ID, Want string
			charsetQuestion
		}](t, file)
		if len(cases) != count {
			t.Errorf("%s: %d cases, expected %d", file, len(cases), count)
		}
		for _, c := range cases {
			got, err := c.answer()
			if a, ok := got.(charsetAnswer); err != nil || !ok || a.Encoding != c.Want {
				t.Errorf("%s: %v, %v, expected %s", c.ID, got, err, c.Want)
			}
		}
	}
}

func TestCharsetAnswer(t *testing.T) {
	for asked, answer := range map[string]string{
		`{"id":1,"html_b64":"PG1ldGEgY2hhcnNldD1rb2k4LXI+"}`:                                             `{"id":1,"encoding":"koi8-r","source":"meta"}`,
		`{"id":1,"html_b64":"PG1ldGEgY2hhcnNldD1rb2k4LXI+","content_type":"text/plain; charset=latin1"}`: `{"id":1,"encoding":"windows-1252","source":"header"}`,
		`{"id":1,"html_b64":""}`:                             `{"id":1,"encoding":"windows-1252","source":"default"}`,
		`{"id":1,"text_b64":"PG1ldGEgY2hhcnNldD1rb2k4LXI+"}`: `{"id":1,"encoding":"windows-1252","source":"default"}`,
		`{"id":1,"label":"latin1"}`:                          `{"id":1,"encoding":"windows-1252"}`,
		`{"id":1,"label":"klingon"}`:                         `{"id":1,"error":"line 1: \"klingon\": unknown label, expected the label of an encoding, such as utf-8 or latin1","kind":"label"}`,
		`{"id":1,"encoding":"koi8-r","bytes_b64":"4Q=="}`:    `{"id":1,"text":"А"}`,
		`{"id":1,"encoding":"klingon","bytes_b64":"4Q=="}`:   `{"id":1,"error":"line 1: \"klingon\": unknown label, expected the label of an encoding, such as utf-8 or latin1","kind":"encoding"}`,
		`{"id":1,"encoding":"koi8-r"}`:                       `{"id":1,"error":"line 1: no bytes_b64, expected bytes in base64","kind":"bytes_b64"}`,
		`{"id":1}`:                                           `{"id":1,"error":"line 1: no html_b64, expected bytes in base64","kind":"html_b64"}`,
	} {
		if got := answerLine("charset", 1, []byte(asked), charsetQuestion.answer); string(got) != answer+"\n" {
			t.Errorf("%s: %s, expected %s", asked, got, answer)
		}
	}
}
