package auth

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/ferrite-metal/ferrite/proto/clientaddr"
	"github.com/ferrite-metal/ferrite/proto/connlimit"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// MaxLinkTime is the longest that a link may hold: it is pasted into chats, and stays in the history of browsers.
const MaxLinkTime = time.Hour

// Link is the stored part of a link that logs its user in once. Its secret is not stored.
type Link struct {
	SHA256  string    `json:"sha256"`
	Made    time.Time `json:"made"`
	Expires time.Time `json:"expires"`
}

// NewLink makes the secret of a link that holds for a while, and the part to store.
func NewLink(now time.Time, lasts time.Duration) (secret string, kept Link, err error) {
	if lasts <= 0 || lasts > MaxLinkTime {
		return "", kept, fmt.Errorf("a link that holds for %s: expected a time of at most %s", lasts, MaxLinkTime)
	}
	var raw [32]byte
	_, _ = rand.Read(raw[:]) // never fails
	secret = base64.RawURLEncoding.EncodeToString(raw[:])
	sum := sha256.Sum256([]byte(secret))
	return secret, Link{SHA256: hex.EncodeToString(sum[:]), Made: now.UTC(), Expires: now.Add(lasts).UTC()}, nil
}

// check refuses a link that NewLink cannot have made.
func (l Link) check() error {
	sum, err := hex.DecodeString(l.SHA256)
	switch {
	case err != nil || len(sum) != sha256.Size:
		return errors.New("a link with a sha256 that is not 64 hexadecimal digits")
	case l.Made.IsZero() || !l.Expires.After(l.Made) || l.Expires.Sub(l.Made) > MaxLinkTime:
		return fmt.Errorf("a link from %s to %s: expected at most %s", l.Made, l.Expires, MaxLinkTime)
	}
	return nil
}

// invitation is the user of a link, and the time in which it holds.
type invitation struct {
	caller        *Caller
	made, expires time.Time
}

// links are the links used since the conductor started. It knows of no earlier use, so it refuses links that were made
// before its start: no link is used twice, and nothing is written. Links are made on the conductor's host. A link with
// a time in the future is refused, since it could be used before a restart and after it.
type links struct {
	started time.Time
	mu      sync.Mutex
	used    map[[sha256.Size]byte]time.Time // until they expire
}

// use uses a link up; false when it was.
func (l *links) use(sum [sha256.Size]byte, expires, now time.Time) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	for other, ends := range l.used {
		if now.After(ends) {
			delete(l.used, other)
		}
	}
	if _, was := l.used[sum]; was {
		return false
	}
	l.used[sum] = expires
	return true
}

// linkRefused is the text of every refusal, so that it does not reveal which links exist.
const linkRefused = "The link is not known here, has expired, was used, or was made before this conductor started: " +
	"make another with: ferrite user link NAME"

// link returns the user of a link. A link can only begin a session, and only once.
func (a *Authenticator) link(w http.ResponseWriter, r *http.Request, secret string) (*Caller, error) {
	if r.Method != http.MethodPost || r.URL.Path != nodeapi.SessionPath || a.sessions == nil {
		return nil, nodeapi.NewFault(http.StatusBadRequest, "A link begins a session, by POST %s, and nothing else.",
			nodeapi.SessionPath)
	}
	from := clientaddr.Of(r)
	if !a.failures.Take(connlimit.Network(from), 1) {
		return nil, tooMany(w, from)
	}
	sum := sha256.Sum256([]byte(secret))
	i, ok := a.users.Get().byLink[sum]
	now := a.now()
	switch {
	case !ok, !now.Before(i.expires), i.made.Before(a.links.started), i.made.After(now):
		return nil, a.failed(w, "", from, linkRefused)
	case !a.links.use(sum, i.expires, now):
		return nil, a.failed(w, i.caller.User, from, linkRefused)
	}
	a.failures.Return(connlimit.Network(from), 1)
	return i.caller, nil
}

// shownLink is the link that a request shows, "" for none.
func shownLink(r *http.Request) string {
	scheme, value, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	if !strings.EqualFold(scheme, nodeapi.LinkScheme) {
		return ""
	}
	return strings.TrimSpace(value)
}
