// Package natsserver runs a NATS server with JetStream in this process, for the nodes of a crawl.
//
// # Vocabulary
//
//   - store: the folder of a server's streams. One server at a time has it.
//   - peers: all servers of a cluster, each by the address at which the others reach it.
//
// # Lifecycle
//
// [Start] returns when the server takes connections. One of several is of use once most of them are
// there: [Server.Ready] waits for that. [Server.Close] ends it; its store is what the next one in
// that folder begins with. A server whose disk was full has to be started anew in another process:
// see [Options.Failed]. One that is killed loses nothing that it has acknowledged; when the power
// of all servers fails at once, the last second may be missing, but with [Options.Sync].
//
// # Security
//
// Without Login, whoever can connect may read and change every crawl: on a loopback address, all
// users of the machine. [Options.KeepLogin] makes a login that only the server's user can read.
// With Cert, clients and peers speak TLS; with CA, they have to show a certificate of that
// authority.
//
// # Concurrency
//
// Any goroutine may use a Server. Warnings come from goroutines of the server, one at a time.
package natsserver
