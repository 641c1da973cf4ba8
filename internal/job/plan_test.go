package job

import (
	"errors"
	"reflect"
	"strings"
	"testing"
)

// filled returns a plan in which every frozen option is set.
func filled(t *testing.T) Plan {
	t.Helper()
	p := Plan{Seeds: []string{"http://a.test/"}}
	for i := range Frozen {
		v := Frozen[i].field(&p)
		switch v.Kind() {
		case reflect.Bool:
			v.SetBool(true)
		case reflect.Int:
			v.SetInt(7)
		case reflect.String:
			v.SetString("set")
		case reflect.Slice:
			v.Set(reflect.ValueOf([]string{"one", "two"}))
		default:
			t.Fatalf("%s is of kind %s", Frozen[i].Name, v.Kind())
		}
	}
	return p
}

// TestPlanIsFrozen: each frozen option that differs is an error that names it; each that is unset
// is the job's.
func TestPlanIsFrozen(t *testing.T) {
	was := filled(t)
	for i := range Frozen {
		o := &Frozen[i]
		now := was
		o.field(&now).SetZero()
		_, err := was.resume(now, false)
		var wrong *PlanError
		if !errors.As(err, &wrong) || len(wrong.Differences) != 1 || wrong.Differences[0].Option != o.Name || !errors.Is(err, ErrPlan) {
			t.Errorf("%s differs: %v", o.Name, err)
		}
		if p := now.inherit(&now, &was); !reflect.DeepEqual(p, was) {
			t.Errorf("%s is unset: %+v, expected %+v", o.Name, p, was)
		}
		asked := now
		o.field(&asked).Set(o.field(&was))
		if p := now.inherit(&asked, &was); !o.field(&p).IsZero() {
			t.Errorf("%s is set, and inherited all the same", o.Name)
		}
	}
	other := was
	other.Scope, other.KeepLinks, other.Seeds = "any", false, []string{"http://b.test/"}
	if _, err := was.resume(other, false); err == nil || err.Error() != `expected set, as the job began with; option KeepLinks "false": expected true; option Seeds "http://b.test/": expected http://a.test/` {
		t.Errorf("three differ: %v", err)
	}
	reversed := was
	reversed.Include = []string{"two", "one"}
	if _, err := was.resume(reversed, false); err != nil {
		t.Errorf("expressions in another order: %v", err)
	}
	newer := was
	newer.UserAgent = "set/2.0"
	if p, err := was.resume(newer, false); err != nil || p.UserAgent != "set/2.0" {
		t.Errorf("a newer version of the bot: %q, %v", p.UserAgent, err)
	}
}

// TestAmend: seeds and exclusions come on top, exclusions for URLs that wait, too; nothing else may
// change.
func TestAmend(t *testing.T) {
	was := filled(t)
	now := was
	now.Seeds, now.Exclude = []string{"http://b.test/"}, []string{"two", "three"}
	if _, err := was.resume(now, false); !errors.Is(err, ErrPlan) {
		t.Errorf("without amend: %v", err)
	}
	p, err := was.resume(now, true)
	if err != nil || strings.Join(p.Seeds, " ") != "http://a.test/ http://b.test/" || strings.Join(p.Late, " ") != "three" || strings.Join(p.Exclude, " ") != "one two" {
		t.Errorf("%+v, %v", p, err)
	}
	now.Depth = 9
	if _, err := was.resume(now, true); !errors.Is(err, ErrPlan) {
		t.Errorf("with another depth: %v", err)
	}
}
