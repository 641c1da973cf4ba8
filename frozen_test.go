package weft

import (
	"reflect"
	"regexp"
	"testing"

	"github.com/weftcrawl/weft/extract"
	"github.com/weftcrawl/weft/internal/job"
	"github.com/weftcrawl/weft/weburl"
)

// perRun lists the options that may differ between the runs of a job. Every other field of Options
// is frozen: it decides which URLs belong to the crawl, or what the job keeps of them.
var perRun = []string{
	"SeedSeq", "Seeds", "Posts", // compared separately: see job.Plan
	"Limit", "MaxTime", "GiveUp",
	"Concurrency", "PerHost", "PerDomain", "PerAddress", "Delay", "DomainDelay", "AddressDelay", "RateLimit", "Memory",
	"Timeout", "DialTimeout", "TLSTimeout", "FirstByteTimeout", "IdleTimeout", "MinRate", "Retries", "MaxBody",
	"Header", "Cookies", "Auth", "Proxy", "HTTP1", "HTTP2", "Insecure", "RootCAs", "AllowPrivate", "Resolve", "DNS",
	"Job", "Fresh", "Update", "RetryFailed", "Amend", "MinFree", "ArchiveSize", "ArchiveDigest", "ArchiveMetadata", "Output", "Format", "Fields",
	"Hooks", "Loops", "Loop",
}

// TestEveryOptionIsClassified checks that every option is listed either as frozen or as per run.
func TestEveryOptionIsClassified(t *testing.T) {
	class := make(map[string]string)
	note := func(name, as string) {
		if was, twice := class[name]; twice {
			t.Errorf("%s is listed as %s and as %s", name, was, as)
		}
		class[name] = as
	}
	for _, f := range job.Frozen {
		note(f.Name, "frozen")
	}
	for _, name := range perRun {
		note(name, "per run")
	}
	options := reflect.TypeFor[Options]()
	for i := range options.NumField() {
		name := options.Field(i).Name
		if class[name] == "" {
			t.Errorf("option %s is neither in job.Frozen nor in perRun", name)
		}
		delete(class, name)
	}
	for name, as := range class {
		t.Errorf("%s is listed as %s, but is no option", name, as)
	}
}

// TestPlanHasFrozenOptions checks that the plan takes each frozen option.
func TestPlanHasFrozenOptions(t *testing.T) {
	canon, err := weburl.ParseRules("sort-query,drop-tracking")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range job.Frozen {
		var given Options
		field := reflect.ValueOf(&given).Elem().FieldByName(f.Name)
		switch field.Interface().(type) {
		case []*regexp.Regexp:
			field.Set(reflect.ValueOf([]*regexp.Regexp{regexp.MustCompile("a+")}))
		case weburl.RuleSet:
			field.Set(reflect.ValueOf(canon))
		case []extract.Rule:
			field.Set(reflect.ValueOf([]extract.Rule{{Name: "p", Fields: []extract.Field{{Name: "n", Select: "h1", List: true, Fields: []extract.Field{{Name: "m", Select: "b"}}}}}}))
		default:
			switch field.Kind() {
			case reflect.Bool:
				field.SetBool(true)
			case reflect.Int:
				field.SetInt(7)
			default:
				field.SetString("domain")
			}
		}
		p := given.plan(nil)
		if reflect.ValueOf(p).FieldByName(f.Name).IsZero() {
			t.Errorf("the plan has no %s", f.Name)
		}
	}
}

// TestFrozenOptions: users learn the whole table, in its order.
func TestFrozenOptions(t *testing.T) {
	names := FrozenOptions()
	if len(names) != len(job.Frozen) || names[0] != job.Frozen[0].Name {
		t.Errorf("%q", names)
	}
}
