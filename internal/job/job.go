package job

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/weftcrawl/weft/guard"
	"github.com/weftcrawl/weft/internal/capture"
	"github.com/weftcrawl/weft/internal/cdxj"
	"github.com/weftcrawl/weft/internal/ctl"
	"github.com/weftcrawl/weft/internal/filename"
	"github.com/weftcrawl/weft/internal/frontier"
	"github.com/weftcrawl/weft/internal/frontier/store"
	"github.com/weftcrawl/weft/internal/refs"
	"github.com/weftcrawl/weft/record"
	"github.com/weftcrawl/weft/weburl"
)

// Files of a job's folder.
const (
	stateDir  = "state" // the store's
	PagesFile = "pages.jsonl"
	LinksFile = "links.jsonl"
	ItemsFile = "items.jsonl"
	bodiesDir = "bodies"

	screenshotsDir = "screenshots"
	pdfDir         = "pdf"

	ArchiveDir   = "archive"
	CapturesFile = ArchiveDir + "/" + cdxj.CapturesFile

	ReferrersFile = refs.File
)

// Notes in the store of a job.
const (
	notePlan      = "plan"
	noteHistory   = "history"
	noteBroken    = "broken"   // Summary.Broken, apart from the history, which each batch has
	noteScope     = "scope/"   // + URL that widened the scope: a seed, or the target of its redirect
	notePromise   = "promise/" // + URL to add in place of one that failed; its value is that one
	noteNetwork   = "network/" // + private network that links may lead to
	noteArchive   = "archive"  // the salt of its identifiers
	noteTrap      = "trap/"    // + name of a shape whose URLs are refused
	NoteDuplicate = "first/"   // + number: a page that later ones may duplicate
	NoteLesson    = "lesson/"  // + place in a table of what rendering adds to pages
)

// Job is the folder of a crawl: its outputs, and the state from which it resumes.
// Owner: the coordinator. Any goroutine may call KeepBody and KeepPicture.
type Job struct {
	Dir      string
	Files    store.FS
	Store    *store.Store
	Plan     Plan
	History  History         // of the runs before this one
	Salt     capture.Salt    // of the archive, if there is one
	Networks []guard.Network // open to links
	Promised []frontier.URL  // to be added: see Promise
	Resumed  bool            // there was an earlier run

	retry      func(*record.Record) bool // that of Options, if a retry starts
	retryBatch int
	narrowing  narrowing // of the visit that starts
	knownFirst bool      // it asks what is known before what is left
}

// Options are those of opening a job.
type Options struct {
	Dir    string
	Files  store.FS
	Fresh  bool // remove a job that is in the folder first
	Update bool // recrawl: the folder must be that of a job

	// Only and OlderThan narrow a recrawl to URLs whose last records Only selects, and which were
	// asked last so long ago; zero: all.
	Only      func(*record.Record) bool
	OlderThan time.Duration

	// Limit is the one of a visit, in URLs; 0: none. A visit that it has ended is over for a recrawl,
	// which asks what is known before what is left.
	Limit int

	Amend bool // seeds and exclusions may come on top of the job's
	List  bool // there is a SeedSeq

	// Retry selects finished URLs, by their last records, that are asked again; the folder must be
	// that of a job. nil: none.
	Retry      func(*record.Record) bool
	RetryBatch int // URLs that become pending at once; 0: 100

	Plan  Plan // the user's options, with the defaults filled in
	Asked Plan // the same as given: unset options are zero

	Partition func(host string) int // of a node of a cluster: see store.Options; nil: the job is whole

	Buffer, Cache int // memory for the store: see budget.Shares
	Waiting       func(full error)
}

// narrowing is the choice of the URLs that a visit asks: see Options.
type narrowing struct {
	only      func(*record.Record) bool
	olderThan time.Duration
}

func (n *narrowing) any() bool { return n.only != nil || n.olderThan > 0 }

