package frontier

// NoteOrigins records the state of each origin that has changed since the last call, and the
// counts. With everything recorded before, that is a state to restart from: it ends a batch.
func (f *Frontier) NoteOrigins() {
	j := &f.journal
	j.seal(func(o *origin) {
		s := f.residency.state(f.clock.now, o)
		j.to.Origin(s)
		f.agenda.levels.noted(o, s.Levels)
		f.residency.noted(o.host)
	})
	if j.to != nil {
		s := f.stats()
		s.Leased = len(f.agenda.leased) // no robots.txt and no address: after a restart these are pending
		j.to.Counts(s)
		f.agenda.seen.seal()
	}
}

// Saved reports that all changes up to the last NoteOrigins are committed, and visible to the reads
// of Requests.
func (f *Frontier) Saved() {
	f.agenda.seen.saved()
	f.journal.saved = f.journal.seals
}
