package crawls

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"time"

	"github.com/pelletier/go-toml/v2"
	"github.com/weftcrawl/weft/internal/regular"
	"github.com/weftcrawl/weft/internal/schedule"
)

// own has the contents of a NAME.toml of the operator.
type own struct {
	seeds  []string
	rule   *schedule.Rule // nil: none
	notify schedule.Notice
}

// readPlan reads a NAME.toml.
func (f files) readPlan(name string) (o own, err error) {
	text, err := readAtMost(f.path(name, ".toml"), mostPlan)
	if err != nil {
		return o, err
	}
	var file struct {
		Crawl struct {
			URLs []string `toml:"urls"`
		} `toml:"crawl"`
		Schedule map[string]any `toml:"schedule"`
	}
	if err := toml.Unmarshal(text, &file); err != nil {
		return o, err
	}
	if o.seeds = file.Crawl.URLs; len(o.seeds) == 0 {
		return o, errors.New("no URL, expected urls in [crawl]")
	}
	if file.Schedule == nil {
		return o, nil
	}
	rule, notify, err := schedule.FromTable(file.Schedule)
	if err == nil {
		_, err = rule.Compile(name, time.Now())
	}
	if err == nil {
		err = notify.Check()
	}
	if err != nil {
		return o, fmt.Errorf("[schedule]: %w", err)
	}
	o.rule, o.notify = &rule, notify
	return o, nil
}

// ownFiles are the operator's files of options that were read.
type ownFiles struct {
	read   map[string]regular.Version // by name of the crawl, those with mistakes among them
	folder time.Time                  // when names in the folder had last changed
	looked time.Time
}

const (
	ownEvery   = 10 * time.Second // between two looks at the operator's files
	ownSettles = time.Second      // a file that has just changed may be half written
)

// ownNames returns the crawls that files of options may stand for.
func ownNames(files []fs.DirEntry) (all []string) {
	for _, file := range files {
		base, ok := strings.CutSuffix(file.Name(), ".toml")
		if ok && base != "weft" && base != "tokens" && isName(base) {
			all = append(all, base)
		}
	}
	return all
}
