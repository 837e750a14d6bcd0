package redfish

import (
	"crypto/rand"
	"crypto/subtle"
	"encoding/hex"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"time"
)

// session is one login.
type session struct {
	id       string
	token    string
	user     string
	created  time.Time
	lastUsed time.Time
}

// sessions are the logins open now, bounded in number and idle time.
type sessions struct {
	max     int
	timeout time.Duration
	now     func() time.Time

	mu     sync.Mutex
	list   []*session
	lastID int
}

func newSessions(maximum int, timeout time.Duration, now func() time.Time) *sessions {
	return &sessions{max: maximum, timeout: timeout, now: now}
}

// open starts a session, or says that all are taken.
func (l *sessions) open(user string) (session, error) {
	secret := make([]byte, 16)
	rand.Read(secret) // never fails (Go 1.24)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.expire()
	if len(l.list) >= l.max {
		return session{}, problem(sessionLimit)
	}
	l.lastID++
	now := l.now()
	s := &session{id: strconv.Itoa(l.lastID), token: hex.EncodeToString(secret), user: user, created: now, lastUsed: now}
	l.list = append(l.list, s)
	return *s, nil
}

// use reports whether token belongs to an open session, and keeps that session open.
func (l *sessions) use(token string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.expire()
	for _, s := range l.list {
		if subtle.ConstantTimeCompare([]byte(s.token), []byte(token)) == 1 {
			s.lastUsed = l.now()
			return true
		}
	}
	return false
}

// close ends a session and reports whether it existed.
func (l *sessions) close(id string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	before := len(l.list)
	l.list = slices.DeleteFunc(l.list, func(s *session) bool { return s.id == id })
	return len(l.list) < before
}

// clear ends every session, as a controller's reset does.
func (l *sessions) clear() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.list = nil
}

// all is a copy of the open sessions.
func (l *sessions) all() []session {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.expire()
	list := make([]session, len(l.list))
	for i, s := range l.list {
		list[i] = *s
	}
	return list
}

// expire drops sessions idle for too long. The caller holds mu.
func (l *sessions) expire() {
	oldest := l.now().Add(-l.timeout)
	l.list = slices.DeleteFunc(l.list, func(s *session) bool { return s.lastUsed.Before(oldest) })
}

// authenticate accepts a session's token or the account's name and password.
func (s *Server) authenticate(r *http.Request) error {
	if token := r.Header.Get("X-Auth-Token"); token != "" {
		if s.sessions.use(token) {
			return nil
		}
		return problem(noValidSession)
	}
	user, password, ok := r.BasicAuth()
	if !ok {
		return problem(noValidSession)
	}
	return s.checkPassword(r, user, password)
}

// checkPassword is one login attempt, counted.
func (s *Server) checkPassword(r *http.Request, user, password string) error {
	same := subtle.ConstantTimeCompare([]byte(user), []byte(s.config.Username)) &
		subtle.ConstantTimeCompare([]byte(password), []byte(s.config.Password))
	s.counters.login(same == 1)
	if same != 1 {
		return problem(unauthorized, r.URL.Path, "wrong user name or password")
	}
	return nil
}
