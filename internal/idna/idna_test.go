package idna_test

import (
	"testing"

	"github.com/weftcrawl/weft/internal/idna"
)

func TestToASCII(t *testing.T) {
	for domain, want := range map[string]string{ // "": an error
		"straße.de":            "xn--strae-oqa.de",
		"STRAẞE.de":            "xn--strae-oqa.de",
		"Bücher.example":       "xn--bcher-kva.example",
		"βόλος.com":            "xn--nxasmm1c.com",
		"a.b．c。d｡":             "a.b.c.d.",
		"..é":                  "..xn--9ca",
		"faß。ＤＥ":               "xn--fa-hia.de",
		"a\u00adb.é":           "ab.xn--9ca",
		"é_,=.de":              "xn--_,=-9la.de",
		"-é-.de":               "xn-----bja.de",
		"≠":                    "xn--1ch",
		"é.xn--9ca":            "xn--9ca.xn--9ca",
		"é.XN--9CA":            "xn--9ca.xn--9ca",
		"xn--é":                "",
		"é.xn--a":              "",
		"é.xn--":               "",
		"é.xn--abc-":           "",
		"é.xn--u-ccb":          "", // decodes to u and a combining mark, not normal
		"é.xn--xn--a--gua":     "", // decodes to another xn--
		"é.xn--a-ecp":          "", // decodes to a disallowed character
		"a⒈com":                "",
		"\u0301a":              "",
		"é\xff":                "",
		"é\ufffd":              "",
		"\U000e0001é":          "",
		"نامه\u200cای":         "xn--mgba3gch31f060k",
		"a\u200cb":             "",
		"\u200cé":              "",
		"ශ්\u200dරී":           "xn--10cl1a0b660p",
		"a\u200db":             "",
		"a\u094d\u200db":       "xn--ab-fsf014u",
		"à.א\u0308":            "xn--0ca.xn--ssa73l",
		"1א":                   "",
		"אa":                   "",
		"א1":                   "xn--1-zhc",
		"א-":                   "",
		"א1٠":                  "",
		"a.א":                  "a.xn--4db",
		"1.א":                  "",
		"\U00010d4a\U00010d50": "xn--9f0dqc", // Garay, since Unicode 16: the first becomes U+10D6A
		"\U0002ebf0":           "xn--8g0n",   // since Unicode 15.1
		"\U00011bc0":           "xn--1g3d",   // since Unicode 16
		"\U0001fa8a":           "xn--l09h",   // since Unicode 17
		"\U00016ea0":           "xn--zs0f",   // since Unicode 17; becomes U+16EBB
	} {
		got, err := idna.ToASCII(domain)
		if got != want || (err == nil) != (want != "") {
			t.Errorf("%+q: %q, %v, expected %q", domain, got, err, want)
		}
	}
}

// FuzzToASCII: the ASCII form of a domain has none but itself, and a domain in two forms has one.
func FuzzToASCII(f *testing.F) {
	for _, s := range []string{"", "STRAẞE.de", "xn--9ca.é", "א1.a", "\u0628\u200c\u0628", "a。b", "\U0001fa8aé"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, domain string) {
		domain = domain[:min(len(domain), 1000)]
		got, err := idna.ToASCII(domain)
		if err != nil {
			return
		}
		for i := range len(got) {
			if got[i] >= 0x80 {
				t.Fatalf("%+q: %+q", domain, got)
			}
		}
		if again, err := idna.ToASCII(got); err != nil || again != got {
			t.Errorf("%+q: %q, whose form is %q, %v", domain, got, again, err)
		}
	})
}
