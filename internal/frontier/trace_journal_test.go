package frontier_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/weftcrawl/weft/internal/frontier"
)

// durable runs a command of a crawl with a journal:
//
//	journal                 from now on a journal in memory records each change
//	notes                   prints the notes since the last commit
//	commit                  prints them, after NoteOrigins, and commits them
//	restart                 replaces the frontier by one in the state of the last commit
//	postpone a/1 5s         ends a lease
//	redirect a/1 a/2        reports that the response to a lease was a redirect
//	exclude a/1             refuses the URL from now on
//	wants                   prints the requested refills, and the queue keys they start after
//	read a 2                reads the page of a refill of a, 2 URLs at most
//	refill a                provides that page; reads it now if there is none
func (tr *trace) durable(t *testing.T, line string) string {
	t.Helper()
	name, rest, _ := strings.Cut(line, " ")
	args := strings.Fields(rest)
	switch name {
	case "journal":
		tr.journal, tr.wants = newJournal(t), make(map[string]*want)
		tr.f.SetJournal(tr.journal)
	case "notes":
		return tr.notes()
	case "commit":
		tr.f.NoteOrigins()
		out := tr.notes()
		tr.journal.commit()
		return out
	case "restart":
		tr.f, tr.wants = tr.journal.restore(tr.cfg, at(tr.now)), make(map[string]*want)
	case "postpone":
		tr.f.Postpone(at(tr.now), tr.leased[args[0]], frontier.Result{}, at(duration(t, args[1])))
	case "redirect":
		if !tr.f.Redirect(tr.leased[args[0]], u(t, args[1])) {
			return fmt.Sprintf("%v redirect: not followed\n", tr.now)
		}
	case "exclude":
		tr.f.RefuseBy(func(tested *frontier.URL) (kind, reason string) {
			if short(frontier.URL{URL: tested.URL}) == rest {
				return "excluded", "by the user"
			}
			return "", ""
		})
	case "wants":
		out := ""
		for _, w := range tr.f.Reads() {
			host, _, _ := strings.Cut(strings.TrimPrefix(w.Origin, "http://"), ".")
			tr.wants[host] = &want{Request: w.Early()}
			after := "all of it"
			if w.After.Seq > 0 {
				after = "after " + key(w.After)
			}
			out += fmt.Sprintf("%v wants: %d of %s, %s\n", tr.now, w.N, host, after)
		}
		return out
	case "read":
		tr.read(tr.wants[args[0]], number(t, args[1]))
	case "refill":
		w := tr.wants[rest]
		if !w.read {
			tr.read(w, w.N)
		}
		tr.f.Provide(at(tr.now), w.page)
		return fmt.Sprintf("%v refill: %s, more: %v\n", tr.now, shorts(w.page.URLs), w.page.More)
	default:
		t.Fatalf("%q: unknown command", line)
	}
	return ""
}

func (tr *trace) notes() string {
	out := ""
	for _, note := range tr.journal.notes {
		out += fmt.Sprintf("%v note: %s\n", tr.now, note.text())
	}
	return out
}

func (tr *trace) read(w *want, most int) {
	w.read = true
	w.page = tr.journal.read(w.Request)
	if len(w.page.URLs) > most {
		w.page.URLs, w.page.More = w.page.URLs[:most], true
	}
}
