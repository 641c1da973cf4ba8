package aiotest

// CheckLeaksFor is CheckLeaks with a patience of its own.
var CheckLeaksFor = checkLeaks
