package weft

import "github.com/weftcrawl/weft/internal/login"

// Login is a recipe that logs in. A sign is a CSS selector; text= with a text that the page has; or
// a URL, or the path of one, in which * stands for anything.
type Login struct {
	URL string

	// Fields are filled in as they come, on one page or on several.
	Fields []LoginField
	Submit string // CSS selector of the button; empty: that of the form with the password

	Success   string // sign of being logged in; empty: no page asks for a password any more
	SignedOut string // sign of being logged out, for crawls; empty: the login page alone
}

// LoginField is a field of a form: its name, or a CSS selector, and its value.
type LoginField struct{ Name, Value string }

// String is the name of the field without its value.
func (f LoginField) String() string { return f.Name }

// GoString is String, so that no format reveals the value.
func (f LoginField) GoString() string { return f.Name }

// Session logs requests in: see HTTP.Session. Any goroutine may use it. The zero value has nothing.
type Session struct{ session login.Session }

// inner returns the session as other rooms have it; s may be nil.
func (s *Session) inner() *login.Session {
	if s == nil {
		return nil
	}
	return &s.session
}

// CheckSign returns why a text is no sign: see [Login].
func CheckSign(text string) error { return login.CheckSign(text) }

// OpenSession reads a file that [LogIn] has written, or one of cookies in Netscape's format.
func OpenSession(file string) (*Session, error) {
	s := new(Session)
	return s, s.session.Open(file)
}
