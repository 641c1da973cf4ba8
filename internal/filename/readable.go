package filename

import (
	"fmt"
	"path"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/weftcrawl/weft/internal/markup"
	"golang.org/x/text/unicode/norm"
)

// Style makes names for people, who look for a page by what its URL says.
type Style struct {
	Windows bool // names that Windows allows, in paths that are short enough for its programs
}

// Limits of Windows. A path has at most 259 characters there, with the folder that people choose.
const (
	windowsPart = 100 // bytes
	windowsPath = 180
)

// Of returns a relative path for a URL with a body of a media type: host and path, decoded as far
// as letters go, with the extension of the type. Different URLs may have the same path: see [Fold].
func (s Style) Of(url, mime string) string {
	rest, _, _ := strings.Cut(url, "#")
	rest, query, hasQuery := strings.Cut(rest, "?")
	_, rest, _ = strings.Cut(rest, "://")
	host, rest, _ := strings.Cut(rest, "/")
	parts := []string{s.part(hostName(host), "")}
	dir, base := path.Split(rest)
	for part := range strings.SplitSeq(dir, "/") {
		if part != "" {
			parts = append(parts, s.part(part, ""))
		}
	}
	if base == "" {
		base = "index"
	}
	if hasQuery {
		ext := Ext(base)
		base = strings.TrimSuffix(base, ext) + "@" + query + ext
	}
	ext := extension(base, mime)
	name := path.Join(append(parts, s.part(base, ext))...)
	longest := mostPath
	if s.Windows {
		longest = windowsPath
	}
	if len(parts) > mostParts || len(name) > longest {
		return path.Join(parts[0], s.part(Digest(url), extension(Ext(base), mime)))
	}
	return name
}

// part returns a readable part of a path, with an extension. A hidden file, such as .htaccess,
// would be an order to a server.
func (s Style) part(part, ext string) string {
	var b strings.Builder
	for rest := part; rest != ""; {
		r, size, n := decode(rest)
		begins, ends := len(rest) == len(part), len(rest) == n
		switch {
		case size == 0, !allowed(r), r == '.' && (begins || ends && ext == ""), r == ' ' && (begins || ends):
			writeEncoded(&b, rest[:n])
		default:
			b.WriteRune(r)
		}
		rest = rest[n:]
	}
	safe := b.String()
	if s.Windows && isDevice(safe) {
		safe = "_" + safe
	}
	most := mostPart
	if s.Windows {
		most = windowsPart
	}
	if len(safe)+len(ext) > most {
		if ext == "" {
			ext = Ext(safe)
		}
		cut := most - len(ext) - 17
		for !utf8.RuneStart(safe[cut]) {
			cut--
		}
		safe = safe[:cut] + Digest(part)
	}
	return safe + ext
}

// decode returns the character at the start of a part of a URL, percent-encoded or not, and how
// many bytes of the part are its; a size of 0 stands for bytes that are no character.
func decode(s string) (r rune, size, n int) {
	var char [utf8.UTFMax]byte
	length := 0
	for length < len(char) && n < len(s) {
		switch {
		case s[n] != '%':
			char[length] = s[n]
			n++
		case n+2 < len(s) && markup.IsHexDigit(s[n+1]) && markup.IsHexDigit(s[n+2]):
			char[length] = byte(markup.HexValue(s[n+1])<<4 | markup.HexValue(s[n+2]))
			n += 3
		case n == 0:
			return utf8.RuneError, 0, 1
		default:
			n = len(s) // ends the character
			continue
		}
		if length++; utf8.FullRune(char[:length]) {
			if r, size = utf8.DecodeRune(char[:length]); r != utf8.RuneError && size == length {
				return r, size, n
			}
			break
		}
	}
	if s[0] == '%' {
		return utf8.RuneError, 0, min(3, len(s))
	}
	return utf8.RuneError, 0, 1
}

// allowed reports whether a character may stand in a name: any file system allows it, and it is
// seen. Characters that only change how others are shown are not.
func allowed(r rune) bool {
	return unicode.IsPrint(r) && r != utf8.RuneError && !strings.ContainsRune(`"*/:<>?\|%`, r)
}

