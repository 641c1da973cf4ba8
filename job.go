package weft

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"time"

	"github.com/weftcrawl/weft/frontier/store"
	"github.com/weftcrawl/weft/guard"
	"github.com/weftcrawl/weft/internal/ctl"
	"github.com/weftcrawl/weft/weburl"
)

// What is in the folder of a job.
const (
	stateDir  = "state" // the store's
	pagesFile = "pages.jsonl"
	linksFile = "links.jsonl"
	bodiesDir = "bodies"
)

// Notes in the store of a job.
const (
	notePlan    = "plan"
	noteHistory = "history"
	noteScope   = "scope/"   // and what has widened it: the URL of a seed, or one it redirects to
	noteNetwork = "network/" // and one that is open to links
	noteFirst   = "first/"   // and its number: a page that others may be duplicates of
)

// job is the folder of a crawl: its outputs, and the state from which it goes on.
// Owner: the desk; keepBody may be called from any goroutine.
type job struct {
	dir     string
	files   store.FS
	store   *store.Store
	plan    plan
	history history         // of the runs before this one
	scope   []weburl.URL    // that has been widened by these
	opened  []guard.Network // to links
	resumed bool            // there was a run before this one
}

var errInUse = fmt.Errorf("%w: another crawl, or a look at it", store.ErrLocked)

// openJob begins a job, or goes on with the one in the folder. Its error is an *OptionError.
func openJob(c *config, share shares, waiting func(error)) (*job, error) {
	j := &job{dir: c.Job, files: c.files, plan: newPlan(c)}
	o := store.Options{FS: c.files, Outputs: []string{pagesFile}, Waiting: waiting, Buffer: share.buffer, Cache: share.cache}
	if c.KeepLinks {
		o.Outputs = append(o.Outputs, linksFile)
	}
	err := j.open(c, o)
	if err == nil {
		return j, nil
	}
	if j.store != nil {
		_ = j.store.Close() // it has nothing to save
	}
	var option *OptionError
	if errors.As(err, &option) {
		return nil, err
	}
	for _, broken := range []error{store.ErrDamaged, store.ErrShort, store.ErrVersion} {
		if errors.Is(err, broken) {
			err = unusable{err}
			break
		}
	}
	name := "Job"
	if c.Update {
		name = "Update"
	}
	return nil, &OptionError{name, c.Job, err}
}

func (j *job) open(c *config, o store.Options) error {
	begun, err := j.begun(o.FS, c.Update)
	if err != nil {
		return err
	}
	if c.Update && !begun {
		return &OptionError{"Update", c.Job, errNoJob}
	}
	if (!begun || c.Fresh) && j.plan.bare() {
		return &OptionError{Option: "Seeds", Err: errNoSeed}
	}
	if begun && c.Fresh {
		o.Fresh, o.Clear = true, []string{pagesFile, linksFile, bodiesDir}
		begun = false
	}
	if err := j.openStore(o); err != nil {
		return err
	}
	if j.resumed = begun; begun {
		if err := j.recall(c); err != nil {
			return err
		}
	}
	switch {
	case j.plan.bare(): // it was killed while it began
		return &OptionError{Option: "Seeds", Err: errNoSeed}
	case j.plan.List && !j.history.List.Listed && c.SeedSeq == nil:
		return &OptionError{Option: "SeedSeq", Err: errors.New("none, expected the list of the job again, which was not read to its end")}
	}
	if j.plan.KeepLinks && !c.KeepLinks { // which is unsaid
		o.Outputs = append(o.Outputs, linksFile)
		if err := j.store.Close(); err != nil {
			return err
		}
		if err := j.openStore(o); err != nil {
			return err
		}
	}
	if err := j.plan.apply(c); err != nil {
		return fmt.Errorf("%w: plan: %w", store.ErrDamaged, err)
	}
	g := j.store.Begin()
	g.Set(notePlan, j.plan.encode())
	switch {
	case c.Update && j.history.Summary.Finished:
		j.history = j.history.nextVisit()
		g.Set(noteHistory, j.history.encode())
	case begun && c.Amend: // there is more to do, whatever becomes of this run
		j.history.Summary.Finished = false
		g.Set(noteHistory, j.history.encode())
	}
	return j.store.Commit(g)
}

