package inspect

import "github.com/weftcrawl/weft/record"

// Figures are a running crawl as monitoring reads it.
type Figures struct {
	Job   string    `json:"job"` // its folder; "": it has none
	State JobState  `json:"state"`
	Waits []Waiting `json:"waits,omitempty"`
	record.Figures
}
