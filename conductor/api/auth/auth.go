// Package auth identifies the sender of a request and its rights: HTTP basic against an htpasswd file, bearer tokens
// and roles from a users file, and the policy, one table of the role that each act needs.
//
// It reads those two files, again whenever they change, and writes none. It knows no resource and no node, only the
// projects to which a record belongs. Package api asks it, and package agents does not: the agents' endpoints are open
// to strangers, and checked there.
package auth

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"log/slog"
	"net/http"
	"net/netip"
	"strings"
	"time"

	"github.com/ferrite-metal/ferrite/conductor/server/ratelimit"
	"github.com/ferrite-metal/ferrite/conductor/server/reload"
	"github.com/ferrite-metal/ferrite/proto/clientaddr"
	"github.com/ferrite-metal/ferrite/proto/connlimit"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// Options configure an Authenticator.
type Options struct {
	// Htpasswd is the file of passwords; "" when none are taken.
	Htpasswd string
	// Users is the file of users, with roles and tokens; "" when everybody in the
	// htpasswd file is an admin, as with Ironic.
	Users string
	// Tokens says that tokens of the users file are taken.
	Tokens bool
	// Keystone takes tokens of OpenStack; nil when none are taken. An admin of one of AdminProjects, by name in the
	// domain of Keystone's service user, is an admin of the whole system.
	Keystone      Keystone
	AdminProjects []string
	// Policy replaces rules of the policy; nil for none.
	Policy *PolicyFile
	// PublicURL is the URL by which browsers reach the conductor, where that is another than its own; "" else.
	PublicURL string
	Log       *slog.Logger
	// FailureRate is how many logins a second may fail from one address before it
	// is turned away, FailureBurst how many at once; 1 and 20 when 0.
	FailureRate, FailureBurst float64
	// Now is the clock; time.Now when nil.
	Now func() time.Time
}

// maxTurns bounds the passwords checked at a time.
const maxTurns = 2

// Authenticator identifies the sender of a request. It is safe for concurrent use.
type Authenticator struct {
	passwords *reload.Files[*passwords] // nil when none are taken
	users     *reload.Files[*directory] // nil when there is no such file
	tokens    bool
	keystone  Keystone // nil when it is not asked
	failures  *ratelimit.Limiter[netip.Addr]
	guesses   *ratelimit.Limiter[[sha256.Size]byte] // of passwords, by the hash of the account's name
	homes     *passwordCache                        // the networks from which an account has logged in
	turns     *turns
	warnings  *ratelimit.Lines // about all of them
	sessions  *sessionKeys     // nil when none are kept
	policy    *PolicyFile      // nil when no rule is replaced
	links     links
	log       *slog.Logger
	now       func() time.Time

	adminProjects []string
	publicURL     string
}