// A look at the job that is short enough does not keep a crawl from it.
const (
	longestLook = 5 * time.Second
	lookAgain   = 50 * time.Millisecond
)

// openStore opens the store as soon as nobody looks at it any more.
func (j *job) openStore(o store.Options) (err error) {
	for begun := time.Now(); ; time.Sleep(lookAgain) {
		j.store, err = store.Open(j.dir, o)
		if !errors.Is(err, store.ErrLocked) {
			return err
		}
		if _, noCrawl := ctl.Dial(context.Background(), j.dir); noCrawl == nil || time.Since(begun) > longestLook {
			return errInUse
		}
	}
}

// begun reports whether the folder is that of a job, as it has to be with update. If it is
// anything else, that is an error.
func (j *job) begun(files store.FS, update bool) (bool, error) {
	names, err := files.List(j.dir)
	names = slices.DeleteFunc(names, func(name string) bool { return name == ctl.Name }) // left by a crawl that was killed
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return false, nil
	case err != nil:
		expected := "a new folder, or that of a job"
		if update {
			expected = "the folder of a job"
		}
		return false, fmt.Errorf("%w, expected %s", reason(err), expected)
	case slices.Contains(names, stateDir):
		return true, nil
	case len(names) > 0:
		return false, fmt.Errorf("%w, and is not that of a job", ErrJobExists)
	}
	return false, nil
}

// recall reads what the job's last run has left, and compares its plan with what is
// asked for now.
func (j *job) recall(c *config) error {
	var was plan
	if known, err := j.note(notePlan, &was); err != nil {
		return err
	} else if known { // or the job was killed while it began
		now := j.plan
		if now.bare() || c.Amend {
			now = now.unless(c.asked, was)
		}
		if j.plan, err = was.resume(now, c.Amend); err != nil {
			return err
		}
	}
	if _, err := j.note(noteHistory, &j.history); err != nil {
		return err
	}
	for n, err := range j.store.Notes(noteScope) {
		if err != nil {
			return err
		}
		u, err := weburl.Parse(n.Name[len(noteScope):])
		if err != nil {
			return fmt.Errorf("%w: note %q: %w", store.ErrDamaged, n.Name, err)
		}
		j.scope = append(j.scope, u)
	}
	for n, err := range j.store.Notes(noteNetwork) {
		if err != nil {
			return err
		}
		network, err := guard.ParseNetwork(n.Name[len(noteNetwork):])
		if err != nil {
			return fmt.Errorf("%w: note %q: %w", store.ErrDamaged, n.Name, err)
		}
		j.opened = append(j.opened, network)
	}
	return nil
}

// note reads a note into v; known is false if there is none.
func (j *job) note(name string, v any) (known bool, err error) {
	text, err := j.store.Get(name)
	if err != nil || text == nil {
		return false, err
	}
	if err := json.Unmarshal(text, v); err != nil {
		return false, fmt.Errorf("%w: note %q: %w", store.ErrDamaged, name, err)
	}
	return true, nil
}

// keepBody keeps a body as bodies/HH/HASH and returns its folder, which the group that
// tells of the body has to sync.
func (j *job) keepBody(hash string, body []byte) (dir string, err error) {
	dir = path.Join(bodiesDir, hash[:2])
	return dir, j.store.WriteFile(path.Join(dir, hash), body)
}

// free returns how many bytes may still be written to the disk.
func (j *job) free() (uint64, error) {
	usage, err := j.files.GetDiskUsage(j.dir)
	if err != nil {
		return 0, fmt.Errorf("room on the disk of %s: %w", j.dir, err)
	}
	return usage.AvailBytes, nil
}

func (j *job) close() error {
	if j == nil {
		return nil
	}
	return j.store.Close()
}

// reason is an error of the file system without the path, for where that is told.
func reason(err error) error {
	var e *fs.PathError
	if errors.As(err, &e) {
		return e.Err
	}
	return err
}
