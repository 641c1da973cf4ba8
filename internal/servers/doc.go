// Package servers runs web servers of others over a folder of files, and reads what they log.
//
// # Vocabulary
//
//   - server: a program, as it is installed, or net/http's server in this process.
//   - reload: a server takes in its configuration anew when it is told to: connections end
//     gracefully, and new ones are accepted all the time.
//
// # Lifecycle
//
// [Server.Start] writes a configuration, starts the program and waits until it accepts connections.
// [Running.Requests] says what the program has logged so far. [Running.Stop] ends it.
//
// # Limits
//
// The programs are those of Debian and Node.js, which are found by their names. Each listens on a
// port of 127.0.0.1 that was free a moment before.
package servers