// New reads the files.
func New(o Options) (*Authenticator, error) {
	if o.FailureRate == 0 {
		o.FailureRate = 1
	}
	if o.FailureBurst == 0 {
		o.FailureBurst = 20
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	a := &Authenticator{
		tokens: o.Tokens, publicURL: o.PublicURL, keystone: o.Keystone, adminProjects: o.AdminProjects,
		policy:   o.Policy,
		failures: ratelimit.New[netip.Addr](o.FailureRate, o.FailureBurst, o.Now),
		guesses:  ratelimit.New[[sha256.Size]byte](o.FailureRate, accountBurst*o.FailureBurst, o.Now),
		homes:    newMemory(homeFor),
		turns:    newTurns(maxTurns), warnings: ratelimit.NewLines(o.Log, o.Now), log: o.Log, now: o.Now,
		links: links{started: o.Now(), used: map[[sha256.Size]byte]time.Time{}},
	}
	var err error
	if o.Htpasswd != "" {
		if a.passwords, err = reload.Open(o.Log, func(c [][]byte) (*passwords, error) { return parsePasswords(c[0]) },
			o.Htpasswd); err != nil {
			return nil, err
		}
	}
	if o.Users != "" {
		if a.users, err = reload.Open(o.Log, func(c [][]byte) (*directory, error) { return parseDirectory(c[0]) },
			o.Users); err != nil {
			return nil, err
		}
	}
	return a, nil
}

// Policy is the file that replaces rules of the policy; nil for none.
func (a *Authenticator) Policy() *PolicyFile { return a.policy }

// directory indexes the users by name, by token and by link.
type directory struct {
	byName  map[string]*Caller
	byToken map[[sha256.Size]byte]grant
	byLink  map[[sha256.Size]byte]invitation
	listed  []User
}

// grant is the user of a token and the token's end; it never ends when zero.
type grant struct {
	caller  *Caller
	expires time.Time
}

func parseDirectory(raw []byte) (*directory, error) {
	u, err := ParseUsers(raw)
	if err != nil {
		return nil, err
	}
	d := &directory{byName: map[string]*Caller{}, byToken: map[[sha256.Size]byte]grant{},
		byLink: map[[sha256.Size]byte]invitation{}, listed: u.Users}
	for _, user := range u.Users {
		role, err := ParseRole(user.Role)
		if err != nil {
			return nil, err
		}
		c := &Caller{User: user.Name, Role: role, Project: user.Project}
		d.byName[user.Name] = c
		for _, t := range user.Tokens {
			var sum [sha256.Size]byte
			if _, err := hex.Decode(sum[:], []byte(t.SHA256)); err != nil {
				return nil, fmt.Errorf("user %s, token %q: %w", user.Name, t.Label, err)
			}
			g := grant{caller: c}
			if t.Expires != nil {
				g.expires = *t.Expires
			}
			d.byToken[sum] = g
		}
		for _, l := range user.Links {
			var sum [sha256.Size]byte
			if _, err := hex.Decode(sum[:], []byte(l.SHA256)); err != nil {
				return nil, fmt.Errorf("user %s, link: %w", user.Name, err)
			}
			d.byLink[sum] = invitation{caller: c, made: l.Made, expires: l.Expires}
		}
	}
	return d, nil
}

// Authenticate identifies the sender of a request, or answers a Fault: 401 with a WWW-Authenticate header that lists
// the accepted credentials, 400 for unreadable credentials, 429 for an address with too many failures.
func (a *Authenticator) Authenticate(w http.ResponseWriter, r *http.Request) (*Caller, error) {
	a.policy.look()
	c, err := a.caller(w, r)
	account, _, _ := r.BasicAuth()
	admitted := a.note(r.Context(), c, account)
	if err == nil {
		connlimit.Known(r)
		if err = admitted; err != nil {
			w.Header().Set("Retry-After", "60")
		}
	} else if len(w.Header()["Www-Authenticate"]) > 0 && r.Header.Get(nodeapi.HeaderSession) != "" {
		// The page asks for the password itself. At "Basic" a browser would do so first, and keep it.
		w.Header().Set("WWW-Authenticate", "Ferrite-Session"+realm)
	}
	return c, err
}

func (a *Authenticator) caller(w http.ResponseWriter, r *http.Request) (*Caller, error) {
	scheme, value, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	token := r.Header.Get("X-Auth-Token")
	switch {
	case (a.tokens || a.keystone != nil) && strings.EqualFold(scheme, "Bearer"):
		return a.bearer(w, r, strings.TrimSpace(value))
	case a.passwords != nil && strings.EqualFold(scheme, "Basic"):
		return a.basic(w, r)
	case a.users != nil && strings.EqualFold(scheme, nodeapi.LinkScheme):
		return a.link(w, r, strings.TrimSpace(value))
	case (a.tokens || a.keystone != nil) && token != "":
		return a.bearer(w, r, token)
	case scheme != "":
		return nil, nodeapi.NewFault(http.StatusBadRequest, "Unsupported authorization type %q", scheme)
	}
	if cookie, err := r.Cookie(a.sessionCookie(r)); err == nil && a.sessions != nil {
		return a.ofSession(w, r, cookie.Value)
	}
	return nil, a.challenge(w, "Authorization required")
}

const realm = ` realm="Baremetal API"`

// challenge is a 401 that lists the accepted credentials.
func (a *Authenticator) challenge(w http.ResponseWriter, why string) error {
	if a.passwords != nil {
		w.Header().Add("WWW-Authenticate", "Basic"+realm)
	}
	if a.tokens {
		w.Header().Add("WWW-Authenticate", "Bearer"+realm)
	}
	if a.keystone != nil { // as keystonemiddleware: clients log in there
		w.Header().Add("WWW-Authenticate", `Keystone uri="`+a.keystone.URL()+`"`)
	}
	return nodeapi.NewFault(http.StatusUnauthorized, "%s", why)
}

func (a *Authenticator) basic(w http.ResponseWriter, r *http.Request) (*Caller, error) {
	user, password, ok := r.BasicAuth()
	if !ok {
		return nil, nodeapi.NewFault(http.StatusBadRequest, "Could not decode authorization token")
	}
	passwords := a.passwords.Get()
	if passwords.known.has(user, password, a.now()) {
		return a.named(w, user)
	}
	from := clientaddr.Of(r)
	giveBack, err := a.attempt(w, user, from)
	if err != nil {
		return nil, err
	}
	right, err := passwords.match(r.Context(), a.turns, from, a.now, user, password)
	if err != nil { // the password was not checked
		giveBack()
		return nil, err
	}
	if !right {
		return nil, a.failed(w, user, from, "Incorrect username or password")
	}
	giveBack()
	a.homes.add(user, connlimit.Network(from).String(), a.now())
	return a.named(w, user)
}

// named finds a user by name, after a right password.
func (a *Authenticator) named(w http.ResponseWriter, user string) (*Caller, error) {
	if a.users == nil {
		return &Caller{User: user, Role: Admin}, nil
	}
	if c := a.users.Get().byName[user]; c != nil {
		return c, nil
	}
	a.log.Warn("a user has a password and no role: give the user one with `ferrite user set NAME --role ROLE`", "user", user)
	return nil, a.challenge(w, "Incorrect username or password")
}

// bearer finds a token by its hash, so that the time of a look-up reveals nothing of the
// tokens.
func (a *Authenticator) bearer(w http.ResponseWriter, r *http.Request, token string) (*Caller, error) {
	from := clientaddr.Of(r)
	g, ok := a.granted(sha256.Sum256([]byte(token)))
	switch {
	case ok:
		return g.caller, nil
	case a.keystone != nil:
		return a.ofKeystone(w, r, token)
	}
	if !a.failures.Take(connlimit.Network(from), 1) {
		return nil, tooMany(w, from)
	}
	return nil, a.failed(w, "", from, "The token is unknown or has expired")
}

// granted finds the grant of a token of the users file by the token's hash, unless it has expired.
func (a *Authenticator) granted(sum [sha256.Size]byte) (grant, bool) {
	if !a.tokens {
		return grant{}, false
	}
	g, ok := a.users.Get().byToken[sum]
	return g, ok && (g.expires.IsZero() || a.now().Before(g.expires))
}

func (a *Authenticator) failed(w http.ResponseWriter, user string, from netip.Addr, why string) error {
	a.logFailure("login failed", "user", shortened(user), "from", from, "reason", why)
	return a.challenge(w, why)
}
