package frontier

// tally counts the origins of a partition that are not resident.
type tally struct {
	evicted  int // all of them
	dormant  dormantCount
	answered int   // their URLs that were tried
	joint    []int // as levels.dormant
}

func (t *tally) count(s OriginState, n int) {
	t.evicted += n
	t.dormant.count(s, n)
	t.answered += n * s.Answered
	if s.Pending > 0 && s.Levels.Joint {
		t.joint = countDepth(t.joint, s.Levels.Least, n)
	}
}

// dormantCount counts dormant origins.
type dormantCount struct {
	origins int
	urls    int // pending on them
	tried   int // of these, retries
}

func (c *dormantCount) count(s OriginState, n int) {
	if s.Pending > 0 {
		c.origins += n
		c.urls += n * s.Pending
		c.tried += n * s.Tried
	}
}

// countDepth adds n to the count of a depth.
func countDepth(counts []int, depth, n int) []int {
	for len(counts) <= depth {
		counts = append(counts, 0)
	}
	counts[depth] += n
	return counts
}
