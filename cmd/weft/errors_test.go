package main

import (
	"errors"
	"fmt"
	"io"
	"reflect"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"github.com/weftcrawl/weft"
	"github.com/weftcrawl/weft/internal/flat"
)

// TestFlagMistakes: for an invalid or a missing value of any flag, the message names the flag and
// what was expected.
func TestFlagMistakes(t *testing.T) {
	for _, cmd := range []func() *cobra.Command{crawlCommand, fetchCommand, linksCommand, sitemapCommand, demoCommand, robotsTestCommand, urlCommand} {
		cmd().Flags().VisitAll(func(f *pflag.Flag) {
			values := map[string]string{"--" + f.Name + "=": "--" + f.Name + ` "": `, "--" + f.Name: "--" + f.Name + ": no value, expected --" + f.Name + " "}
			if f.Value.Type() == "bool" {
				values = map[string]string{"--" + f.Name + "=maybe": "--" + f.Name + ` "maybe": `}
			}
			if optionOf(f).bare != "" {
				delete(values, "--"+f.Name)
			}
			for arg, want := range values {
				c := cmd()
				err := c.ParseFlags([]string{arg})
				if err == nil {
					t.Errorf("%s %s is taken", c.Name(), arg)
					continue
				}
				if got := misread(c, err).Error(); !strings.HasPrefix(got, want) || !strings.Contains(got, "expected") {
					t.Errorf("%s %s: %s, expected %s… and what was expected", c.Name(), arg, got, want)
				}
			}
		})
	}
}

// TestFlagOf: every option of the library that is not code has a flag, and its errors name that
// flag.
func TestFlagOf(t *testing.T) {
	code := []string{"Seeds", "Hooks", "Loops", "Loop"}
	flags := crawlCommand().Flags()
	fields := 0
	for f := range flat.Fields(reflect.TypeFor[weft.Options]()) {
		if !f.IsExported() {
			continue
		}
		fields++
		name := f.Name
		flag, known := flagOf()[name]
		switch {
		case strings.Contains(fmt.Sprint(code), name) && !known:
		case !known:
			t.Errorf("option %s has no flag", name)
		case flags.Lookup(flag) == nil:
			t.Errorf("option %s: there is no --%s", name, flag)
		default:
			err := fmt.Errorf("in all: %w", &weft.OptionError{Option: name, Value: "a", Err: io.EOF})
			if got := byFlag(err, naming{flag: "job", dir: "job", command: "weft crawl"}); got.Error() != "--"+flag+` "a": EOF` || !errors.Is(got, io.EOF) {
				t.Errorf("option %s is reported as %v", name, got)
			}
		}
	}
	if len(flagOf())+len(code) != fields {
		t.Errorf("%d options, and %d known", fields, len(flagOf())+len(code))
	}
}

// TestFrozenInWords: each option that a job freezes has words for messages.
func TestFrozenInWords(t *testing.T) {
	for _, option := range append(weft.FrozenOptions(), "Seeds", "SeedSeq") {
		if frozenInWords[option].what == "" {
			t.Errorf("no words for %s", option)
		}
	}
}

// TestAdvised: what may be done about a certificate is said where it helps.
func TestAdvised(t *testing.T) {
	const any, others = ": -k accepts any certificate", ", --ca FILE trusts other authorities"
	for fault, want := range map[string]string{
		"it is self-signed":                              any + others,
		`its authority "A" is not trusted`:               any + others,
		`its authority "A" is unknown`:                   any + others,
		"it expired on 2026-11-21, 2 days ago":           any,
		"it is for www.example, not for www.example.org": any,
	} {
		text := "tls: certificate not accepted: " + fault
		if got := advised(text); got != text+want {
			t.Errorf("%s, expected %s", got, text+want)
		}
	}
	if text := "early-end: the connection ended"; advised(text) != text {
		t.Errorf("%s, expected %s", advised(text), text)
	}
}
