package proof

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/weftcrawl/weft/cluster"
	"github.com/weftcrawl/weft/internal/process"
	"github.com/weftcrawl/weft/internal/webtest"
)

// NodesTask is a crawl by several nodes to run, disturb and judge.
type NodesTask struct {
	Command     string         // the weft command
	Server      string         // the weft-nats command
	Dir         string         // an existing folder for jobs and servers
	Web         webtest.Config // see Web
	Delay       time.Duration  // for hosts, domains and addresses
	Patience    time.Duration  // with one fetch
	Concurrency int            // of each node
	Variants    int            // see Task
	Nodes       int            // 1: no cluster
	Servers     int            // of NATS; each is a process
	Spaces      bool           // each node and each server is a machine of its own: see AtHub
	Blows       []Blow         // in any order, any time apart: after equal shares of the requests
	Seed        uint64         // says when, and which node is struck
	Seeds       int            // hosts whose home pages are seeds; 0: 1
	Flags       []string       // additional ones of the command
	Logf        func(format string, args ...any)
}

// Blow is a fault that strikes a node.
type Blow int

const (
	Kill Blow = iota // its process is killed, and starts again with the job of before
	Lose             // the same, but the disk is gone: another job folder
	Cut              // its link to the servers is down for a while, the one to the web is not
	Off              // all its links are down for a while
)

func (b Blow) String() string {
	return [...]string{"killed, disk kept", "killed, disk lost", "cut off from the servers", "cut off from servers and web"}[b]
}

// Blows are those of the proof: nodes are killed three times, with the loss of a disk twice, and
// the link of one is cut twice.
func Blows() []Blow { return []Blow{Lose, Cut, Kill, Off, Lose} }

// The times of blows.
const (
	back    = 2 * time.Second  // from a kill until the next start; beyond what the servers still read
	away    = 20 * time.Second // for which links are down: twice the time after which others take over
	apart   = 15 * time.Second // from one blow's end to the next
	stuck   = 3 * time.Minute  // without a request: nothing happens any more
	sampled = 100 * time.Millisecond
)

// crawlName is that of the crawl on the servers.
const crawlName = "proof"

// noServers is the exit status of a node that finds no servers.
const noServers = 3

// Struck is a blow to a node.
type Struck struct {
	Blow
	Node     int
	At, Over time.Time
	Requests int               // of the crawl so far
	Owned    time.Duration     // until other processes own its partitions; 0: not before the next blow
	Restored time.Duration     // until all partitions of the crawl are restored; 0: the same
	Read     *cluster.Restored // logs that nodes have read by then, or by the next blow
	Stood    Stood

	before cluster.Restored // logs that all processes had restored
}

// Stint is a run of a node's process.
type Stint struct {
	Node   int
	Job    string
	Took   time.Duration
	CPU    time.Duration
	Peak   int64 // resident bytes
	Killed bool
	Fenced bool               // it ended because others had taken its partitions
	Waited bool               // no servers answered at its begin: they may be slow on a busy machine
	Lost   bool               // its disk was lost
	Status cluster.NodeStatus // the last one

	process *process.Process
	began   time.Time
	stderr  *os.File
}

// NodesResult is the outcome of a NodesTask.
type NodesResult struct {
	NodesTask
	Bound     webtest.Bound
	Verdict   webtest.Verdict
	Records   Records
	Struck    []Struck
	Stints    []*Stint
	Took      time.Duration
	Rate      float64       // requests a second, from the first fifth of the requests to the fourth
	Start     time.Duration // until the first request
	First     time.Duration // until the first fifth
	Last      time.Duration // from the fourth on
	End       time.Duration // from the last request on
	LogPeak   int64         // bytes of the logs on the servers: one copy of them
	LogLeft   int64         // of these, at the end
	ServerCPU time.Duration // of the NATS servers
	WebCPU    time.Duration // of the web and its judge
	Lag       time.Duration // see webtest.Running

	Again Again
	traps int
}

// crowd is a crawl by several nodes that runs.
type crowd struct {
	*NodesResult
	net     *network
	served  *webtest.Running
	cluster []*process.Process
	urls    string // of the NATS servers
	nodes   []*machine
	now     []*Stint // by node; nil: it is down
	waits   []bool   // nodes to start again, once links are up
	losses  []int    // disks that a node has lost
	cut     int      // the node whose links are cut
	rng     *rand.Rand
	due     []int // requests after which blows come
	marks   []mark

	statuses
}

// mark is a number of requests at a time.
type mark struct {
	at       time.Time
	requests int
}

