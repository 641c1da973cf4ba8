package main

import (
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strings"
)

// mutant is a small fault, and the package whose tests have to find it.
type mutant struct {
	file     string // from the root of the module
	pkg      string // its tests; the folder of the file, unless the list says otherwise
	why      string // the fault that it makes, in one line
	old, new string
}

// parse reads a list of mutants: see mutants.txt.
func parse(text string) (all []mutant, err error) {
	var m *mutant
	for i, line := range strings.Split(text, "\n") {
		wrong := func(expected string) error { return fmt.Errorf("line %d: %q, expected %s", i+1, line, expected) }
		key, value, _ := strings.Cut(line, " ")
		switch {
		case line == "":
			m = nil
		case line[0] == '#':
		case key == "file":
			all = append(all, mutant{file: value, pkg: path.Dir(value)})
			m = &all[len(all)-1]
		case m == nil:
			return nil, wrong("file")
		case key == "test":
			m.pkg = value
		case key == "why":
			m.why = value
		case line[0] == '-':
			m.old += line[1:] + "\n"
		case line[0] == '+':
			m.new += line[1:] + "\n"
		default:
			return nil, wrong("file, test, why, - or +")
		}
	}
	for _, m := range all {
		if m.old == "" || m.why == "" {
			return nil, fmt.Errorf("%s: expected a why and an old text", m.file)
		}
	}
	return all, nil
}

// apply returns the source of a mutant's file with the fault, and the line where it is. The old
// text has to be there exactly once.
func (m *mutant) apply(root string) (source []byte, line int, err error) {
	b, err := os.ReadFile(filepath.Join(root, m.file))
	if err != nil {
		return nil, 0, err
	}
	if n := strings.Count("\n"+string(b), "\n"+m.old); n != 1 {
		return nil, 0, fmt.Errorf("%s: the old text occurs %d times, expected once:\n%s", m.file, n, m.old)
	}
	before, after, _ := strings.Cut("\n"+string(b), "\n"+m.old)
	return []byte(strings.TrimPrefix(before+"\n"+m.new+after, "\n")), strings.Count(before, "\n") + 1, nil
}
