package auth

import (
	"crypto/sha256"
	"net/http"
	"net/netip"
	"time"

	"github.com/ferrite-metal/ferrite/proto/connlimit"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// Guesses at one account from many addresses are limited, too: by accountBurst
// times what one address may get wrong at once. That does not apply where the
// account has logged in within homeFor, so that strangers cannot lock its user out.
const (
	accountBurst = 5
	homeFor      = 30 * 24 * time.Hour
)

// attempt takes a place for a password before it is looked at: of those that are
// looked at side by side no more may be wrong than of those that come one by one.
// giveBack returns the place when the password was right, or nobody has looked.
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

// tooMany refuses to look at credentials from an address with which too many
// were wrong of late.
func tooMany(w http.ResponseWriter, from netip.Addr) error {
	w.Header().Set("Retry-After", "5")
	return nodeapi.NewFault(http.StatusTooManyRequests, "Too many failed logins from %s; try again in a few seconds", from)
}

// logFailure logs a login that failed.
func (a *Authenticator) logFailure(text string, args ...any) { a.warnings.Info(text, args...) }

// shortened is a name of a stranger's as it is logged.
func shortened(user string) string {
	const most = 64
	if runes := []rune(user); len(runes) > most {
		return string(runes[:most]) + "..."
	}
	return user
}