// CrawlByNodes runs a crawl and judges it. The error is one of running or judging; mistakes of the
// nodes are in the result.
func CrawlByNodes(ctx context.Context, task NodesTask) (r *NodesResult, err error) {
	r = &NodesResult{NodesTask: task}
	c := &crowd{NodesResult: r, cut: -1, now: make([]*Stint, task.Nodes), waits: make([]bool, task.Nodes), losses: make([]int, task.Nodes), rng: rand.New(rand.NewPCG(task.Seed, 1))}
	defer func() { err = errors.Join(err, c.close()) }()
	if c.Dir, err = os.MkdirTemp(task.Dir, "nodes"); err != nil {
		return r, err
	}
	if err := c.prepare(ctx); err != nil {
		return r, err
	}
	own, began := process.CPU(), time.Now()
	for i := range task.Nodes {
		if err := c.start(ctx, i); err != nil {
			return r, err
		}
	}
	if err := c.conduct(ctx); err != nil {
		return r, err
	}
	ended := time.Now()
	r.Took, r.WebCPU = ended.Sub(began), process.CPU()-own
	c.look(ctx)
	if from, to, ok := steady(c.marks); ok {
		r.Rate = float64(to.requests-from.requests) / to.at.Sub(from.at).Seconds()
		r.First, r.Last = from.at.Sub(began), ended.Sub(to.at)
		first, last := busy(c.marks)
		r.Start, r.End = first.Sub(began), ended.Sub(last)
	}
	r.Verdict = c.served.Referee.Verdict()
	return r, c.judge()
}

// prepare starts the web, the machines and the NATS servers.
func (c *crowd) prepare(ctx context.Context) (err error) {
	web, dns := c.Web, ""
	if c.Spaces {
		if c.net, err = newNetwork(); err != nil {
			return err
		}
		web.Network, dns = webNetwork, hubOnWeb+":0"
	}
	c.served, err = webtest.Run(web, webtest.Addresses{
		DNS: dns, Rule: &webtest.Rule{Delay: c.Delay, Patience: c.Patience, Lag: lag, Forgets: forgets},
	})
	if err != nil {
		return err
	}
	c.traps = c.served.Web.Traps()
	c.Bound = c.served.Web.Bound(policy(), c.costs())
	c.plan()
	c.Logf("%d hosts, %d URLs, %d requests; bound %v", c.served.Web.Hosts(), c.Bound.URLs, c.Bound.Requests, c.Bound.Longest().Round(time.Second))
	for i := range c.Nodes {
		m, err := c.machine(fmt.Sprint("n", i+1), true)
		if err != nil {
			return err
		}
		c.nodes = append(c.nodes, m)
	}
	if err := c.serve(ctx); err != nil {
		return err
	}
	return c.connect(ctx)
}

// plan draws the order of the blows, and their times: each in a part of the crawl of its own.
func (c *crowd) plan() {
	c.Blows = slices.Clone(c.Blows)
	c.rng.Shuffle(len(c.Blows), func(i, j int) { c.Blows[i], c.Blows[j] = c.Blows[j], c.Blows[i] })
	part := float64(c.Bound.Requests) / float64(len(c.Blows)+1)
	for i := range c.Blows {
		c.due = append(c.due, int(part*(float64(i)+0.5+c.rng.Float64())))
	}
}

func (c *crowd) costs() webtest.Costs {
	t := Task{Delay: c.Delay, Patience: c.Patience, Variants: c.Variants}
	return t.costs()
}

func (c *crowd) machine(name string, crawls bool) (*machine, error) {
	if c.net == nil {
		return &machine{name: name, addr: "127.0.0.1"}, nil
	}
	return c.net.add(name, crawls)
}

// login is that of the NATS servers. Without one, a server that is alone would make its own.
const login = "ada:lovelace"

// serve starts the NATS servers.
func (c *crowd) serve(ctx context.Context) error {
	var all []*machine
	var addrs, peers, urls []string
	for i := range c.Servers {
		m, err := c.machine(fmt.Sprint("s", i+1), false)
		if err != nil {
			return err
		}
		ports, err := process.FreePorts(2)
		if err != nil {
			return err
		}
		all = append(all, m)
		addrs, peers = append(addrs, net.JoinHostPort(m.addr, ports[0])), append(peers, net.JoinHostPort(m.addr, ports[1]))
		urls = append(urls, "nats://"+login+"@"+addrs[i])
	}
	c.urls = strings.Join(urls, ",")
	for i, m := range all {
		args := []string{"--login", login, "--name", m.name, "--listen", addrs[i], "--store", filepath.Join(c.Dir, m.name)}
		if len(all) > 1 {
			args = append(args, "--listen-peers", peers[i], "--peers", strings.Join(peers, ","))
		}
		p, err := m.start(ctx, process.Options{Dir: c.Dir, Pipes: true}, c.Server, args...)
		if err != nil {
			return err
		}
		c.cluster = append(c.cluster, p)
	}
	for i, p := range c.cluster { // each says when it can be used
		if _, err := bufio.NewReader(p.Out).ReadString('\n'); err != nil {
			return fmt.Errorf("server %d: %w", i+1, errors.Join(err, p.Wait()))
		}
	}
	return nil
}

