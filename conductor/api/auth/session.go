package auth

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// SessionLasts is how long a login of a browser holds.
const SessionLasts = 8 * time.Hour

// maxSession bounds the cookies that are opened; ours are shorter.
const maxSession = 2048

// session is the sealed content of a cookie: the user, the end, and the credentials of the login, as a hash or a token
// of Keystone. The conductor stores nothing of it, so that it outlives a restart, and holds at each conductor of a
// cluster.
type session struct {
	User string `json:"u"`
	// Shown is a hash of the password's line in the htpasswd file, or of the token: a login ends when that is changed or
	// taken away.
	Shown []byte `json:"s"`
	Token bool   `json:"t,omitempty"`
	Link  bool   `json:"l,omitempty"` // begun by a link; Shown is of the password, if the user has one
	// Keystone is a token of OpenStack, which is checked again at each request. The cookie is sealed.
	Keystone string    `json:"k,omitempty"`
	Ends     time.Time `json:"e"`
}

// sessionKeys seal sessions, and make the word that a request must repeat.
type sessionKeys struct {
	seal cipher.AEAD
	word []byte
}

// KeepSessions has the authenticator begin sessions, and take their cookies. key is a secret of all conductors of a
// cluster, of at least 16 bytes. It is called before the first request.
func (a *Authenticator) KeepSessions(key []byte) error {
	if len(key) < aes.BlockSize {
		return fmt.Errorf("key of sessions: expected at least %d bytes, found %d", aes.BlockSize, len(key))
	}
	seal, err := hkdf.Key(sha256.New, key, nil, "ferrite session cookie", sha256.Size)
	if err != nil {
		return fmt.Errorf("key of sessions: %w", err)
	}
	word, err := hkdf.Key(sha256.New, key, nil, "ferrite session word", sha256.Size)
	if err != nil {
		return fmt.Errorf("key of sessions: %w", err)
	}
	block, err := aes.NewCipher(seal)
	if err != nil {
		return fmt.Errorf("key of sessions: %w", err)
	}
	aead, err := cipher.NewGCMWithRandomNonce(block)
	if err != nil {
		return fmt.Errorf("key of sessions: %w", err)
	}
	a.sessions = &sessionKeys{seal: aead, word: word}
	return nil
}

// Session is a login of a browser.
type Session struct {
	Cookie string    // the value of the cookie, see nodeapi.SessionCookie
	Word   string    // which each request that changes something repeats in the header nodeapi.HeaderSession
	Ends   time.Time // in UTC
}

// Begin makes a session of the login of a request that Authenticate has let in. A session makes no other session: it
// would never end.
func (a *Authenticator) Begin(r *http.Request, c *Caller) (Session, error) {
	if a.sessions == nil {
		return Session{}, errors.New("this conductor keeps no sessions")
	}
	s := session{User: c.User, Ends: a.now().Add(SessionLasts).UTC().Truncate(time.Second)}
	switch user, _, basic := r.BasicAuth(); {
	case shownLink(r) != "":
		s.Shown, s.Link = a.shownPassword(c.User), true
	case basic:
		s.Shown = a.shownPassword(user)
	case shownToken(r) != "":
		a.keepToken(&s, shownToken(r))
	default:
		return Session{}, nodeapi.NewFault(http.StatusBadRequest,
			"A session begins with a login: send the user's password (basic) or token (bearer) in the header Authorization.")
	}
	text, err := json.Marshal(s)
	if err != nil {
		return Session{}, fmt.Errorf("begin a session: %w", err)
	}
	if len(text) > maxSession/2 {
		return Session{}, nodeapi.NewFault(http.StatusBadRequest, "The user's name, or the token, is too long for a session")
	}
	cookie := base64.RawURLEncoding.EncodeToString(a.sessions.seal.Seal(nil, nil, text, nil))
	return Session{Cookie: cookie, Word: a.sessions.wordOf(cookie), Ends: s.Ends}, nil
}

// keepToken has a session hold for as long as the token that was shown for it.
func (a *Authenticator) keepToken(s *session, token string) {
	sum := sha256.Sum256([]byte(token))
	s.Shown, s.Token = sum[:], true
	if _, ok := a.granted(sum); ok || a.keystone == nil {
		return
	}
	s.Keystone = token
	if who, ok := a.keystone.Known(token, false); ok && who.Expires.Before(s.Ends) {
		s.Ends = who.Expires.UTC().Truncate(time.Second)
	}
}