// narrows takes in which URLs a visit is to ask. A choice belongs to the start of a visit: the run
// that continues one needs it only if the last run ended while it chose.
func (j *Job) narrows(o *Options) error {
	j.narrowing = narrowing{o.Only, o.OlderThan}
	h := &j.History
	switch {
	case j.narrowing.any() && !h.over(o.Limit) && !h.Narrowed:
		return &OptionError{Option: "Update", Value: o.Dir, Err: errGoesOn}
	case !j.narrowing.any() && h.Narrowed && h.Turning:
		return &OptionError{Option: "Update", Value: o.Dir, Err: errChoice}
	}
	return nil
}

// Open starts a job, or resumes the one in the folder; then Plan is the job's, and not the one
// in o. Its error is an *OptionError.
func Open(o Options) (*Job, error) {
	j := &Job{Dir: o.Dir, Files: o.Files, Plan: o.Plan}
	err := j.open(&o)
	j.knownFirst = j.Plan.LimitPerHost > 0 || o.Limit > 0
	if err == nil {
		return j, nil
	}
	if j.Store != nil {
		_ = j.Store.Close() // it has nothing to save
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
	switch {
	case o.Update:
		name = "Update"
	case o.Retry != nil:
		name = "RetryFailed"
	}
	return nil, &OptionError{Option: name, Value: o.Dir, Err: err}
}

// View opens the job in a folder to look at.
func View(dir string) (*Job, error) {
	s, err := store.Open(dir, store.Options{ReadOnly: true})
	if err != nil {
		return nil, err
	}
	return &Job{Dir: dir, Files: store.Disk, Store: s}, nil
}

func (j *Job) open(o *Options) error {
	begun, err := j.begun(o.Update || o.Retry != nil)
	if err != nil {
		return err
	}
	options := store.Options{FS: o.Files, Waiting: o.Waiting, Buffer: o.Buffer, Cache: o.Cache, Partition: o.Partition}
	o.Plan.outputs(&options)
	switch {
	case o.Update && !begun:
		return &OptionError{Option: "Update", Value: o.Dir, Err: errNoJob}
	case o.Retry != nil && !begun:
		return &OptionError{Option: "RetryFailed", Value: o.Dir, Err: errNoRetry}
	case (!begun || o.Fresh) && j.Plan.Seedless():
		return &OptionError{Option: "Seeds", Err: ErrNoSeed}
	case o.Fresh && begun:
		options.Fresh, options.Clear = true, outputs
		begun = false
	}
	if err := j.openStore(options); err != nil {
		return err
	}
	if j.Resumed = begun; begun {
		if err := j.recall(o); err != nil {
			j.removeEmpty(options.Outputs[1:])
			return err
		}
		if j.startsAnew(o) { // what failed then says nothing now
			begun = false
			options.Fresh, options.Clear = true, outputs
			if err := j.Store.Close(); err != nil {
				return err
			}
			*j = Job{Dir: j.Dir, Files: j.Files, Plan: j.Plan}
			if err := j.openStore(options); err != nil {
				return err
			}
		}
	}
	switch {
	case j.Plan.Seedless(): // it was killed while it started
		return &OptionError{Option: "Seeds", Err: ErrNoSeed}
	case j.Plan.List && !j.History.List.Listed && !o.List:
		return &OptionError{Option: "SeedSeq", Err: errors.New("none, expected the list of the job again, which was not read to its end")}
	}
	if begun {
		if err := j.narrows(o); err != nil {
			return err
		}
	}
	if j.Plan.KeepLinks && !o.Plan.KeepLinks || j.Plan.Extracts() && !o.Plan.Extracts() || j.Plan.Archive && !o.Plan.Archive {
		// Inherited from the job.
		j.Plan.outputs(&options)
		options.Fresh = false
		if err := j.Store.Close(); err != nil {
			return err
		}
		if err := j.openStore(options); err != nil {
			return err
		}
	}
	if err := j.Plan.check(); err != nil {
		return fmt.Errorf("%w: plan: %w", store.ErrDamaged, err)
	}
	return j.begin(o, begun)
}

// outputs are the files and folders that a job starts without.
var outputs = []string{PagesFile, ReferrersFile, LinksFile, ItemsFile, bodiesDir, screenshotsDir, pdfDir, ArchiveDir}

// Extracts reports whether the job has items.
func (p *Plan) Extracts() bool { return len(p.Extract) > 0 || p.Structured }

// outputs puts the outputs of a job with this plan into the options of its store.
func (p *Plan) outputs(o *store.Options) {
	o.Outputs = []string{PagesFile, ReferrersFile}
	if p.KeepLinks {
		o.Outputs = append(o.Outputs, LinksFile)
	}
	if p.Extracts() {
		o.Outputs = append(o.Outputs, ItemsFile)
	}
	if p.Archive {
		o.Outputs, o.Series = append(o.Outputs, CapturesFile), ArchiveDir
	}
}

// removeEmpty removes outputs that were created for a plan which is not that of the job, and are
// empty. What cannot be removed does no harm.
func (j *Job) removeEmpty(names []string) {
	for _, name := range names {
		file := j.Files.PathJoin(j.Dir, name)
		if info, err := j.Files.Stat(file); err == nil && info.Size() == 0 {
			_ = j.Files.Remove(file)
		}
	}
	dir := j.Files.PathJoin(j.Dir, ArchiveDir)
	if names, err := j.Files.List(dir); err == nil && len(names) == 0 {
		_ = j.Files.Remove(dir)
	}
}

// startsAnew reports whether the job starts anew because its last run has fetched nothing.
func (j *Job) startsAnew(o *Options) bool {
	return j.History.Summary.Fruitless() && !o.Update && !o.Amend && o.Retry == nil && (o.List || !j.Plan.List)
}

// begin saves the plan, and a history that says what this run is to do.
func (j *Job) begin(o *Options, begun bool) error {
	b := j.Store.Begin()
	j.SetPlan(b)
	if err := j.salt(b); err != nil {
		return err
	}
	switch {
	case o.Update && j.History.over(o.Limit):
		j.History = j.History.nextVisit()
		j.History.Narrowed = j.narrowing.any()
		j.SetHistory(b, j.History)
		j.SetBroken(b, nil)
	case begun && o.Retry != nil && j.History.retrying():
		j.retry, j.retryBatch = o.Retry, cmp.Or(o.RetryBatch, retryBatch)
		j.History.Retry, j.History.Summary.Finished = retryTurning, false
		j.SetHistory(b, j.History)
	case begun && o.Amend: // there is more to do, however this run ends
		j.History.Summary.Finished = false
		j.SetHistory(b, j.History)
	}
	return j.Store.Commit(b)
}

// over reports whether nothing is left to do in a visit of at most so many URLs.
func (h *History) over(limit int) bool {
	s := &h.Summary
	return s.Finished || s.Stopped == "limit" && limit > 0 && s.Done >= limit && h.Retry != retryTurning
}

// retrying reports whether a retry is to begin, or to begin again: one that has got as far as its
// requests goes on by them alone.
func (h *History) retrying() bool { return h.Retry != retryAsked || h.Summary.Finished }

// salt reads the salt of the archive, or makes it.
func (j *Job) salt(b *store.Batch) error {
	known, err := j.note(noteArchive, &j.Salt)
	if err == nil && !known && j.Plan.Archive {
		rand.Read(j.Salt[:])
		b.Set(noteArchive, encode(j.Salt))
	}
	return err
}

// A look at the job that takes no longer does not keep a crawl from it.
const (
	longestLook = 5 * time.Second
	lookAgain   = 50 * time.Millisecond
)

// openStore opens the store as soon as no other process looks at it.
func (j *Job) openStore(o store.Options) (err error) {
	for began := time.Now(); ; time.Sleep(lookAgain) {
		j.Store, err = store.Open(j.Dir, o)
		var locked *store.LockedError
		if !errors.As(err, &locked) {
			return err
		}
		if _, noCrawl := ctl.Dial(context.Background(), j.Dir); noCrawl == nil || time.Since(began) > longestLook {
			return inUse{locked}
		}
	}
}

// begun reports whether the folder is that of a job; must says that it is to be one. A folder with
// anything else is an error.
func (j *Job) begun(must bool) (bool, error) {
	names, err := j.Files.List(j.Dir)
	// Left by a crawl that was killed.
	names = slices.DeleteFunc(names, func(name string) bool { return name == ctl.Name })
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return false, nil
	case err != nil:
		expected := "a new folder, or that of a job"
		if must {
			expected = "the folder of a job"
		}
		return false, fmt.Errorf("%w, expected %s", withoutPath(err), expected)
	case slices.Contains(names, stateDir):
		return true, nil
	case len(names) > 0:
		return false, fmt.Errorf("%w, and is not that of a job", ErrExists)
	}
	return false, nil
}