// start starts the process of a node.
func (c *crowd) start(ctx context.Context, i int) (err error) {
	m := c.nodes[i]
	s := &Stint{Node: i, Job: filepath.Join(c.Dir, m.name), began: time.Now()}
	if c.losses[i] > 0 {
		s.Job = fmt.Sprint(s.Job, "-", c.losses[i]+1)
	}
	if s.stderr, err = os.OpenFile(s.Job+".log", os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o666); err != nil {
		return err
	}
	args := []string{"crawl", "--quiet", "--job", s.Job, "--scope", "any", "--allow-private",
		"--concurrency", strconv.Itoa(c.Concurrency), "--delay", c.Delay.String(), "--timeout", c.Patience.String(), "--connect-timeout", dial.String(),
		"--retries", strconv.Itoa(retries), "--max-variants", strconv.Itoa(c.Variants), "--dns", c.served.DNS.Addr()}
	if c.Servers > 0 {
		args = append(args, "--cluster", c.urls, "--name", crawlName)
	}
	args = append(args, c.Flags...)
	for h := range max(1, c.Seeds) {
		args = append(args, c.served.Web.Home(h))
	}
	s.process, err = m.start(ctx, process.Options{Dir: c.Dir, Stderr: s.stderr}, c.Command, args...)
	if err == nil {
		c.now[i] = s
		c.Stints = append(c.Stints, s)
	}
	return err
}

// conduct strikes nodes until all have ended.
func (c *crowd) conduct(ctx context.Context) error {
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	moved, next := time.Now(), time.Now()
	requests := 0
	var mend []func() (bool, error) // the rest of a blow
	var healed time.Time
	for {
		running := false
		for i, s := range c.now {
			if s == nil {
				continue
			}
			select {
			case <-s.process.Ended():
				err := c.ended(s)
				s.Fenced = err != nil && c.cutSince(i, s.began)
				s.Waited = err != nil && !s.Fenced && s.process.ExitCode() == noServers
				if c.waits[i] = s.Fenced || s.Waited; err != nil && !c.waits[i] {
					return fmt.Errorf("node %d: %w", i+1, err)
				}
				c.now[i] = nil
			default:
				running = true
			}
		}
		for i, waits := range c.waits {
			if waits && len(mend) == 0 {
				c.waits[i], running = false, true
				if err := c.start(ctx, i); err != nil {
					return err
				}
			}
		}
		if !running && len(mend) == 0 {
			return nil
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case status := <-c.said:
			c.hear(status, time.Now())
			continue
		case <-tick.C:
		}
		now := time.Now()
		c.ask(ctx, now)
		if n := c.served.Referee.Requests(); n != requests {
			requests, moved = n, now
		}
		if now.Sub(moved) > stuck {
			return fmt.Errorf("no request for %v, after %d of at least %d", stuck, requests, c.Bound.Requests)
		}
		if now.After(next) {
			next = now.Add(sampled)
			c.marks = append(c.marks, mark{now, requests})
		}
		if len(mend) > 0 {
			done, err := mend[0]()
			if err != nil {
				return err
			}
			if done {
				mend, healed = nil, time.Now()
			}
			continue
		}
		if n := len(c.Struck); n < len(c.Blows) && requests >= c.due[n] && now.Sub(healed) > apart && c.look(ctx) {
			then, err := c.strike(ctx, c.Blows[n], requests)
			if err != nil {
				return err
			}
			mend = append(mend, then)
		}
	}
}

// cutSince reports whether a node was cut off after a time.
func (c *crowd) cutSince(i int, began time.Time) bool {
	return slices.ContainsFunc(c.Struck, func(s Struck) bool { return s.Node == i && s.At.After(began) && (s.Blow == Cut || s.Blow == Off) })
}

