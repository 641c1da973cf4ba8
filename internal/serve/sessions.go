package serve

import (
	"crypto/rand"
	"encoding/json"
	"net/http"
	"sync"
	"time"
)

// sessions are those of people at browsers. A cookie is seen by all servers of its host, whatever
// their port: it is no token, and ends with this process.
type sessions struct {
	tokens *Tokens

	mu  sync.Mutex
	all map[string]session // by the hash of the cookie
}

type session struct {
	hash  string // of the token
	until time.Time
}

const (
	cookie       = "weft-session"
	sessionLasts = 12 * time.Hour
	mostSessions = 20      // of a token: one more ends the oldest
	mostSession  = 4 << 10 // bytes of a request for one, which anybody may send
)

// find returns the token of a request's session; nil: it has none.
func (s *sessions) find(r *http.Request) (*Token, error) {
	c, err := r.Cookie(cookie)
	if err != nil {
		return nil, nil
	}
	s.mu.Lock()
	one := s.all[hashOf(c.Value)]
	s.mu.Unlock()
	if time.Now().After(one.until) {
		return nil, nil
	}
	return s.tokens.hashed(one.hash)
}

// begin begins a session for the token in the body of a request.
func (s *sessions) begin(w http.ResponseWriter, r *http.Request) {
	var body struct {
		Token string `json:"token"`
	}
	if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, mostSession)).Decode(&body); err != nil {
		fail(w, http.StatusBadRequest, `expected {"token": "weft_…"}`)
		return
	}
	hash := hashOf(body.Token)
	token, err := s.tokens.hashed(hash)
	switch {
	case err != nil:
		fail(w, http.StatusInternalServerError, "the tokens cannot be read")
		return
	case token == nil:
		fail(w, http.StatusUnauthorized, "there is no such token")
		return
	}
	id := rand.Text()
	now := time.Now()
	s.add(hashOf(id), session{hash, now.Add(sessionLasts)}, now)
	// A server in front that has TLS says so; who says so without one loses the cookie alone.
	secure := r.TLS != nil || r.Header.Get("X-Forwarded-Proto") == "https"
	http.SetCookie(w, &http.Cookie{
		Name: cookie, Value: id, Path: "/", HttpOnly: true, Secure: secure, SameSite: http.SameSiteStrictMode, MaxAge: int(sessionLasts.Seconds()),
	})
	w.WriteHeader(http.StatusNoContent)
}

// add adds a session, and ends those whose time is over.
func (s *sessions) add(key string, one session, now time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	own, oldest := 0, key
	s.all[key] = one
	for key, other := range s.all {
		switch {
		case now.After(other.until):
			delete(s.all, key)
		case other.hash == one.hash:
			if own++; other.until.Before(s.all[oldest].until) {
				oldest = key
			}
		}
	}
	if own > mostSessions {
		delete(s.all, oldest)
	}
}

// end ends the session of a request.
func (s *sessions) end(w http.ResponseWriter, r *http.Request) {
	if c, err := r.Cookie(cookie); err == nil {
		s.mu.Lock()
		delete(s.all, hashOf(c.Value))
		s.mu.Unlock()
	}
	http.SetCookie(w, &http.Cookie{Name: cookie, Path: "/", MaxAge: -1})
	w.WriteHeader(http.StatusNoContent)
}
