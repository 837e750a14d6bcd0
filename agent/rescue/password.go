package rescue

import (
	"crypto/rand"
	"crypto/subtle"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"

	"github.com/GehirnInc/crypt"
	"github.com/GehirnInc/crypt/sha256_crypt"
	"github.com/GehirnInc/crypt/sha512_crypt"
)

// Password is a password in its crypt(3) form with SHA-256 ($5$) or SHA-512
// ($6$): the two Ironic sends.
type Password struct {
	scheme scheme
	salt   []byte
	rounds int
	sum    string // as crypt(3) encodes it
	one    *sync.Mutex
}

// scheme is what tells the two apart.
type scheme struct {
	id  string
	new func() crypt.Crypter
	sum int // length of an encoded sum
}

func schemes() []scheme {
	return []scheme{{"5", sha256_crypt.New, 43}, {"6", sha512_crypt.New, 86}}
}

// alphabet is crypt(3)'s base 64, whose digits are not those of RFC 4648.
const alphabet = "./0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"

// Limits. The work grows with the square of a password's length, and crypt(3)
// allows rounds that take minutes; each guess of a stranger costs as much.
const (
	maxPassword   = 512
	maxSalt       = 16
	defaultRounds = 5000
	minRounds     = 1000
	maxRounds     = 1_000_000
)

// NewPassword takes a password as rescue.finalize_rescue brings it. Errors
// never quote it.
func NewPassword(text string, hashed bool) (Password, error) {
	switch {
	case text == "":
		return Password{}, errors.New("rescue_password is empty: anybody could log in")
	case hashed:
		return parse(text)
	case len(text) > maxPassword:
		return Password{}, fmt.Errorf("rescue_password has %d bytes, expected at most %d", len(text), maxPassword)
	}
	p := Password{scheme: schemes()[1], salt: []byte(rand.Text())[:maxSalt], rounds: defaultRounds, one: new(sync.Mutex)}
	var err error
	p.sum, err = p.hash([]byte(text))
	return p, err
}

// hash is the sum of a password with this one's salt and rounds.
func (p Password) hash(key []byte) (string, error) {
	settings := fmt.Sprintf("$%s$rounds=%d$%s", p.scheme.id, p.rounds, p.salt)
	whole, err := p.scheme.new().Generate(key, []byte(settings))
	if err != nil {
		return "", fmt.Errorf("hash the rescue password: %w", err)
	}
	return whole[strings.LastIndexByte(whole, '$')+1:], nil
}

// parse reads "$5$[rounds=N$]salt$sum" or the same with $6$.
func parse(text string) (Password, error) {
	p := Password{rounds: defaultRounds, one: new(sync.Mutex)}
	parts := strings.Split(text, "$")
	if len(parts) < 4 || parts[0] != "" {
		return p, errors.New("rescue_password is said to be hashed and is no crypt(3) hash: expected $5$SALT$SUM or $6$SALT$SUM")
	}
	for _, s := range schemes() {
		if s.id == parts[1] {
			p.scheme = s
		}
	}
	if p.scheme.new == nil {
		return p, errors.New("rescue_password is hashed in a way that is not built: expected $5$ (SHA-256) or $6$ (SHA-512); set [conductor]rescue_password_hash_algorithm to one of them")
	}
	rest := parts[2:]
	if given, ok := strings.CutPrefix(rest[0], "rounds="); ok {
		n, err := strconv.Atoi(given)
		if err != nil || n < 0 || n > maxRounds {
			return p, fmt.Errorf("rescue_password: its rounds are not a number up to %d", maxRounds)
		}
		p.rounds, rest = max(n, minRounds), rest[1:]
	}
	if len(rest) != 2 || len(rest[0]) > maxSalt || len(rest[1]) != p.scheme.sum || strings.Trim(rest[1], alphabet) != "" {
		return p, fmt.Errorf("rescue_password is not a whole crypt(3) hash: expected a salt of at most %d and a sum of %d characters", maxSalt, p.scheme.sum)
	}
	p.salt, p.sum = []byte(rest[0]), rest[1]
	return p, nil
}

// Matches reports whether a password is the one. One is looked at at a time,
// so that guessing keeps no more than one processor busy.
func (p Password) Matches(given []byte) bool {
	if p.scheme.new == nil || len(given) > maxPassword {
		return false
	}
	p.one.Lock()
	defer p.one.Unlock()
	sum, err := p.hash(given)
	return err == nil && subtle.ConstantTimeCompare([]byte(sum), []byte(p.sum)) == 1
}

// String keeps a password out of logs, hashed as it is.
func (Password) String() string { return "******" }
