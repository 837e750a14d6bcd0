package rescue

import (
	"crypto/rand"
	"crypto/subtle"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"

	"github.com/ferrite-metal/ferrite/proto/shacrypt"
)

// Password is a password in its crypt(3) form with SHA-256 ($5$) or SHA-512
// ($6$): the two Ironic sends.
type Password struct {
	scheme shacrypt.Scheme
	salt   []byte
	rounds int
	sum    string // as crypt(3) encodes it
	one    *sync.Mutex
}

// maxRounds limits the work of a guess: crypt(3) allows rounds that take minutes.
const maxRounds = 1_000_000

// NewPassword takes a password from the command rescue.finalize_rescue. Errors
// never quote it.
func NewPassword(text string, hashed bool) (Password, error) {
	switch {
	case text == "":
		return Password{}, errors.New("rescue_password is empty: anybody could log in")
	case hashed:
		return parse(text)
	case len(text) > shacrypt.MaxPassword:
		return Password{}, fmt.Errorf("rescue_password has %d bytes, expected at most %d", len(text), shacrypt.MaxPassword)
	}
	p := Password{
		scheme: shacrypt.SHA512, salt: []byte(rand.Text())[:shacrypt.MaxSalt], rounds: shacrypt.DefaultRounds,
		one: new(sync.Mutex),
	}
	p.sum = p.hash([]byte(text))
	return p, nil
}

// hash is the sum of a password with this one's salt and rounds.
func (p Password) hash(key []byte) string { return p.scheme.Sum(key, p.salt, p.rounds) }

// parse reads "$5$[rounds=N$]salt$sum" or the same with $6$.
func parse(text string) (Password, error) {
	p := Password{rounds: shacrypt.DefaultRounds, one: new(sync.Mutex)}
	parts := strings.Split(text, "$")
	if len(parts) < 4 || parts[0] != "" {
		return p, errors.New("rescue_password is said to be hashed and is no crypt(3) hash: " +
			"expected $5$SALT$SUM or $6$SALT$SUM")
	}
	for _, s := range []shacrypt.Scheme{shacrypt.SHA256, shacrypt.SHA512} {
		if s.ID == parts[1] {
			p.scheme = s
		}
	}
	if p.scheme.ID == "" {
		return p, errors.New("rescue_password is hashed in a way that is not built: " +
			"expected $5$ (SHA-256) or $6$ (SHA-512); " +
			"set [conductor]rescue_password_hash_algorithm to one of them")
	}
	rest := parts[2:]
	if given, ok := strings.CutPrefix(rest[0], "rounds="); ok {
		n, err := strconv.Atoi(given)
		if err != nil || n < 0 || n > maxRounds {
			return p, fmt.Errorf("rescue_password: its rounds are not a number up to %d", maxRounds)
		}
		p.rounds, rest = max(n, shacrypt.MinRounds), rest[1:]
	}
	if len(rest) != 2 || len(rest[0]) > shacrypt.MaxSalt ||
		len(rest[1]) != p.scheme.SumLength || strings.Trim(rest[1], shacrypt.Alphabet) != "" {
		return p, fmt.Errorf("rescue_password is not a whole crypt(3) hash: "+
			"expected a salt of at most %d and a sum of %d characters",
			shacrypt.MaxSalt, p.scheme.SumLength)
	}
	p.salt, p.sum = []byte(rest[0]), rest[1]
	return p, nil
}

// Matches reports whether a password is the right one. Calls take turns, so that
// guessing keeps no more than one processor busy.
func (p Password) Matches(given []byte) bool {
	if p.scheme.ID == "" || len(given) > shacrypt.MaxPassword {
		return false
	}
	p.one.Lock()
	defer p.one.Unlock()
	return subtle.ConstantTimeCompare([]byte(p.hash(given)), []byte(p.sum)) == 1
}

// String keeps the hash of a password out of logs.
func (Password) String() string { return "******" }
