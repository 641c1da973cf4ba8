// Package ctl is the way to a crawl that runs: the socket in its job's folder.
//
// # Vocabulary
//
//   - command: a word and its arguments, texts. It is answered by values, none or many.
//   - protocol: what is spoken, by its number. Whoever asks in another one is told so.
//
// # Lifecycle
//
// [Serve] makes ctl.sock, [Dial] finds it, [Ask] asks. Server.Close ends what is under way
// and takes the socket away. The socket of a process that was killed stays, and answers
// nobody: the next Serve replaces it.
//
// On the wire it is HTTP, so that curl --unix-socket will do: POST /v1/COMMAND with the
// arguments as a form, arg=A&arg=B. The answer is lines of JSON, {"value": …} each, or
// {"error": "…"}, which is the last.
//
// # Concurrency
//
// All of it may be used from any goroutine. Commands run at once, each on its own.
//
// # Limits
//
// Only the socket's owner may connect. A command has at most 8 MiB, and 10 s to arrive. The
// head of its answer comes at once, and a client waits 5 s for it; the values may take long. A
// path that is too long for an address of a socket works on Linux only.
package ctl
