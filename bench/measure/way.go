package measure

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/weftcrawl/weft/bench/lab"
	"golang.org/x/sys/unix"
)

// wayTask configures the process of a way, for each round.
type wayTask struct {
	Way     string
	URLs    []string
	AtOnce  int
	Timeout time.Duration // for each round
}

// digest is a fetched page in short. Equal digests mean equal pages.
type digest struct {
	Status int
	Bytes  int
	SHA256 string
	Error  string // no complete response; the text is not compared
}

func (d digest) same(e digest) bool {
	return d.Status == e.Status && d.Bytes == e.Bytes && d.SHA256 == e.SHA256 && (d.Error == "") == (e.Error == "")
}

func (d digest) String() string {
	if d.Error != "" {
		return "no complete response: " + d.Error
	}
	return fmt.Sprintf("status %d, %d bytes, SHA-256 %.16s", d.Status, d.Bytes, d.SHA256)
}

// outcome is the outcome of a round.
type outcome struct {
	Wall        time.Duration
	CPU         time.Duration
	Switches    int64
	Pages       []digest
	MaxResident int64  // so far
	Error       string // of the way itself
}

// before is the message of a way before its first round.
type before struct {
	Resident int64
}

// runWay runs the process of a way. Each message after its task starts a round.
func runWay(ways []lab.Way, in *json.Decoder, out *json.Encoder) error {
	var t wayTask
	if err := in.Decode(&t); err != nil {
		return err
	}
	i := slices.IndexFunc(ways, func(w lab.Way) bool { return w.Name == t.Way })
	if i < 0 {
		return fmt.Errorf("%q: no such way", t.Way)
	}
	messages := make(chan json.RawMessage)
	go func() {
		for {
			var message json.RawMessage
			if in.Decode(&message) != nil { // also during a round
				os.Exit(0)
			}
			messages <- message
		}
	}()
	if err := out.Encode(before{lookAt(os.Getpid()).resident}); err != nil {
		return err
	}
	for range messages {
		if err := out.Encode(t.round(ways[i])); err != nil {
			return err
		}
	}
	return nil
}

func (t *wayTask) round(way lab.Way) outcome {
	ctx, cancel := context.WithTimeout(context.Background(), t.Timeout)
	defer cancel()
	from, began := used(), time.Now()
	pages, err := way.Fetch(ctx, t.URLs, t.AtOnce)
	wall, to := time.Since(began), used()
	o := outcome{Wall: wall, CPU: to.CPU - from.CPU, Switches: to.Switches - from.Switches, MaxResident: maxResident()}
	switch {
	case err != nil:
		o.Error = named(err)
	case len(pages) != len(t.URLs):
		o.Error = fmt.Sprintf("%d pages of %d", len(pages), len(t.URLs))
	}
	o.Pages = digestsOf(pages)
	return o
}

func digestsOf(pages []lab.Page) []digest {
	all := make([]digest, len(pages))
	for i, p := range pages {
		sum := sha256.Sum256(p.Body)
		all[i] = digest{Status: p.Status, Bytes: len(p.Body), SHA256: hex.EncodeToString(sum[:])}
		if p.Err != nil {
			all[i].Error = named(p.Err)
		}
	}
	return all
}

// named returns the text of an error, with its name in the manual if it is one of the system.
func named(err error) string {
	var errno unix.Errno
	if errors.As(err, &errno) {
		if name := unix.ErrnoName(errno); name != "" {
			return name + ": " + errno.Error()
		}
	}
	return err.Error()
}
