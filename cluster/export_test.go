package cluster

import "time"

// Hasten makes nodes beat ten times as often.
func (o *Options) Hasten() { o.beat = 200 * time.Millisecond }
