package lab

// Ways are all ways, in the order of the road.
var Ways = []Way{Blocking, Processes, Threads, Busy, Callbacks, Futures, Scheduler, Aio, Goroutines}
