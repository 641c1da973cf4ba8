package engine

import "time"

// SetPatience has a crawl that has not begun wait for d when it drains, instead of DrainTime.
func (c *Crawl) SetPatience(d time.Duration) { c.coordinator.ending.patience = d }

// SetMaxOutbox bounds the messages that wait, in bytes. It is called on the coordinator's loop.
func (n *Node) SetMaxOutbox(bytes int64) { n.crawl.coordinator.sharing.maxOutbox = bytes }
