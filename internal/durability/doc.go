// Package durability has the tests of what outlives a crawl: it is killed, canceled and drained,
// its disk crashes, fails and fills up, in memory and on virtual time, and every run after that
// ends as one undisturbed run does. Its long form is part of make torture.
package durability
