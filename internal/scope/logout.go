package scope

import (
	"strings"

	"github.com/weftcrawl/weft/weburl"
)

// A crawl that is logged in leaves links that log out: see docs/adr/0050-logins.md.

// logoutWords are the names of what logs out, in lower case and without hyphens, underscores and
// what follows a dot.
var logoutWords = map[string]bool{
	"logout": true, "logoff": true, "signout": true, "signoff": true, "userlogout": true, "signoutoidc": true, "endsession": true,
	"abmelden": true, "ausloggen": true, // German
	"deconnexion": true, "sedeconnecter": true, "deconnecter": true, // French
	"cerrarsesion": true, "desconectar": true, // Spanish, Portuguese
	"uitloggen": true, "afmelden": true, // Dutch
	"wyloguj": true,                                // Polish
	"loggaut": true, "loggut": true, "logud": true, // Swedish, Norwegian, Danish
}

// logoutKeys are the parameters that name what a URL does.
var logoutKeys = map[string]bool{
	"a": true, "act": true, "action": true, "cmd": true, "do": true, "mode": true, "op": true, "task": true, "title": true, "wpaction": true,
}

// LogsOut reports whether a request for u may log out: a segment of its path is a name of that, or
// a parameter is, or one that names what the URL does.
func LogsOut(u weburl.URL) bool {
	for segment := range strings.SplitSeq(u.Path(), "/") {
		if isLogout(segment) {
			return true
		}
	}
	for parameter := range strings.SplitSeq(u.Query(), "&") {
		key, value, _ := strings.Cut(parameter, "=")
		if isLogout(key) || logoutKeys[strings.ToLower(key)] && isLogout(value) {
			return true
		}
	}
	return false
}

// separators part words that are one name.
var separators = strings.NewReplacer("-", "", "_", "", "%20", "", "+", "", "%C3%A9", "e", "%c3%a9", "e", "%C3%B3", "o", "%c3%b3", "o")

// isLogout reports whether a part of a URL is a name of what logs out: Special:UserLogout,
// sign_out.php.
func isLogout(part string) bool {
	const longest = 40
	if len(part) < len("logud") || len(part) > longest {
		return false
	}
	part, _, _ = strings.Cut(part, ".")
	part, _, _ = strings.Cut(part, ";")
	part = strings.ReplaceAll(strings.ReplaceAll(part, "%3A", ":"), "%3a", ":")
	part = part[strings.LastIndexByte(part, ':')+1:]
	return logoutWords[strings.ToLower(separators.Replace(part))]
}
