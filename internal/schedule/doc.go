// Package schedule says when a crawl is visited again: at an interval, or at the times of a cron
// expression in a time zone.
//
// # Times
//
// A rule has times, on which all who read it agree: an interval counts from the moment since which
// it holds, a cron expression is of the clock on the wall. A visit is due at its time and a jitter
// that follows from the name of the crawl and that time alone, so that a restart changes nothing.
//
// # Clocks
//
// A time on the wall that a change of the clock skips is the moment of the change; one that is
// there twice is the first of the two. A clock that is set forward makes one visit due, however
// many times it skips; one that is set back makes none due again, unless by more than an interval.
package schedule
