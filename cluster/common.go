package cluster

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/weftcrawl/weft"
	"github.com/weftcrawl/weft/httpclient"
	"github.com/weftcrawl/weft/internal/flat"
)

// sharedOption is an option, and its default in words.
type sharedOption struct {
	name, unset string
	// confirmed: a node is refused unless it is given the same. It decides who gets what the node
	// sends, its secrets among that, and whoever writes to the servers could otherwise decide it.
	confirmed bool
	check     string // the field of Options.Unfollowed; empty: that of weft.Options of this name
}

// in returns the option of o.
func (s *sharedOption) in(o *weft.Options) reflect.Value {
	if s.check != "" {
		return reflect.ValueOf(o.Unfollowed()).Elem().FieldByName(s.check)
	}
	return flat.Field(reflect.ValueOf(o).Elem(), s.name)
}

// common lists the options that all nodes of a crawl share, besides those that a job keeps: how
// sites are asked, and what becomes of a response. All other options belong to a machine: its
// memory, disk and network. A plan has them as they were given.
var common = []sharedOption{
	{name: "PerHost"}, {name: "PerDomain"}, {name: "PerAddress"},
	{name: "Delay"}, {name: "DomainDelay"}, {name: "AddressDelay"},
	{name: "GiveUp", unset: "2h0m0s"}, {name: "Retries", unset: "2"},
	{name: "Timeout", unset: "30s"}, {name: "DialTimeout", unset: "10s"}, {name: "TLSTimeout", unset: "10s"},
	{name: "FirstByteTimeout"}, {name: "IdleTimeout", unset: "15s"},
	{name: "MinRate", unset: "none"}, {name: "MaxBody", unset: "16777216"},
	{name: "UserAgent", unset: weft.DefaultUserAgent}, {name: "Header", unset: "none"},
	{name: "HTTP1", unset: "no"}, {name: "HTTP2", unset: "no"},
	{name: "Insecure", unset: "no", confirmed: true}, {name: "AllowPrivate", unset: "no", confirmed: true}, {name: "Resolve", unset: "none", confirmed: true},
	{name: "CheckAll", check: "All", unset: "no"}, {name: "ExternalHTTPS", check: "HTTPS", unset: "no"}, {name: "ExternalBody", check: "Body", unset: "none"},
	{name: "ArchiveDigest", unset: "sha256"}, {name: "ArchiveMetadata", unset: "no"},
	{name: "HeaderFields", unset: "none"},
}

// options are some of weft.Options by their names, as JSON.
type options map[string]json.RawMessage

// commonOf returns the common options of a node, as given, and the names of the secrets among its
// other options. The servers know no more of a secret than its name.
func commonOf(o *weft.Options) (given options, secrets map[string][]string, err error) {
	all := *o
	all.HTTP.Header, secrets = publicHeader(o)
	given = make(options)
	for _, c := range common {
		v := c.in(&all)
		if words(v, c.unset) == words(reflect.Zero(v.Type()), c.unset) {
			continue
		}
		if given[c.name], err = json.Marshal(v.Interface()); err != nil {
			return nil, nil, err
		}
	}
	return given, secrets, nil
}

// publicHeader returns the fields that hold no secret, and the names of what else the options have
// that does.
func publicHeader(o *weft.Options) (public httpclient.Header, secrets map[string][]string) {
	secrets = make(map[string][]string)
	for _, f := range o.HTTP.Header {
		if f.Shown() {
			public = append(public, f)
		} else {
			secrets["Header"] = append(secrets["Header"], strings.ToLower(f.Name))
		}
	}
	auth := slices.Clone(o.HTTP.Auth)
	for _, text := range o.Seeds {
		if s, err := weft.ReadSeed(text); err == nil && s.Credential != nil {
			// Else the options are refused elsewhere.
			auth = append(auth, *s.Credential)
		}
	}
	for _, c := range auth {
		secrets["Auth"] = append(secrets["Auth"], strings.ToLower(c.Host))
	}
	if o.HTTP.Cookies != nil {
		secrets["Cookies"] = []string{"yes"}
	}
	for name, all := range secrets {
		slices.Sort(all)
		secrets[name] = slices.Compact(all)
	}
	return public, secrets
}

// agree takes the common options of the plan into those of a node, which may leave out those that
// are not confirmed. Its error is a *weft.OptionError with a *weft.PlanError.
func (p *Plan) agree(o *weft.Options) error {
	given, secrets, err := commonOf(o)
	if err != nil {
		return err
	}
	hidden := slices.DeleteFunc(slices.Clone(o.HTTP.Header), httpclient.Field.Shown)
	o.HTTP.Header = slices.DeleteFunc(slices.Clone(o.HTTP.Header), func(f httpclient.Field) bool { return !f.Shown() })
	for name := range p.Common {
		if !slices.ContainsFunc(common, func(c sharedOption) bool { return c.name == name }) {
			return fmt.Errorf("option %.64q of the crawl, which weft %s began: this weft %s does not have it", name, p.Options.Version, weft.Version)
		}
	}
	var differ []weft.Difference
	for _, c := range common {
		v := c.in(o)
		was := reflect.New(v.Type()).Elem()
		if text := p.Common[c.name]; text != nil {
			if err := json.Unmarshal(text, was.Addr().Interface()); err != nil {
				return fmt.Errorf("option %s of the crawl: %w", c.name, err)
			}
		}
		if wanted := words(was, c.unset); (c.confirmed || given[c.name] != nil) && words(v, c.unset) != wanted {
			differ = append(differ, weft.Difference{Option: c.name, Was: wanted, Now: words(v, c.unset)})
		}
		if !c.confirmed {
			v.Set(was)
		}
	}
	o.HTTP.Header = append(o.HTTP.Header, hidden...)
	for _, name := range []string{"Auth", "Header", "Cookies"} {
		if was, is := p.Secrets[name], secrets[name]; !slices.Equal(was, is) {
			differ = append(differ, weft.Difference{Option: name, Was: listed(was), Now: listed(is)})
		}
	}
	if differ == nil {
		return nil
	}
	first := differ[0]
	return &weft.OptionError{Option: first.Option, Value: first.Now, Err: &weft.PlanError{Differences: differ}}
}

// words are the value of an option for people; values with the same words agree.
func words(v reflect.Value, unset string) string {
	if v.IsZero() || v.Kind() == reflect.Slice && v.Len() == 0 {
		if unset == "" {
			return "the default"
		}
		return unset
	}
	switch is := v.Interface().(type) {
	case bool:
		return "yes"
	case time.Duration, int:
		if v.Int() < 0 {
			return "none"
		}
	case httpclient.Header:
		var all []string
		for _, f := range is {
			all = append(all, f.Name+": "+f.Value)
		}
		return strings.Join(all, ", ")
	case []httpclient.Override:
		var all []string
		for _, one := range is {
			all = append(all, one.String())
		}
		return strings.Join(all, ", ")
	}
	return fmt.Sprint(v)
}

func listed(names []string) string {
	if len(names) == 0 {
		return "none"
	}
	return strings.Join(names, ", ")
}
