package proof

import (
	"testing"
	"time"

	"github.com/weftcrawl/weft/cluster"
)

// TestTakenOver: the partitions of a node that was struck have owners when its process owns none
// and every partition has an owner. The crawl is restored when nodes fetch from all partitions.
// What they read for that is known a little later.
func TestTakenOver(t *testing.T) {
	at := time.Unix(1000, 0)
	stint := &Stint{Job: "/jobs/n2"}
	c := &crowd{NodesResult: &NodesResult{NodesTask: NodesTask{Logf: t.Logf}, Stints: []*Stint{stint, {Job: "/jobs/n1"}}}}
	node := func(id string, process uint64, has, started, read int) cluster.NodeStatus {
		n := cluster.NodeStatus{ID: id, Name: "machine:/jobs/" + id, Process: process, Partitions: has, Started: started}
		n.Restored = cluster.Restored{Partitions: read, URLs: 10 * read, Seconds: 1}
		return n
	}
	see := func(after time.Duration, nodes ...cluster.NodeStatus) {
		s := &cluster.Status{Partitions: 8, Unowned: 8, Nodes: nodes}
		for _, n := range nodes {
			s.Unowned -= n.Partitions
			s.Total.Started += n.Started
		}
		c.see(s, at.Add(after))
	}
	see(-time.Second, node("n1", 1, 4, 4, 3), node("n2", 2, 4, 4, 0))
	c.statuses.victim = stint.Status
	c.Struck = []Struck{{At: at, before: c.restored()}}
	c.Stints = append(c.Stints, &Stint{Job: "/jobs/n2"})
	for _, step := range []struct {
		after           time.Duration
		nodes           []cluster.NodeStatus
		owned, restored time.Duration
		read            int
	}{
		// Nobody knows.
		{1 * time.Second, []cluster.NodeStatus{node("n1", 1, 4, 4, 3), node("n2", 2, 4, 4, 0)}, 0, 0, 0},
		// It is another process.
		{2 * time.Second, []cluster.NodeStatus{node("n1", 1, 4, 4, 3), node("n2", 3, 0, 0, 0)}, 0, 0, 0},
		{3 * time.Second, []cluster.NodeStatus{node("n1", 1, 6, 4, 3), node("n2", 3, 2, 0, 0)}, 3 * time.Second, 0, 0},
		{4 * time.Second, []cluster.NodeStatus{node("n1", 1, 6, 6, 3), node("n2", 3, 2, 2, 1)}, 3 * time.Second, 4 * time.Second, 0},
		{7 * time.Second, []cluster.NodeStatus{node("n1", 1, 6, 6, 5), node("n2", 3, 2, 2, 2)}, 3 * time.Second, 4 * time.Second, 4},
		{9 * time.Second, []cluster.NodeStatus{node("n1", 1, 4, 4, 5), node("n2", 3, 4, 4, 4)}, 3 * time.Second, 4 * time.Second, 4},
	} {
		see(step.after, step.nodes...)
		is, read := &c.Struck[0], 0
		if is.Read != nil {
			read = is.Read.Partitions
		}
		if is.Owned != step.owned || is.Restored != step.restored || read != step.read {
			t.Errorf("%v: owned after %v, restored after %v, %d read; expected %+v", step.after, is.Owned, is.Restored, read, step)
		}
	}
	if stint.Status.Process != 2 || c.Stints[2].Status.Process != 3 {
		t.Errorf("processes %d and %d", stint.Status.Process, c.Stints[2].Status.Process)
	}
}
