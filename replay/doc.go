// Package replay serves an archive to browsers: pages look and link as they did, and nothing leaves
// the server.
//
// # Paths
//
//	/                   pages to begin with
//	/DATE/URL           the capture of URL nearest to DATE, in a frame below a banner
//	/*/URL              the calendar of URL's captures
//	/DATEmp_/URL        the capture itself, its URLs rewritten to such paths
//	/DATEid_/URL        the capture as it was archived
//
// DATE has up to 14 digits, from the year on; without it, the latest capture counts. All paths are
// below a root that differs from server to server.
//
// # What is rewritten
//
// URLs in attributes, srcset, style sheets, style attributes, srcdoc, refreshes and redirects. What
// scripts make of URLs is not: a relative one works, and one from the root of the site ("/a.js") or
// with a host does not, and requests of scripts (fetch, XMLHttpRequest) find no response.
//
// A form that is sent by POST brings what was archived for the same body: a login, a search.
//
// # A hostile page
//
// An archived page runs in a sandbox: its origin is opaque, so it can read neither this server's
// own pages nor any other archive, and has no cookies and no storage. A Content-Security-Policy
// lets it load from this server only; the frame it runs in cannot be led elsewhere, and it opens no
// windows. The server changes nothing: there are no orders that a page could give. Requests by
// other names than those of loopback are refused, so that a name that is rebound to loopback leads
// nowhere. Nor can a page elsewhere try which paths there are: it does not know the root. WebRTC
// connections are forbidden by the policy, and connections in advance, such as those of <link
// rel=preconnect>, by Connection-Allowlist: not every browser knows these.
//
// # Proxy
//
// A Proxy serves an archive to a browser that sends it every request: bodies and URLs are as they
// were, so scripts find what they look for. The browser keeps sites apart, as on the Web. For
// https, an Authority signs a certificate for each host. Its key stays in a file that only its
// owner can read, in the configuration of the user and never in an archive; it is valid for 30 days
// and for servers only. Fields that a browser would remember beyond the page, such as
// Strict-Transport-Security, are left out, and service workers are not served. Requests that are
// not for a proxy, such as those of pages on the Web, are refused.
//
// # Limits
//
// Of a document that is rewritten, 32 MiB count. Other bodies are not held in memory. Certificates
// are not kept. A handshake through the proxy, and the head of a request, have 10 seconds and 64
// KiB.
package replay
