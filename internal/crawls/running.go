package crawls

import "time"

// Wait is the reason why a queued crawl does not run.
type Wait struct {
	For   WaitReason `json:"for" enum:"crawls,token,host,crash" doc:"crawls: the server runs no more crawls at a time; token: the token may run no more at a time; host: a crawl of one of its hosts has not ended; crash: its process has crashed, and starts again after a pause"`
	Crawl string     `json:"crawl,omitempty" doc:"the crawl of one of its hosts"`
	Until *time.Time `json:"until,omitempty" doc:"the end of the pause after a crash"`

	Paused bool `json:"paused,omitempty" doc:"that crawl is paused: until it ends, this one waits"`
}

// WaitReason is a cause that keeps a crawl queued.
type WaitReason string

// The reasons.
const (
	ForCrawls WaitReason = "crawls" // as many run as may
	ForToken  WaitReason = "token"  // as many of its user's run as may
	ForHost   WaitReason = "host"   // a crawl of one of its hosts runs
	ForCrash  WaitReason = "crash"  // its process has crashed
)

// Without returns it without the name of the crawl, which is not for everybody.
func (w *Wait) Without() *Wait {
	return &Wait{For: w.For, Until: w.Until}
}

// String says it in words.
func (w *Wait) String() string {
	switch w.For {
	case ForToken:
		return "its token may run no more crawls at a time"
	case ForHost:
		if w.Crawl == "" {
			return "a crawl of one of its hosts is running or paused"
		}
		return "a crawl of one of its hosts is running or paused: " + w.Crawl
	case ForCrash:
		return "a pause after a crash, until " + w.Until.Format(time.TimeOnly)
	}
	return "no more crawls run at a time"
}

// running are the crawls that run, by what they take of others' room.
type running struct {
	all   int
	hosts map[string]string // crawls
	own   map[string]int    // by user
	most  map[string]int    // of a user; 0: any
}

func newRunning() *running {
	return &running{hosts: make(map[string]string), own: make(map[string]int), most: make(map[string]int)}
}

func (r *running) take(e *entry) {
	r.all++
	r.own[e.By]++
	for _, host := range e.Hosts {
		r.hosts[host] = e.Name
	}
}

// waitFor returns the reason for which a crawl waits for those that run; nil: it need not. Two
// crawls of a host would each keep the pace that the host bears.
func (r *running) waitFor(e *entry, now time.Time, o *Options) *Wait {
	if now.Before(e.process.after) {
		until := e.process.after.UTC()
		return &Wait{For: ForCrash, Until: &until}
	}
	for _, host := range e.Hosts {
		if other := r.hosts[host]; other != "" {
			return &Wait{For: ForHost, Crawl: other}
		}
	}
	if r.own[e.By] > 0 {
		most, known := r.most[e.By]
		if !known {
			most = o.Limits(e.By).Running
			r.most[e.By] = most
		}
		if most > 0 && r.own[e.By] >= most {
			return &Wait{For: ForToken}
		}
	}
	if r.all >= o.Running {
		return &Wait{For: ForCrawls}
	}
	return nil
}
