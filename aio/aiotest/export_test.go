package aiotest

// CheckLeaksFor is CheckLeaks that is less patient.
var CheckLeaksFor = checkLeaks
