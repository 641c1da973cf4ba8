package cluster

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// layout is the name of a crawl, and of all that it has on the servers.
type layout string

// layoutVersion is that of all the names, keys and messages of this package.
const layoutVersion = 2

func (l layout) bucket() string     { return "weft_" + string(l) }
func (l layout) linkStream() string { return "weft_" + string(l) + "_links" }
func (l layout) logStream() string  { return "weft_" + string(l) + "_log" }
func (l layout) subject() string    { return "weft." + string(l) }
func (l layout) allLogs() string    { return l.subject() + ".log.>" }
func (l layout) allLinks() string   { return l.subject() + ".links.*" }

func (l layout) log(p int) string   { return l.subject() + ".log." + strconv.Itoa(p) }
func (l layout) links(p int) string { return l.subject() + ".links." + strconv.Itoa(p) }
func (l layout) probe() string      { return l.subject() + ".links.probe" } // see linksLeft

// numberOf returns the partition that a subject of links or of a log is for; -1: nobody of us
// writes to it.
func numberOf(subject string) int {
	text := subject[strings.LastIndexByte(subject, '.')+1:]
	p, err := strconv.Atoi(text)
	if err != nil || p < 0 || strconv.Itoa(p) != text {
		return -1
	}
	return p
}

// asks is the subject of questions to a node; empty: to all of them.
func (l layout) asks(node string) string {
	if node == "" {
		return l.subject() + ".ask"
	}
	return l.subject() + ".ask." + node
}

// bucketStream is the stream that NATS keeps the bucket in.
func (l layout) bucketStream() string { return "KV_" + l.bucket() }

// streamNames are those of all that the crawl has on the servers. The bucket comes first.
func (l layout) streamNames() []string {
	return []string{l.bucketStream(), l.linkStream(), l.logStream()}
}

// aboutAddresses is the subject of messages to a node about addresses.
func (l layout) aboutAddresses(node string) string { return l.subject() + ".address." + node }

// Header fields of messages.
const (
	headerEpoch    = "Weft-Epoch"    // of a log: at which its writer owns the partition
	headerID       = "Weft-Id"       // of a log: of the message, so that its writer knows it again
	headerKind     = "Weft-Kind"     // of a log: see kindOpening
	headerSnapshot = "Weft-Snapshot" // of a log: the last message before a snapshot
	headerWhole    = "Weft-Whole"    // of a log: the last snapshot that is whole
	headerMore     = "Weft-More"     // of a log: the next message continues this one
	headerLater    = "Weft-Later"    // of a log: the message continues the one before
	headerBare     = "Weft-Bare"     // of an opening: the log has nothing but openings
	headerWidened  = "Weft-Opened"   // the revision of the bucket that a reader has to have seen
)

// Keys of the bucket, besides those of package ownership.
const (
	keyPlan    = "plan"    // a Plan, the last that is written when a crawl begins
	keySeeded  = "seeded"  // the seeds are in the streams
	keyOver    = "over"    // the crawl is
	keyLimits  = "limits"  // those of a crawl that has any
	keyOrders  = "orders"  // those in force: see orders
	keyStats   = "stats."  // and the ID of a node: a NodeStatus
	keyWidened = "opened." // and a digest: where links may lead from now on
	keyProbe   = "probe"   // nothing: its writer learns how far the bucket has come
)

var nameOf = regexp.MustCompile(`^[A-Za-z0-9_-]+$`)

// checkName checks the name of a crawl.
func checkName(name string) error {
	if len(name) > 64 || !nameOf.MatchString(name) {
		return fmt.Errorf("name %.100q: expected up to 64 letters, digits, - and _", name)
	}
	return nil
}
