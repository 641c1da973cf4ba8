package main

import (
	"fmt"
	"os"
)

func report(all []*document, peers, commit, out string) error {
	tune := func(d *document) bool { return d.tune }
	hold := func(d *document) bool { return !d.tune }
	any := func(*document) bool { return true }
	first, second := fit(all, tune), fit(all, hold)
	with(all, first, any, "tuned on half")
	with(all, first, hold, "cross")
	with(all, second, tune, "cross")
	with(all, fit(all, any), any, "shipped")
	for _, name := range []string{"tuned on half", "cross", "shipped"} {
		for _, half := range []struct {
			name string
			in   func(*document) bool
		}{{"tune", tune}, {"hold", hold}, {"all", any}} {
			totals := map[string]*total{}
			for _, d := range all {
				if !half.in(d) {
					continue
				}
				for _, key := range []string{d.kind, "wcxb"} {
					if d.kind == "" && key == "wcxb" {
						continue
					}
					if totals[key] == nil {
						totals[key] = &total{}
					}
					totals[key].add(d, d.words(d.predict[name].text))
				}
			}
			fmt.Printf("%-14s %-5s", name, half.name)
			for _, k := range []string{"", "wcxb", "article", "forum", "product", "collection", "listing", "documentation", "service"} {
				m := totals[k].mean()
				fmt.Printf(" %.4s %.4f (%.3f %.3f)", k, m.f1, m.precision, m.recall)
			}
			fmt.Println()
		}
	}
	_ = os.Stdout
	return nil
}
