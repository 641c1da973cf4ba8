package mcp

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/weftcrawl/weft/results"
)

// folder is the folder with the jobs that agents may look at.
type folder string

var jobName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]*$`)

// isName bounds the names of jobs: none leads out of the folder, or to a hidden file.
func isName(s string) bool { return len(s) <= 128 && jobName.MatchString(s) }

// jobEnd is the end of the names of folders of jobs, which agents need not say.
const jobEnd = ".weft"

// find returns the path of a job. A link is none: it may lead anywhere.
func (f folder) find(name string) (string, error) {
	if !isName(name) {
		return "", wrong("job %.64q, expected a name that status lists", name)
	}
	for _, path := range []string{filepath.Join(string(f), name+jobEnd), filepath.Join(string(f), name)} {
		if holdsJob(path) {
			return path, nil
		}
	}
	return "", unknown(name)
}

func unknown(job string) error {
	return wrong("job %.64q: there is none, or it has no page yet: status lists those that are there", job)
}

// holdsJob reports whether a path is that of a folder with records.
func holdsJob(path string) bool {
	info, err := os.Lstat(path)
	if err != nil || !info.IsDir() {
		return false
	}
	info, err = os.Lstat(filepath.Join(path, results.Pages))
	return err == nil && info.Mode().IsRegular()
}

// mostJobs bounds the jobs of a list.
const mostJobs = 10_000

// names lists the jobs.
func (f folder) names() ([]string, error) {
	dir, err := os.Open(string(f))
	if err != nil {
		return nil, errors.New("the folder of jobs cannot be read")
	}
	defer dir.Close()
	entries, err := dir.ReadDir(10 * mostJobs)
	if err != nil && len(entries) == 0 {
		return nil, nil // it is empty
	}
	var names []string
	for _, e := range entries {
		name := strings.TrimSuffix(e.Name(), jobEnd)
		if isName(name) && e.IsDir() && holdsJob(filepath.Join(string(f), e.Name())) && len(names) < mostJobs {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return slices.Compact(names), nil
}

// OpenFolder returns the path of a folder for jobs, which is made if it is not there.
func OpenFolder(dir string) (string, error) {
	if holdsJob(dir) {
		return "", fmt.Errorf("%.128q: a job, expected the folder in which it is", dir)
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		var p *fs.PathError
		if errors.As(err, &p) {
			err = p.Err
		}
		return "", fmt.Errorf("%.128q: %w", dir, err)
	}
	return filepath.Abs(dir)
}
