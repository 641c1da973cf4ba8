// Package live serves one job to the browsers of this machine: a page that shows where the job
// stands and steers its crawl, and the data of the page as JSON.
//
// # Looks
//
// All who look share one look a second; when nobody looks nothing is done. A crawl that runs is
// asked over its socket. The store of a job whose crawl does not run is opened for one request at a
// time and closed again, as no crawl can resume meanwhile; the status is read again only when the
// files of the job have changed.
//
// # Strangers
//
// Everything is below a path that differs from server to server, as orders reach a crawl whose
// socket only its user may open, and any user of the machine can connect. Requests are answered by
// a name of loopback only, orders only to the page's own scripts or to programs that are no
// browsers. The page makes no markup from texts.
package live
