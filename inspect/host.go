package inspect

import "time"

// HostStatus is a host of a job at a moment. A URL that finished without a request is in none of
// the counts.
type HostStatus struct {
	Host     string `json:"host"` // its origin
	Done     int    `json:"done"`
	Errors   int    `json:"errors,omitempty"` // of these, with an error or a status from 400 on
	Pending  int    `json:"pending"`
	InFlight int    `json:"in_flight"`
	// TookMS is the response time in milliseconds, smoothed; 0: unknown.
	TookMS  float64   `json:"took_ms,omitempty"`
	Pace    int       `json:"pace,omitempty"` // concurrent requests; 0: any number
	DelayMS float64   `json:"delay_ms,omitempty"`
	Asked   time.Time `json:"asked,omitzero"` // last request or response
	// Robots is known, unknown, asked (in flight), unreachable, or off.
	Robots      string    `json:"robots"`
	RobotsUntil time.Time `json:"robots_until,omitzero"`
	Traps       []string  `json:"traps,omitempty"` // shapes that are refused: see Summary.Traps
	Waits       string    `json:"waits,omitempty"` // the reason why it is not requested now, in words
	WaitsUntil  time.Time `json:"waits_until,omitzero"`
}
