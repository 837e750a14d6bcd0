package auth

import (
	"crypto/sha256"
	"net/http"
	"net/netip"
	"time"

	"github.com/ferrite-metal/ferrite/proto/connlimit"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// Wrong passwords for one account are limited across all addresses, too: to accountBurst times the burst of one
// address. The limit does not apply to networks from which the account has logged in within homeFor, so that strangers
// cannot lock its user out.
const (
	accountBurst = 5
	homeFor      = 30 * 24 * time.Hour
)

// attempt counts a password as wrong before it is checked. So parallel guesses get no more tries than guesses in
// sequence. giveBack takes the count back when the password was right, or was not checked.
func (a *Authenticator) attempt(w http.ResponseWriter, user string, from netip.Addr) (giveBack func(), err error) {
	network, account := connlimit.Network(from), sha256.Sum256([]byte(user))
	if !a.failures.Take(network, 1) {
		return nil, tooMany(w, from)
	}
	if a.homes.has(user, network.String(), a.now()) {
		return func() { a.failures.Return(network, 1) }, nil
	}
	if !a.guesses.Take(account, 1) {
		a.failures.Return(network, 1)
		a.logFailure("login refused: too many wrong passwords for this account", "user", shortened(user), "from", from)
		w.Header().Set("Retry-After", "5")
		return nil, nodeapi.NewFault(http.StatusTooManyRequests,
			"Too many failed logins of this user; try again in a few seconds, or with a token")
	}
	return func() {
		a.failures.Return(network, 1)
		a.guesses.Return(account, 1)
	}, nil
}

// tooMany refuses to check credentials from an address with too many recent failures.
func tooMany(w http.ResponseWriter, from netip.Addr) error {
	w.Header().Set("Retry-After", "5")
	return nodeapi.NewFault(http.StatusTooManyRequests, "Too many failed logins from %s; try again in a few seconds", from)
}

// logFailure logs a login that failed.
func (a *Authenticator) logFailure(text string, args ...any) { a.warnings.Info(text, args...) }

// shortened cuts a user name from a request to 64 characters for the log.
func shortened(user string) string {
	const most = 64
	if runes := []rune(user); len(runes) > most {
		return string(runes[:most]) + "..."
	}
	return user
}
