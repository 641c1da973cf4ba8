// Mutants tries the faults of mutants.txt one after another in a copy of the module, and runs the
// tests of the package that has to find each. It ends with status 1 if a fault survives.
//
// Usage: mutants [-check] [-only RE] [-root FOLDER]
package main

import (
	"context"
	_ "embed"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"time"
)

//go:embed mutants.txt
var list string

func main() {
	only := flag.String("only", "", "try the mutants whose file or reason matches `RE`")
	root := flag.String("root", ".", "the module's `FOLDER`")
	check := flag.Bool("check", false, "see only whether the list fits the sources")
	flag.Parse()
	act := func() error { return run(*root, *only) }
	if *check {
		act = func() error { return fits(*root) }
	}
	if err := act(); err != nil {
		fmt.Fprintln(os.Stderr, "mutants:", err)
		os.Exit(1)
	}
}

func run(root, only string) error {
	chosen, err := regexp.Compile(only)
	if err != nil {
		return err
	}
	all, err := parse(list)
	if err != nil {
		return err
	}
	scratch, err := os.MkdirTemp("", "weft-mutants-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(scratch)
	if err := copyModule(scratch, root); err != nil {
		return err
	}
	sound := make(map[string]bool) // packages whose tests pass without a mutant
	var failed []error
	for _, m := range all {
		if !chosen.MatchString(m.file) && !chosen.MatchString(m.why) {
			continue
		}
		source, line, err := m.apply(scratch)
		if err != nil {
			failed = append(failed, err)
			continue
		}
		if !sound[m.pkg] {
			if by, out := test(scratch, m.pkg); by != "" {
				return fmt.Errorf("%s: %s fails without a mutant\n%s", m.pkg, by, out)
			}
			sound[m.pkg] = true
		}
		where := fmt.Sprintf("%s:%d", m.file, line)
		began := time.Now()
		by, err := try(scratch, &m, source)
		switch took := time.Since(began).Round(100 * time.Millisecond); {
		case err != nil:
			failed = append(failed, fmt.Errorf("%s: %w", where, err))
			fmt.Printf("unsound   %-40s %s\n", where, m.why)
		case by == "":
			failed = append(failed, fmt.Errorf("%s survived: %s", where, m.why))
			fmt.Printf("SURVIVED  %-40s %s (%v)\n", where, m.why, took)
		default:
			fmt.Printf("killed    %-40s %s: %s (%v)\n", where, m.why, by, took)
		}
	}
	return errors.Join(failed...)
}

// fits returns an error for each mutant whose old text is not in the sources exactly once.
func fits(root string) error {
	all, err := parse(list)
	if err != nil {
		return err
	}
	var failed []error
	for _, m := range all {
		if _, _, err := m.apply(root); err != nil {
			failed = append(failed, err)
		}
	}
	return errors.Join(failed...)
}

// copyModule copies what Git knows of a module, or would add.
func copyModule(to, from string) error {
	ls := exec.Command("git", "ls-files", "-z", "--cached", "--others", "--exclude-standard")
	ls.Dir = from
	out, err := ls.Output()
	if err != nil {
		return fmt.Errorf("git ls-files: %w", err)
	}
	for name := range strings.SplitSeq(strings.TrimSuffix(string(out), "\x00"), "\x00") {
		b, err := os.ReadFile(filepath.Join(from, name))
		if errors.Is(err, os.ErrNotExist) {
			continue // removed, and not committed yet
		}
		if err != nil {
			return err
		}
		if err := os.MkdirAll(filepath.Join(to, filepath.Dir(name)), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(to, name), b, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// try runs the tests of a mutant, and returns the test that fails; empty: none does.
func try(scratch string, m *mutant, source []byte) (by string, err error) {
	path := filepath.Join(scratch, m.file)
	sound, err := os.ReadFile(path)
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, os.WriteFile(path, sound, 0o644)) }()
	if err := os.WriteFile(path, source, 0o644); err != nil {
		return "", err
	}
	by, out := test(scratch, m.pkg)
	if strings.Contains(out, "[build failed]") {
		return "", fmt.Errorf("the mutant does not build:\n%s", out)
	}
	return by, nil
}

// failure is the name of a test in the output of go test: of one that fails, or that a time-out
// ends.
var failure = regexp.MustCompile(`(?m)^(?:\s*--- FAIL: |\t)((?:Test|Fuzz|Example)\S*) \(`)

// test runs the tests of a package, and returns one that fails, and what it says; empty: none does.
func test(module, pkg string) (by, out string) {
	// It may have to compile much.
	ctx, cancel := context.WithTimeout(context.Background(), 15*time.Minute)
	defer cancel()
	// Without paths in the programs, the next copy finds them in the build cache.
	cmd := exec.CommandContext(ctx, "go", "test", "-count=1", "-failfast", "-vet=off", "-trimpath", "-timeout=4m", "./"+pkg)
	cmd.Dir = module
	b, err := cmd.CombinedOutput()
	if err == nil {
		return "", ""
	}
	if m := failure.FindAllSubmatch(b, -1); m != nil {
		return string(m[0][1]), string(b)
	}
	return "the program", string(b)
}
