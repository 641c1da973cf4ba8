package cluster

import (
	"fmt"
	"regexp"
)

// layout is what a crawl has on the servers, by its name.
type layout string

// layoutVersion is that of all the names, keys and messages of this package.
const layoutVersion = 1

func (l layout) bucket() string     { return "weft_" + string(l) }
func (l layout) linkStream() string { return "weft_" + string(l) + "_links" }
func (l layout) logStream() string  { return "weft_" + string(l) + "_log" }
func (l layout) subject() string    { return "weft." + string(l) }
func (l layout) allLogs() string    { return l.subject() + ".log.>" }

// Keys of the bucket, besides those of package ownership.
const (
	keyPlan = "plan" // a Plan, the last that is written when a crawl begins
)

var nameOf = regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`)

// checkName checks the name of a crawl.
func checkName(name string) error {
	if !nameOf.MatchString(name) {
		return fmt.Errorf("name %.100q: expected up to 64 letters, digits, - and _", name)
	}
	return nil
}
