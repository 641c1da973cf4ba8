// Package ctl talks to a running crawl over the socket in its job's folder.
//
// # Vocabulary
//
//   - command: a word and its arguments, which are texts. Its reply is any number of values.
//   - protocol: the version of this conversation. A client of another one gets an error.
//
// # Lifecycle
//
// [Serve] makes ctl.sock, [Dial] finds it, and [Ask] sends a command. Server.Close ends running
// commands and removes the socket. The socket of a killed process stays, and nobody listens on it;
// the next Serve replaces it.
//
// The wire protocol is HTTP, so that curl --unix-socket works: POST /v1/COMMAND with the arguments
// as a form, arg=A&arg=B. The response is lines of JSON: {"value": …} each, or {"error": "…"} as
// the last.
//
// # Concurrency
//
// Any goroutine may use a client or a server. Commands run concurrently.
//
// # Limits
//
// Only the socket's owner may connect. A command has at most 8 MiB, and 10 s to arrive. The
// response header comes at once, and a client waits 5 s for it; the values may take long. A path
// too long for a socket address works on Linux only.
package ctl