// strike strikes a node that runs. What it returns is called until it has mended that.
func (c *crowd) strike(ctx context.Context, blow Blow, requests int) (mend func() (bool, error), err error) {
	var running []int
	for i, s := range c.now {
		if s != nil {
			running = append(running, i)
		}
	}
	if len(running) == 0 {
		return func() (bool, error) { return true, nil }, nil
	}
	i := running[c.rng.IntN(len(running))]
	if blow == Cut || blow == Off {
		if c.cut < 0 {
			c.cut = i
		}
		if i = c.cut; c.now[i] == nil {
			return func() (bool, error) { return true, nil }, nil // later
		}
	}
	if n := len(c.Struck); n > 0 && c.Struck[n-1].Read == nil {
		c.Struck[n-1].read(c.restored())
	}
	c.victim, c.next = c.now[i].Status, time.Time{}
	c.Struck = append(c.Struck, Struck{Blow: blow, Node: i, At: time.Now(), Requests: requests, before: c.restored()})
	at := &c.Struck[len(c.Struck)-1]
	c.Logf("%d requests: node %d is %v", requests, i+1, blow)
	switch blow {
	case Kill, Lose:
		s := c.now[i]
		s.process.Kill()
		at.At = time.Now()
		_ = c.ended(s) // it was killed
		s.Killed = true
		c.now[i] = nil
		if s.Lost = blow == Lose; s.Lost {
			c.losses[i]++
			c.markLost(s.Job)
		}
		return func() (bool, error) {
			if time.Since(at.At) < back {
				return false, nil
			}
			at.Over = time.Now()
			return true, c.start(ctx, i)
		}, nil
	}
	links := []string{lineBridge}
	if blow == Off {
		links = append(links, hubBridge)
	}
	if err := c.nodes[i].cut("down", links...); err != nil {
		return nil, err
	}
	return func() (bool, error) {
		if time.Since(at.At) < away {
			return false, nil
		}
		at.Over = time.Now()
		c.Logf("%d requests: node %d is connected again", c.served.Referee.Requests(), i+1)
		return true, c.nodes[i].cut("up", links...)
	}, nil
}

// markLost marks all stints whose job was on a disk.
func (c *crowd) markLost(job string) {
	for _, s := range c.Stints {
		if s.Job == job {
			s.Lost = true
		}
	}
}

// ended takes in the end of a process.
func (c *crowd) ended(s *Stint) error {
	s.Took, s.CPU, s.Peak = time.Since(s.began), s.process.CPU(), s.process.Peak()
	c.Logf("node %d: %s after %v, CPU %v, %d MiB", s.Node+1, s.process.State(), s.Took.Round(time.Second), s.CPU.Round(time.Second), s.Peak>>20)
	return errors.Join(s.process.Wait(), s.stderr.Close())
}

// judge compares the records of all nodes with the truth.
func (c *crowd) judge() (err error) {
	var all []left
	for _, s := range c.Stints {
		if !slices.ContainsFunc(all, func(l left) bool { return l.job == s.Job }) {
			all = append(all, left{s.Node, s.Job, s.Lost})
		}
	}
	c.Records, c.Again, err = compareNodes(all, c.served.Web, c.Struck)
	return err
}

// close ends what still runs.
func (c *crowd) close() (err error) {
	for _, s := range c.now {
		if s != nil {
			s.process.Kill()
		}
	}
	for _, p := range c.cluster {
		p.Signal(syscall.SIGTERM)
	}
	if c.client != nil {
		c.client.Close()
	}
	for i, p := range c.cluster {
		select {
		case <-p.Ended():
			if p.ExitCode() != 0 {
				err = errors.Join(err, fmt.Errorf("server %d: %w", i+1, p.Wait()))
			}
		case <-time.After(20 * time.Second):
			err = errors.Join(err, fmt.Errorf("server %d goes on after SIGTERM", i+1))
			p.Kill()
		}
		c.ServerCPU += p.CPU()
	}
	if c.served != nil {
		err = errors.Join(err, c.served.Close())
		c.Lag = c.served.Lag
	}
	return errors.Join(err, c.net.close())
}

// busy returns when the first request came, and when the last.
func busy(marks []mark) (first, last time.Time) {
	for i, m := range marks {
		if m.requests > 0 && first.IsZero() {
			first = m.at
		}
		if i == 0 || m.requests > marks[i-1].requests {
			last = m.at
		}
	}
	return first, last
}

// steady returns the marks of the first fifth of all requests and of the fourth.
func steady(marks []mark) (first, fourth mark, ok bool) {
	if len(marks) == 0 {
		return first, fourth, false
	}
	all := marks[len(marks)-1].requests
	from := slices.IndexFunc(marks, func(m mark) bool { return m.requests >= all/5 })
	to := slices.IndexFunc(marks, func(m mark) bool { return m.requests >= all/5*4 })
	if from < 0 || to <= from {
		return first, fourth, false
	}
	return marks[from], marks[to], true
}

// NodeCPU is the CPU time of all nodes' processes.
func (r *NodesResult) NodeCPU() (d time.Duration) {
	for _, s := range r.Stints {
		d += s.CPU
	}
	return d
}
