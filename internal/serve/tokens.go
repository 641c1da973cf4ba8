package serve

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/weftcrawl/weft/internal/atomicfile"
	"github.com/weftcrawl/weft/internal/crawls"
	"github.com/weftcrawl/weft/internal/regular"
)

// Right is a kind of request that a token allows.
type Right string

// The rights.
const (
	Read   Right = "read"   // see its own crawls and what they brought
	Write  Right = "write"  // start crawls, steer and delete its own
	Fetch  Right = "fetch"  // request pages at once
	Others Right = "others" // read and write crawls of others as if they were its own
)

// words says what a right is to.
func (r Right) words() string {
	if r == Others {
		return "the crawls of others"
	}
	return string(r)
}

// Rights are all rights.
var Rights = []Right{Read, Write, Fetch, Others}

// OwnRights are those that lead to nobody else's crawls.
var OwnRights = []Right{Read, Write, Fetch}

// Limits are those of the holder of a token. 0: none.
type Limits struct {
	Crawls  int     `json:"crawls,omitempty"`  // that run at a time
	Pages   int     `json:"pages,omitempty"`   // URLs of a crawl
	Rate    float64 `json:"rate,omitempty"`    // requests per second of a crawl
	Memory  int     `json:"memory,omitempty"`  // bytes of a crawl
	Fetches int     `json:"fetches,omitempty"` // pages at once
	Queued  int     `json:"queued,omitempty"`  // crawls that wait
	Disk    int     `json:"disk,omitempty"`    // bytes of all crawls
}

// Token is a token as it is kept: without its text.
type Token struct {
	Name    string    `json:"name"`
	Hash    string    `json:"hash"` // SHA-256 of its text, hexadecimal; "": it is removed
	Rights  []Right   `json:"rights"`
	Limits  Limits    `json:"limits"`
	Created time.Time `json:"created"`
}

// isRemoved reports whether nobody is let in by the token any more. Its crawls keep its limits.
func (t *Token) isRemoved() bool { return t.Hash == "" }

// May reports whether the holder has a right.
func (t *Token) May(r Right) bool { return slices.Contains(t.Rights, r) }

// sees reports whether a crawl is there for the holder: he has asked for it, or has the right to
// those of others.
func (t *Token) sees(c *crawls.Crawl) bool { return t.May(Others) || c.By == t.Name }

// allow refuses an order to a crawl, in the words of weft.ParseOrder, that leads beyond the limits
// of the token. The seeds of a crawl of the operator's file may be private addresses: nobody else
// adds to those.
func (t *Token) allow(c *crawls.Crawl, words []string) error {
	if c.Own && t != operator && len(words) > 0 && words[0] == "add" {
		return fmt.Errorf("add: %s is a crawl of a file of the operator, who alone adds to it", c.Name)
	}
	for _, word := range words[min(1, len(words)):] {
		if text, is := strings.CutPrefix(word, "limit="); is && t.Limits.Pages > 0 && words[0] == "set" {
			if n, err := strconv.Atoi(text); err != nil || n < 1 || n > t.Limits.Pages {
				return fmt.Errorf("%.64s: beyond the limit of the token: %d", word, t.Limits.Pages)
			}
		}
		text, is := strings.CutPrefix(word, "rate-limit=")
		if !is || t.Limits.Rate <= 0 || words[0] != "set" {
			continue
		}
		if rate, err := strconv.ParseFloat(text, 64); err != nil || !(rate > 0 && rate <= t.Limits.Rate) {
			return fmt.Errorf("%.64s: beyond the limit of the token: %g", word, t.Limits.Rate)
		}
	}
	return nil
}

// prefix tells scanners of secrets what has leaked.
const prefix = "weft_"

const (
	tokensFile = "tokens.json"
	mostTokens = 1 << 20 // bytes of the file
)

var tokenName = regexp.MustCompile(`^[a-zA-Z0-9][a-zA-Z0-9._@-]*$`)

// Tokens are the tokens of a folder. Another process may change them meanwhile.
type Tokens struct {
	dir string

	mu       sync.Mutex
	required bool        // there is no operator without a token
	seen     fs.FileInfo // the file that all is of; nil: it is to be read
	all      []Token     // as last read, removed ones among them
}

// OpenTokens reads the tokens of a folder.
func OpenTokens(dir string) (*Tokens, error) {
	t := &Tokens{dir: dir}
	_, err := t.List()
	return t, err
}

func (t *Tokens) path() string { return filepath.Join(t.dir, tokensFile) }

// List returns the tokens.
func (t *Tokens) List() ([]Token, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	all, err := t.list()
	return slices.DeleteFunc(slices.Clone(all), func(t Token) bool { return t.isRemoved() }), err
}

