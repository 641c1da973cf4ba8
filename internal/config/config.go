// Package config reads a file of options: TOML 1.0, tables named for commands, and profiles.
//
//	user-agent = "example-bot/1.0"  # of every command that has the option
//
//	[crawl]                         # of one command
//	urls = ["https://example.org/"]
//	depth = 3
//
//	[profile.ci]                    # of every command, if the profile is chosen
//	quiet = true
//
//	[profile.ci.crawl]              # of one command, if the profile is chosen
//	max-time = "10m"
//
// It knows nothing of the options: whether there is such a command or option, and what its value
// means, is for the caller.
package config

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/pelletier/go-toml/v2"
	"github.com/pelletier/go-toml/v2/unstable"
)

// Option is one option of a file.
type Option struct {
	Profile string   // "": of all
	Command string   // words, such as "robots test"; "": of every command that has the option
	Name    string   // as the flag, without hyphens before it
	Values  []string // as a person would type them; several only if List
	List    bool     // it is an array
	Line    int      // in the file, from 1
}

// profiles is the table that holds the profiles.
const profiles = "profile"

// Error is a mistake in a file.
type Error struct {
	Line int // from 1
	Err  error
}

func (e *Error) Error() string { return fmt.Sprintf("line %d: %v", e.Line, e.Err) }
func (e *Error) Unwrap() error { return e.Err }

// mostKeys bounds the keys of a file: reading them takes time with the square of their number.
const mostKeys = 10_000

// Parse reads a file of at most 10,000 keys. Its options are in the order of the file. An error is
// an [Error].
func Parse(text []byte) ([]Option, error) {
	if err := checkKeys(text); err != nil {
		return nil, err
	}
	var valid map[string]any
	if err := toml.Unmarshal(text, &valid); err != nil {
		var at *toml.DecodeError
		if errors.As(err, &at) {
			line, _ := at.Position()
			return nil, &Error{line, errors.New(strings.TrimPrefix(at.Error(), "toml: "))}
		}
		return nil, &Error{1, err}
	}
	r := reader{text: text, line: 1}
	r.parser.Reset(text)
	var table []string
	for r.parser.NextExpression() {
		switch e := r.parser.Expression(); e.Kind {
		case unstable.Table:
			table = r.names(e.Key())
		case unstable.ArrayTable:
			return nil, r.fail(fmt.Errorf("[[%s]], expected [%[1]s]", strings.Join(r.names(e.Key()), ".")))
		case unstable.KeyValue:
			if err := r.keyValue(table, e); err != nil {
				return nil, err
			}
		}
	}
	return r.options, nil
}

// checkKeys refuses a file of too many keys. It goes as far as the file is TOML.
func checkKeys(text []byte) error {
	r := reader{text: text, line: 1}
	r.parser.Reset(text)
	for count := 0; r.parser.NextExpression(); {
		if count += r.keys(r.parser.Expression()); count > mostKeys {
			return r.fail(fmt.Errorf("more than %d keys", mostKeys))
		}
	}
	return nil
}

// reader reads a file from its beginning to its end.
type reader struct {
	parser  unstable.Parser
	text    []byte
	line    int // of the last key
	at      int // the last key
	options []Option
}

// keys counts the parts of all keys in an expression or a value.
func (r *reader) keys(n *unstable.Node) (count int) {
	switch n.Kind {
	case unstable.Table, unstable.ArrayTable:
		count = len(r.names(n.Key()))
	case unstable.KeyValue:
		count = len(r.names(n.Key())) + r.keys(n.Value())
	case unstable.Array, unstable.InlineTable:
		for children := n.Children(); children.Next(); {
			count += r.keys(children.Node())
		}
	}
	return count
}

// names returns the parts of a key, and notes its line.
func (r *reader) names(key unstable.Iterator) (all []string) {
	for key.Next() {
		n := key.Node()
		r.line += bytes.Count(r.text[r.at:n.Raw.Offset], []byte("\n"))
		r.at = int(n.Raw.Offset)
		all = append(all, string(n.Data))
	}
	return all
}

func (r *reader) fail(err error) error { return &Error{r.line, err} }

// keyValue takes in a key of a table. The value of a table may stand inline.
func (r *reader) keyValue(table []string, e *unstable.Node) error {
	path := append(slices.Clone(table), r.names(e.Key())...)
	v := e.Value()
	if v.Kind != unstable.InlineTable {
		return r.option(path, v)
	}
	for children := v.Children(); children.Next(); {
		if err := r.keyValue(path, children.Node()); err != nil {
			return err
		}
	}
	return nil
}

// option takes in an option by its path in the file.
func (r *reader) option(path []string, v *unstable.Node) error {
	last := len(path) - 1
	o := Option{Name: path[last], Line: r.line, List: v.Kind == unstable.Array}
	path = path[:last]
	if len(path) > 0 && path[0] == profiles {
		if len(path) == 1 {
			return r.fail(fmt.Errorf("%s.%s: a value, expected a table: [%[1]s.NAME]", profiles, o.Name))
		}
		o.Profile, path = path[1], path[2:]
	}
	o.Command = strings.Join(path, " ")
	if !o.List {
		text, err := valueOf(v)
		o.Values = []string{text}
		r.options = append(r.options, o)
		return r.wrap(o.Name, err)
	}
	for children := v.Children(); children.Next(); {
		text, err := valueOf(children.Node())
		if err != nil {
			return r.wrap(o.Name, err)
		}
		o.Values = append(o.Values, text)
	}
	r.options = append(r.options, o)
	return nil
}

func (r *reader) wrap(name string, err error) error {
	if err != nil {
		return r.fail(fmt.Errorf("%s: %w", name, err))
	}
	return nil
}

// valueOf returns a value as a person would type it on a command line.
func valueOf(v *unstable.Node) (string, error) {
	text := string(v.Data)
	switch v.Kind {
	case unstable.String, unstable.Bool:
		return text, nil
	case unstable.Integer: // in any base, with underscores
		n, err := strconv.ParseInt(text, 0, 64)
		return strconv.FormatInt(n, 10), err
	case unstable.Float:
		return strings.ReplaceAll(text, "_", ""), nil
	}
	return "", errors.New("expected a string, a number, true or false, or an array of these")
}
