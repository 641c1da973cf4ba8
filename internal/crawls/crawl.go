package crawls

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/pelletier/go-toml/v2"
	"github.com/weftcrawl/weft/internal/atomicfile"
	"github.com/weftcrawl/weft/internal/regular"
	"github.com/weftcrawl/weft/internal/schedule"
	"github.com/weftcrawl/weft/seed"
)

// State is a stage of a crawl.
type State string

// The states. A crawl in one of the last four has ended.
const (
	Queued  State = "queued"  // it waits for others
	Running State = "running" // a process carries it out
	Done    State = "done"    // every URL has its result
	Limited State = "limited" // a limit has ended it
	Stopped State = "stopped" // an order has ended it
	Failed  State = "failed"  // see Crawl.Message
)

// States are all states.
var States = []State{Queued, Running, Done, Limited, Stopped, Failed}

// Ended reports whether it is a state of a crawl that has ended.
func (s State) Ended() bool { return s != Queued && s != Running }

// Ask is a crawl that is asked for.
type Ask struct {
	Seeds   []string            // URLs; at least one
	Options map[string][]string // of weft crawl, by name, as typed
	By      string              // the name of the one who asks; "": the operator
	Key     string              // of By's own: the same key is the same crawl; "": none
	Digest  string              // of the request with Key
	Note    json.RawMessage     // for who asks, at most MostNote; kept as it is
	Rule    *schedule.Rule      // of its visits; nil: it is visited once
	Hook    []byte              // contents of NAME.hook; nil: none
}

// MostNote bounds a Note, in bytes.
const MostNote = 32 << 10

// Crawl is a crawl of a folder.
type Crawl struct {
	Name    string    `json:"name"`
	First   string    `json:"first"`  // of its seeds
	Hosts   []string  `json:"hosts"`  // of the first seeds
	Seeds   int       `json:"seeds"`  // their number
	By      string    `json:"by"`     // see Ask
	Digest  string    `json:"digest"` // see Ask
	Created time.Time `json:"created"`
	Hook    bool      `json:"hook,omitempty"` // it has a NAME.hook

	State   State     `json:"state"`
	Status  int       `json:"status"`  // exit status of its last process; -1: a signal ended it
	Message string    `json:"message"` // of a failure, or of a stop that nobody has ordered
	Started time.Time `json:"started,omitzero"`
	Ended   time.Time `json:"ended,omitzero"`
	Crashes int       `json:"crashes"` // of its processes in a row

	Note json.RawMessage `json:"note,omitempty"` // see Ask

	Own      bool      `json:"own,omitempty"` // NAME.toml is the operator's
	Schedule *Schedule `json:"schedule,omitempty"`
	Visits   Visits    `json:"visits,omitzero"`
	Retry    *Retry    `json:"retry,omitempty"` // of its last visit, until that is done; nil: none

	Stopping bool `json:"stopping"` // it shall not run
	Deleting bool `json:"deleting"` // its files are being removed
}

var name = regexp.MustCompile(`^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$`)

// isName bounds the names of crawls: they are names of files.
func isName(s string) bool { return len(s) <= 102 && name.MatchString(s) }

// files is the folder with the files of crawls.
type files struct{ dir string }

func (f files) path(name, kind string) string { return filepath.Join(f.dir, name+kind) }

const jobFolder = ".weft"

const (
	mostRecord = 64 << 10 // bytes of NAME.json
	mostPlan   = 4 << 20  // bytes of NAME.toml, as weft crawl --config takes them
)

// save writes what is known of a crawl, durably.
func (f files) save(c *Crawl) error {
	text, err := json.Marshal(c)
	if err != nil {
		return err
	}
	return f.write(f.path(c.Name, ".json"), append(text, '\n'))
}

func (f files) write(path string, text []byte) error {
	err := replace(path, func(w io.Writer) error {
		_, err := w.Write(text)
		return err
	})
	if err != nil {
		return err
	}
	return f.sync()
}

// replace writes a file that nobody else can read.
func replace(path string, write func(io.Writer) error) error {
	return atomicfile.Replace(path, 0o600, write)
}

// sync makes the names in the folder durable.
func (f files) sync() error {
	dir, err := os.Open(f.dir)
	if err != nil {
		return err
	}
	return errors.Join(dir.Sync(), dir.Close())
}

// load reads what was saved of a crawl.
func (f files) load(name string) (*Crawl, error) {
	text, err := readAtMost(f.path(name, ".json"), mostRecord)
	if err != nil {
		return nil, err
	}
	c := new(Crawl)
	if err := json.Unmarshal(text, c); err != nil {
		return nil, err
	}
	if c.Name != name {
		return nil, fmt.Errorf("it is that of %.128q", c.Name)
	}
	return c, nil
}

// plan is the text of NAME.toml.
func plan(a Ask) ([]byte, error) {
	table := map[string]any{"urls": a.Seeds}
	for option, values := range a.Options {
		if table[option] = any(values); len(values) == 1 {
			table[option] = values[0]
		}
	}
	text, err := toml.Marshal(map[string]any{"crawl": table})
	if err == nil && len(text) > mostPlan {
		err = fmt.Errorf("%d bytes of URLs and options, expected at most %d", len(text), mostPlan)
	}
	return text, err
}

// readAtMost reads a regular file.
func readAtMost(path string, most int64) ([]byte, error) {
	file, err := regular.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	text, err := io.ReadAll(io.LimitReader(file, most+1))
	if err == nil && int64(len(text)) > most {
		err = fmt.Errorf("longer than %d bytes", most)
	}
	return text, err
}

// mostHosts bounds the hosts that a crawl has for itself.
const mostHosts = 8

// about fills in what is known of the seeds.
func (c *Crawl) about(seeds []string) {
	c.First, c.Seeds, c.Hosts = cut(seeds[0]), len(seeds), nil
	for _, s := range seeds {
		host := hostOf(s)
		if host != "" && !slices.Contains(c.Hosts, host) {
			c.Hosts = append(c.Hosts, host)
		}
		if len(c.Hosts) == mostHosts {
			break
		}
	}
}

// cut returns the beginning of a text.
func cut(text string) string { return text[:min(len(text), 2048)] }

// message is a text of a crawl in a folder, without the place of that.
func message(dir, text string) string { return cut(strings.ReplaceAll(text, dir+"/", "")) }

// complete finishes what a kill has interrupted: writing the options of a crawl, or removing one.
func (f files) complete(c *Crawl) error {
	if c.Deleting {
		return f.remove(c.Name)
	}
	if _, err := os.Lstat(f.path(c.Name, ".toml")); err == nil {
		return nil
	}
	return errors.Join(os.Rename(f.path(c.Name, ".toml-new"), f.path(c.Name, ".toml")), f.sync())
}

// kinds are the ends of the names of a crawl's files and folders. NAME.json is removed last.
var kinds = []string{jobFolder, changesFolder, ".toml-new", ".toml", ".hook", ".log", ".json"}

// remove removes the files of a crawl.
func (f files) remove(name string) error {
	for _, kind := range kinds {
		if err := os.RemoveAll(f.path(name, kind)); err != nil {
			return err
		}
	}
	return f.sync()
}

// hostOf returns the host of a URL as people type it.
func hostOf(text string) string {
	s, err := seed.Read(text)
	if err != nil {
		return ""
	}
	return s.URL.Host()
}