// list reads the file again if it is another. It returns removed tokens, too. t.mu is held.
func (t *Tokens) list() ([]Token, error) {
	info, err := os.Stat(t.path())
	if errors.Is(err, fs.ErrNotExist) {
		t.seen = nil
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	if t.seen != nil && os.SameFile(t.seen, info) && info.ModTime().Equal(t.seen.ModTime()) && info.Size() == t.seen.Size() {
		return t.all, nil
	}
	file, err := regular.Open(t.path())
	if err != nil {
		return nil, err
	}
	defer file.Close()
	var all []Token
	if err := json.NewDecoder(io.LimitReader(file, mostTokens)).Decode(&all); err != nil {
		return nil, fmt.Errorf("%s: %w, expected the tokens that weft serve has written", t.path(), err)
	}
	t.seen, t.all = info, all
	t.required = t.required || slices.ContainsFunc(all, func(t Token) bool { return !t.isRemoved() })
	return all, nil
}

// Require has everybody need a token from now on. So does the first token, for as long as this
// process lives: a file that is gone opens nothing.
func (t *Tokens) Require() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.required = true
}

func (t *Tokens) areRequired() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.required
}

// Add makes a token, in place of one of the same name, and returns its text, which is kept nowhere.
func (t *Tokens) Add(name string, rights []Right, l Limits) (string, error) {
	if len(name) > 64 || !tokenName.MatchString(name) {
		return "", errors.New("expected at most 64 letters, digits, and . _ @ - between them")
	}
	text := prefix + strings.ToLower(rand.Text()+rand.Text()[:6])
	return text, t.change(func(all []Token) []Token {
		all = slices.DeleteFunc(all, func(t Token) bool { return t.Name == name })
		return append(all, Token{Name: name, Hash: hashOf(text), Rights: rights, Limits: l, Created: time.Now().UTC()})
	})
}

// Remove removes a token. It reports whether there was one. Its crawls go on, and its limits hold
// for them.
func (t *Tokens) Remove(name string) (had bool, err error) {
	err = t.change(func(all []Token) []Token {
		for i := range all {
			if all[i].Name == name && !all[i].isRemoved() {
				had, all[i].Hash, all[i].Rights = true, "", nil
			}
		}
		return all
	})
	return had, err
}

// change changes the tokens, after others that do.
func (t *Tokens) change(to func([]Token) []Token) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	unlock, err := lockFolder(t.dir)
	if err != nil {
		return err
	}
	defer unlock()
	t.seen = nil // another process may have changed the file as fast as its time ticks
	all, err := t.list()
	if err != nil {
		return err
	}
	text, err := json.MarshalIndent(append([]Token{}, to(slices.Clone(all))...), "", "  ")
	if err != nil {
		return err
	}
	t.seen = nil
	return atomicfile.Replace(t.path(), 0o600, func(w io.Writer) error {
		_, err := w.Write(append(text, '\n'))
		return errors.Join(err, t.handOver(w))
	})
}

// lockFolder waits for other processes that change a folder. It makes no file there: whoever owns
// the folder may not be who locks it.
func lockFolder(dir string) (unlock func() error, err error) {
	folder, err := os.Open(dir)
	if err != nil {
		return nil, err
	}
	for {
		err = syscall.Flock(int(folder.Fd()), syscall.LOCK_EX)
		switch {
		case errors.Is(err, syscall.EINTR):
			continue
		case err != nil && !errors.Is(err, syscall.EBADF): // NFS locks only what may be written
			return nil, errors.Join(err, folder.Close())
		}
		return folder.Close, nil
	}
}

// handOver gives a file that root writes to the owner of the folder, whose server reads it. The
// file may have another's in its place by now: it is known by its descriptor.
func (t *Tokens) handOver(w io.Writer) error {
	if os.Geteuid() != 0 {
		return nil
	}
	info, err := os.Stat(t.dir)
	if err != nil {
		return err
	}
	owner, ok := info.Sys().(*syscall.Stat_t)
	file, is := w.(interface{ Chown(uid, gid int) error })
	if !ok || !is || owner.Uid == 0 {
		return nil
	}
	return file.Chown(int(owner.Uid), int(owner.Gid))
}

func hashOf(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

// operator stands for everybody as long as there is no token.
var operator = &Token{Rights: Rights}

// hashed returns the token of a hash; nil: there is none. Hashes are compared, so that the time it
// takes tells nothing of a token.
func (t *Tokens) hashed(hash string) (*Token, error) {
	all, err := t.List()
	if err != nil {
		return nil, err
	}
	for i := range all {
		if all[i].Hash == hash {
			return &all[i], nil
		}
	}
	return nil, nil
}

// holds reports whether somebody may still look at a crawl.
func (t *Tokens) holds(by *Token, c *crawls.Crawl) bool {
	if by == operator {
		_, err := t.List()
		return err == nil && !t.areRequired()
	}
	now, err := t.hashed(by.Hash)
	return err == nil && now != nil && now.May(Read) && now.sees(c)
}

// LimitsOf returns the limits of the holder of a token, by its name, even if it is removed.
func (t *Tokens) LimitsOf(name string) Limits {
	t.mu.Lock()
	defer t.mu.Unlock()
	_, _ = t.list() // if the file cannot be read, or is gone, those that were read last still hold
	for i := range t.all {
		if t.all[i].Name == name {
			return t.all[i].Limits
		}
	}
	return Limits{}
}
