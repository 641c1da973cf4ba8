package mirror

// Complete and WriteVisit are what Site asks and does.
var (
	Complete   = isComplete
	WriteVisit = write
)