// writeEncoded writes bytes percent-encoded, and what is encoded already as it is.
func writeEncoded(b *strings.Builder, s string) {
	for ; s != ""; s = s[1:] {
		if len(s) > 2 && s[0] == '%' && markup.IsHexDigit(s[1]) && markup.IsHexDigit(s[2]) {
			b.WriteString(strings.ToUpper(s[:3]))
			s = s[2:]
		} else {
			fmt.Fprintf(b, "%%%02X", s[0])
		}
	}
}

// isDevice reports whether Windows takes a name for a device, whatever its extension.
// See https://learn.microsoft.com/windows/win32/fileio/naming-a-file.
func isDevice(name string) bool {
	base, _, _ := strings.Cut(name, ".")
	base = strings.ToLower(strings.TrimRight(base, " "))
	if rest, numbered := strings.CutPrefix(base, "com"); numbered || strings.HasPrefix(base, "lpt") {
		if !numbered {
			rest = base[len("lpt"):]
		}
		return slices.Contains(strings.Split("0123456789¹²³", ""), rest)
	}
	return slices.Contains([]string{"con", "prn", "aux", "nul", "conin$", "conout$"}, base)
}

// Beside returns a path like another for a URL that may not have it.
func Beside(name, url string) string {
	ext := path.Ext(name)
	return strings.TrimSuffix(name, ext) + Digest(url)[:9] + ext
}

// Fold returns what two paths have in common that are the same to some file system: one that
// ignores case, or how a letter with an accent is spelt.
func Fold(name string) string { return strings.ToLower(strings.ToUpper(norm.NFC.String(name))) }

// extensions are those of a media type, the usual one first.
var extensions = map[string][]string{
	"text/html": {".html", ".htm"}, "application/xhtml+xml": {".xhtml", ".xht"},
	"text/css": {".css"}, "text/javascript": scripts, "application/javascript": scripts, "application/x-javascript": scripts,
	"image/svg+xml": {".svg"}, "application/json": {".json", ".map", ".webmanifest"}, "application/pdf": {".pdf"},
	"application/xml": documents, "text/xml": documents, "application/rss+xml": documents, "application/atom+xml": documents,
	"image/png": pictures(".png"), "image/jpeg": pictures(".jpg"), "image/gif": pictures(".gif"), "image/webp": pictures(".webp"),
	"image/avif": pictures(".avif"), "image/bmp": pictures(".bmp"), "image/x-icon": pictures(".ico"), "image/vnd.microsoft.icon": pictures(".ico"),
	"font/woff": {".woff"}, "font/woff2": {".woff2"}, "font/ttf": {".ttf"}, "font/otf": {".otf"},
	"video/mp4": {".mp4", ".m4v"}, "video/webm": {".webm"}, "audio/mpeg": {".mp3"}, "audio/ogg": {".ogg", ".oga", ".opus"},
}

var (
	scripts   = []string{".js", ".mjs"}
	documents = []string{".xml", ".rss", ".atom", ".rdf", ".xsl", ".xslt", ".xsd"}
)

// pictures returns the extensions of pictures, a usual one first: programs tell one from another by
// their first bytes.
func pictures(usual string) []string {
	return []string{usual, ".png", ".jpg", ".jpeg", ".gif", ".webp", ".avif", ".bmp", ".ico"}
}

// shown are the extensions by which a browser runs or renders a file, whatever is in it.
var shown = []string{
	".html", ".htm", ".xhtml", ".xht", ".xhtm", ".shtml", ".shtm", ".ehtml", ".mht", ".mhtml", ".svg", ".svgz",
	".xml", ".xsl", ".xslt", ".xsd", ".xbl", ".rss", ".atom",
}

// extension returns what a name lacks to be taken for a file of a type.
func extension(base, mime string) string {
	has := strings.ToLower(path.Ext(base))
	switch usual, known := extensions[mime]; {
	case known && !slices.Contains(usual, has):
		return usual[0]
	case known:
		return ""
	case strings.HasPrefix(mime, "text/") && (has == "" || slices.Contains(shown, has)):
		return ".txt"
	case slices.Contains(shown, has):
		return ".bin"
	}
	return ""
}
