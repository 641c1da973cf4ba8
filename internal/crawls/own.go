package crawls

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"slices"
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

// ownFiles are the operator's files of options. Their folder's Run uses them.
type ownFiles struct {
	folder *Folder
	read   map[string]regular.Version // by name of the crawl, those with mistakes among them
	named  time.Time                  // when names in the folder had last changed
	looked time.Time
	wrong  map[string]string // mistakes by name of the file; folder.mu guards it
}

func newOwnFiles() ownFiles {
	return ownFiles{read: make(map[string]regular.Version), wrong: make(map[string]string)}
}

const (
	ownEvery   = 10 * time.Second // between two looks at the operator's files
	ownSettles = time.Second      // a file that has just changed may be half written
	mostWrong  = 100              // mistakes that are kept
)

// errOwnName is the mistake of a file that cannot be that of a crawl.
var errOwnName = errors.New("its name is none of a crawl, expected lower-case letters, digits, . and -: the file is ignored")

// names returns the crawls that the files of options in a folder may stand for, and takes in those
// that have no such name.
func (o *ownFiles) names(files []fs.DirEntry) (all []string) {
	bad := make(map[string]bool)
	for _, file := range files {
		base, ok := strings.CutSuffix(file.Name(), ".toml")
		switch {
		case !ok || base == "weft" || strings.HasPrefix(base, "."):
		case isName(base) && base != "tokens":
			all = append(all, base)
		default:
			bad[file.Name()] = true
			o.note(file.Name(), errOwnName)
		}
	}
	maps.DeleteFunc(o.wrong, func(file, text string) bool { return text == errOwnName.Error() && !bad[file] })
	return all
}

// note takes in the mistake of a file, nil for none, and tells one that is new.
func (o *ownFiles) note(file string, err error) {
	if err == nil {
		delete(o.wrong, file)
		return
	}
	if text := err.Error(); o.wrong[file] != text && (o.wrong[file] != "" || len(o.wrong) < mostWrong) {
		o.wrong[file] = text
		o.folder.o.Warn(fmt.Errorf("%s: %w", file, err))
	}
}

// look reads those files that are new or have changed. A mistake in one is told once, and what it
// said before holds.
func (o *ownFiles) look() {
	f, now, first := o.folder, time.Now(), o.looked.IsZero()
	if since := now.Sub(o.looked); f.o.Asked || since >= 0 && since < ownEvery {
		return
	}
	o.looked = now
	names, files := slices.Collect(maps.Keys(o.read)), []fs.DirEntry(nil)
	if info, err := os.Stat(f.dir); err == nil && !info.ModTime().Equal(o.named) {
		o.named = info.ModTime()
		files, _ = os.ReadDir(f.dir) // its error is that of any crawl's next file
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if files != nil {
		names = append(names, o.names(files)...)
	}
	for _, name := range names {
		e := f.all[name]
		if e != nil && (!e.Own || e.Deleting) {
			continue
		}
		info, err := os.Stat(f.path(name, ".toml"))
		if err != nil && e == nil {
			delete(o.read, name)
			o.note(name+".toml", nil)
			continue
		}
		var v regular.Version // zero: the file is gone
		if err == nil {
			v = regular.VersionOf(info)
			if !first && v.IsFresh(now, ownSettles) {
				o.named = time.Time{} // it is looked at again
				continue
			}
		}
		if had, known := o.read[name]; known && had == v {
			continue
		}
		o.read[name] = v
		o.note(name+".toml", o.take(name, e))
	}
}

// take takes in a file, of a crawl that is known or not.
func (o *ownFiles) take(name string, e *entry) error {
	f := o.folder
	if e == nil {
		if _, err := os.Lstat(f.path(name, ".json")); err == nil {
			return nil // that was not read
		}
	}
	file, err := f.readPlan(name)
	if err != nil {
		return err
	}
	known := e != nil
	if !known {
		e = &entry{Crawl: Crawl{Name: name, Created: f.now(), State: Queued, Own: true}}
	}
	before := e.Crawl
	if !e.follows(file.rule) {
		if err := e.follow(file.rule, f.now()); err != nil {
			return err
		}
	}
	e.then.notify = file.notify
	e.about(file.seeds)
	if known && e.Schedule == before.Schedule && e.First == before.First && e.Seeds == before.Seeds && slices.Equal(e.Hosts, before.Hosts) {
		return nil
	}
	if err := f.save(&e.Crawl); err != nil {
		return err
	}
	f.all[name] = e
	f.changed(e.Crawl)
	f.awake()
	return nil
}

// Mistakes returns what is wrong with the operator's files, in the order of their names.
func (f *Folder) Mistakes() (all []string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, file := range slices.Sorted(maps.Keys(f.own.wrong)) {
		all = append(all, file+": "+f.own.wrong[file])
	}
	return all
}
