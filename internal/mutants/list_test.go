package main

import "testing"

// TestList: the old text of every mutant occurs exactly once in its file.
func TestList(t *testing.T) {
	all, err := parse(list)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range all {
		if _, _, err := m.apply("../.."); err != nil {
			t.Error(err)
		}
	}
}
