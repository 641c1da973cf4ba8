package mirror

// The steps of Site that need no crawl.
var (
	Complete   = isComplete
	WriteVisit = write
)