// recall reads the state of the last run, and compares its plan with the requested one.
func (j *Job) recall(o *Options) error {
	was, known, err := j.SavedPlan()
	if err == nil {
		j.History, err = j.SavedHistory()
	}
	if err != nil {
		return err
	}
	if known { // or the job was killed while it started
		now := j.Plan
		if now.Seedless() || o.Amend {
			now = now.inherit(&o.Asked, &was)
		}
		j.Plan, err = was.agree(now, o.Amend)
		var differs *PlanError
		if errors.As(err, &differs) {
			differs.Finished = j.History.Summary.Finished
			return err
		}
	}
	for n, err := range j.SavedNetworks() {
		if err != nil {
			return err
		}
		j.Networks = append(j.Networks, n)
	}
	j.Promised, err = j.promised()
	return err
}

// SavedPlan reads the plan; known is false if there is none.
func (j *Job) SavedPlan() (p Plan, known bool, err error) {
	known, err = j.note(notePlan, &p)
	return p, known, err
}

// SavedHistory reads the history; without one it is zero.
func (j *Job) SavedHistory() (History, error) {
	var s stored
	if _, err := j.note(noteHistory, &s); err != nil {
		return History{}, err
	}
	h := s.history()
	_, err := j.note(noteBroken, &h.Summary.Broken)
	return h, err
}

