// Package crawl opens a crawl: from a [Config], checked and with its defaults filled in, [New]
// opens the job, hands the plan of the job to the rooms that follow it, builds the engine and
// answers questions over the control socket while it runs.
//
// weft.New builds every crawl by it. A package of this module that builds one of its own on a
// user's options takes the Config of these, changes it, and calls New: cluster makes it a [Node].
package crawl