// shownToken is the token that a request without a password shows, "" for none.
func shownToken(r *http.Request) string {
	if scheme, value, _ := strings.Cut(r.Header.Get("Authorization"), " "); strings.EqualFold(scheme, "Bearer") {
		return strings.TrimSpace(value)
	}
	return r.Header.Get("X-Auth-Token")
}

// Session is the session that authenticated a request, by its cookie; false for none.
func (a *Authenticator) Session(r *http.Request) (Session, bool) {
	cookie, err := r.Cookie(a.sessionCookie(r))
	if err != nil || a.sessions == nil || r.Header.Get("Authorization") != "" {
		return Session{}, false
	}
	s, err := a.sessions.open(cookie.Value)
	if err != nil {
		return Session{}, false
	}
	return Session{Cookie: cookie.Value, Word: a.sessions.wordOf(cookie.Value), Ends: s.Ends}, true
}

// sessionCookie is the name of the cookie by which a browser shows its session.
func (a *Authenticator) sessionCookie(r *http.Request) string {
	if a.publicURL != "" {
		return nodeapi.SessionCookie(strings.HasPrefix(a.publicURL, "https://"))
	}
	return nodeapi.SessionCookie(r.TLS != nil)
}

// ofSession is the caller of a request that shows a session.
func (a *Authenticator) ofSession(w http.ResponseWriter, r *http.Request, cookie string) (*Caller, error) {
	s, err := a.sessions.open(cookie)
	switch {
	case err != nil:
		return nil, a.challenge(w, "The session is not known: log in")
	case !a.now().Before(s.Ends):
		return nil, a.challenge(w, "The session has ended: log in again")
	}
	c, err := a.holder(w, r, s)
	switch {
	case err != nil:
		return nil, err
	case c == nil:
		return nil, a.challenge(w, "The session has ended, since the login was changed: log in again")
	}
	if !safe(r.Method) && !hmac.Equal([]byte(r.Header.Get(nodeapi.HeaderSession)), []byte(a.sessions.wordOf(cookie))) {
		return nil, nodeapi.NewFault(http.StatusForbidden,
			"A request of a session that changes something needs the header %s, with the token of GET %s",
			nodeapi.HeaderSession, nodeapi.SessionPath)
	}
	return c, nil
}

// holder returns the user of a session, nil when the credentials shown for it no longer hold.
func (a *Authenticator) holder(w http.ResponseWriter, r *http.Request, s session) (*Caller, error) {
	switch {
	case s.Keystone != "":
		if a.keystone == nil {
			return nil, nil
		}
		return a.ofKeystone(w, r, s.Keystone)
	case s.Token:
		if len(s.Shown) != sha256.Size {
			return nil, nil
		}
		g, ok := a.granted([sha256.Size]byte(s.Shown))
		if !ok || g.caller.User != s.User {
			return nil, nil
		}
		return g.caller, nil
	}
	now := a.shownPassword(s.User)
	switch {
	case s.Link && a.users == nil, now == nil && !s.Link, !hmac.Equal(now, s.Shown):
		return nil, nil
	case a.users == nil:
		return &Caller{User: s.User, Role: Admin}, nil
	}
	return a.users.Get().byName[s.User], nil
}

// shownPassword is a hash of a user's line in the htpasswd file, nil for none.
func (a *Authenticator) shownPassword(user string) []byte {
	if a.passwords == nil {
		return nil
	}
	line := a.passwords.Get().hashes[user]
	if line == nil {
		return nil
	}
	sum := sha256.Sum256(line)
	return sum[:]
}

func (k *sessionKeys) open(cookie string) (s session, err error) {
	if len(cookie) > maxSession {
		return s, errors.New("too long")
	}
	sealed, err := base64.RawURLEncoding.Strict().DecodeString(cookie)
	if err != nil {
		return s, fmt.Errorf("session cookie: %w", err)
	}
	text, err := k.seal.Open(nil, nil, sealed, nil)
	if err != nil {
		return s, fmt.Errorf("session cookie: %w", err)
	}
	if err := json.Unmarshal(text, &s); err != nil {
		return s, fmt.Errorf("session cookie: %w", err)
	}
	return s, nil
}

// wordOf is the word of a cookie. A page of another site knows neither.
func (k *sessionKeys) wordOf(cookie string) string {
	mac := hmac.New(sha256.New, k.word)
	mac.Write([]byte(cookie))
	return base64.RawURLEncoding.EncodeToString(mac.Sum(nil))
}

// safe reports whether a method changes nothing (RFC 9110, 9.2.1).
func safe(method string) bool {
	return method == http.MethodGet || method == http.MethodHead || method == http.MethodOptions
}