// Scope reads the seeds and targets that have widened the scope. They may be many.
func (j *Job) Scope() iter.Seq2[weburl.URL, error] { return noted(j.Store, noteScope, weburl.Parse) }

// noted reads values that are names of notes, up to the first error.
func noted[T any](s *store.Store, prefix string, parse func(string) (T, error)) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		for n, err := range s.Notes(prefix) {
			var v T
			if err == nil {
				if v, err = parse(n.Name[len(prefix):]); err != nil {
					err = fmt.Errorf("%w: note %q: %w", store.ErrDamaged, n.Name, err)
				}
			}
			if !yield(v, err) || err != nil {
				return
			}
		}
	}
}

// note reads a note into v; known is false if there is none.
func (j *Job) note(name string, v any) (known bool, err error) {
	text, err := j.Store.Get(name)
	if err != nil || text == nil {
		return false, err
	}
	if err := json.Unmarshal(text, v); err != nil {
		return false, fmt.Errorf("%w: note %q: %w", store.ErrDamaged, name, err)
	}
	return true, nil
}

// SetPlan adds the plan, which has changed, to a batch.
func (j *Job) SetPlan(b *store.Batch) { b.Set(notePlan, j.Plan.Encode()) }

// SetHistory adds a history to a batch.
func (*Job) SetHistory(b *store.Batch, h History) { b.Set(noteHistory, h.Encode()) }

// SetBroken adds to a batch the broken URLs of a summary, which have changed.
func (*Job) SetBroken(b *store.Batch, all []record.Broken) { b.Set(noteBroken, encode(all)) }

// SetScope adds to a batch that u has widened the scope.
func (*Job) SetScope(b *store.Batch, u weburl.URL) { b.Set(noteScope+u.String(), nil) }

// SavedNetworks reads the networks that links may lead to.
func (j *Job) SavedNetworks() iter.Seq2[guard.Network, error] {
	return noted(j.Store, noteNetwork, guard.ParseNetwork)
}

// SetTrap adds to a batch that the URLs of a shape are refused.
func (*Job) SetTrap(b *store.Batch, shape string) { b.Set(noteTrap+shape, nil) }

// Traps reads the names of the shapes whose URLs are refused, those that begin with prefix.
func (j *Job) Traps(prefix string) iter.Seq2[string, error] {
	return noted(j.Store, noteTrap+prefix, func(rest string) (string, error) { return prefix + rest, nil })
}

// Promise adds to a batch that u will be added in place of u.From, which is done.
func (*Job) Promise(b *store.Batch, u frontier.URL) {
	b.Set(notePromise+u.URL.String(), []byte(u.From))
}

// Unpromise adds to a batch that u was added.
func (*Job) Unpromise(b *store.Batch, u frontier.URL) { b.Delete(notePromise + u.URL.String()) }

// promised reads what was promised and not added.
func (j *Job) promised() (all []frontier.URL, err error) {
	for n, err := range j.Store.Notes(notePromise) {
		if err != nil {
			return nil, err
		}
		u, err := weburl.Parse(n.Name[len(notePromise):])
		if err != nil {
			return nil, fmt.Errorf("%w: note %q: %w", store.ErrDamaged, n.Name, err)
		}
		all = append(all, frontier.URL{URL: u, From: string(n.Value)})
	}
	return all, nil
}

// SetNetwork adds to a batch that links may lead to a network.
func (*Job) SetNetwork(b *store.Batch, n guard.Network) { b.Set(noteNetwork+n.String(), nil) }

// KeepBody keeps a body as bodies/HH/HASH and returns its folder, which the batch with the
// body's record has to sync.
func (j *Job) KeepBody(hash string, body []byte) (dir string, err error) {
	dir = path.Join(bodiesDir, hash[:2])
	return dir, j.Store.WriteFile(path.Join(dir, hash), body, false)
}

// KeepPicture keeps a picture of a page, a PNG or a PDF, in place of an earlier one. It returns the
// name of the file, whose folder is to be synced: see KeepBody.
func (j *Job) KeepPicture(url, mime string, picture []byte) (name string, err error) {
	dir := screenshotsDir
	if mime == "application/pdf" {
		dir = pdfDir
	}
	name = path.Join(dir, filename.Picture(url, mime))
	return name, j.Store.WriteFile(name, picture, true)
}

// Free returns how many bytes may still be written to the disk.
func (j *Job) Free() (uint64, error) {
	usage, err := j.Files.GetDiskUsage(j.Dir)
	if err != nil {
		return 0, fmt.Errorf("room on the disk of %s: %w", j.Dir, err)
	}
	return usage.AvailBytes, nil
}

// Usage returns the size of the disk that the job is on, how much of it may still be written, and
// the size of parts of the folder. Saved bodies and pictures are not counted: they are too many.
func (j *Job) Usage() (record.Disk, error) {
	usage, err := j.Files.GetDiskUsage(j.Dir)
	if err != nil {
		return record.Disk{}, err
	}
	d := record.Disk{Free: usage.AvailBytes, Size: usage.TotalBytes, Parts: make(map[string]int64)}
	for part, dir := range map[string]string{"records": "", "state": stateDir, "archive": ArchiveDir} {
		dir = j.Files.PathJoin(j.Dir, dir)
		names, _ := j.Files.List(dir) // a job has no archive, or a file goes meanwhile
		for _, name := range names {
			if info, err := j.Files.Stat(j.Files.PathJoin(dir, name)); err == nil && !info.IsDir() {
				d.Parts[part] += info.Size()
			}
		}
	}
	return d, nil
}

// Close closes the store.
func (j *Job) Close() error {
	if j == nil {
		return nil
	}
	return j.Store.Close()
}

// Name returns the usual folder of a crawl that starts at u: HOST.weft.
func Name(u weburl.URL) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= '0' && r <= '9', r == '.', r == '-':
			return r
		}
		return '_'
	}, u.Host()) + ".weft"
}
