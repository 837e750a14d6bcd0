package auth

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/crypto/bcrypt"
)

// passwords is an htpasswd file, and a cache of the passwords that were right.
type passwords struct {
	hashes map[string][]byte // bcrypt, by user
	known  *passwordCache
	dummy  []byte // bcrypt of random bytes, with the highest cost of the file
}

// maxCost bounds the cost of one login, to about a second of a core.
const maxCost = 14

// bcryptPrefixes are the prefixes of bcrypt hashes by htpasswd and similar programs.
var bcryptPrefixes = []string{"$2a$", "$2b$", "$2x$", "$2y$"}

// parsePasswords reads an htpasswd file. It accepts bcrypt alone, as Ironic does,
// and checks each line. Errors name the line and do not quote it.
func parsePasswords(raw []byte) (*passwords, error) {
	p := &passwords{hashes: map[string][]byte{}, known: newMemory(knownFor)}
	cost := bcrypt.MinCost
	number := 0
	for line := range strings.Lines(string(raw)) {
		number++
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		name, hash, ok := strings.Cut(line, ":")
		c, err := bcrypt.Cost([]byte(hash))
		switch {
		case !ok || name == "":
			return nil, fmt.Errorf("htpasswd file, line %d: expected NAME:HASH", number)
		case err != nil || !isBcrypt(hash):
			return nil, fmt.Errorf("htpasswd file, line %d: the password of %q is no bcrypt hash; "+
				"make one with: ferrite user password %[2]s, or htpasswd -B", number, name)
		case c > maxCost:
			return nil,
				fmt.Errorf("htpasswd file, line %d: the hash of %q has cost %d, which takes seconds a login; the most is %d",
					number, name, c, maxCost)
		case p.hashes[name] != nil:
			return nil, fmt.Errorf("htpasswd file, line %d: %q is there twice", number, name)
		}
		p.hashes[name], cost = []byte(hash), max(cost, c)
	}
	var err error
	var nothing [32]byte
	_, _ = rand.Read(nothing[:]) // never fails
	if p.dummy, err = bcrypt.GenerateFromPassword(nothing[:], cost); err != nil {
		return nil, fmt.Errorf("htpasswd file: %w", err)
	}
	return p, nil
}

func isBcrypt(hash string) bool {
	return slices.ContainsFunc(bcryptPrefixes, func(p string) bool { return strings.HasPrefix(hash, p) })
}

// match reports whether a password is right. One bcrypt takes some 50 ms of a core, so checks take turns, and right
// passwords are remembered for a while.
func (p *passwords) match(ctx context.Context, turns *turns, from netip.Addr, now func() time.Time,
	user, password string) (bool, error) {
	leave, err := turns.enter(ctx, from)
	if err != nil {
		return false, err
	}
	defer leave()
	if p.known.has(user, password, now()) { // meanwhile
		return true, nil
	}
	hash, exists := p.hashes[user]
	if !exists { // an unknown name takes as long, so that names cannot be tried out
		hash = p.dummy
	}
	if bcrypt.CompareHashAndPassword(hash, []byte(password)) != nil || !exists {
		return false, nil
	}
	p.known.add(user, password, now())
	return true, nil
}

// How many right passwords are remembered, and for how long.
const (
	maxKnown = 1024
	knownFor = 5 * time.Minute
)

// passwordCache remembers credentials that were right, under a key of its own: neither its
// contents nor the time of a look-up reveals anything of them. It belongs to one state of
// the htpasswd file, and is gone with it.
type passwordCache struct {
	key   [sha256.Size]byte
	lasts time.Duration

	mu    sync.Mutex
	until map[[sha256.Size]byte]time.Time
}

func newMemory(lasts time.Duration) *passwordCache {
	m := &passwordCache{lasts: lasts, until: map[[sha256.Size]byte]time.Time{}}
	_, _ = rand.Read(m.key[:]) // never fails
	return m
}

func (m *passwordCache) sum(user, password string) (out [sha256.Size]byte) {
	mac := hmac.New(sha256.New, m.key[:])
	mac.Write([]byte(user))
	mac.Write([]byte{':'}) // no part of a name
	mac.Write([]byte(password))
	mac.Sum(out[:0])
	return out
}

func (m *passwordCache) has(user, password string, now time.Time) bool {
	sum := m.sum(user, password)
	m.mu.Lock()
	defer m.mu.Unlock()
	return now.Before(m.until[sum])
}

func (m *passwordCache) add(user, password string, now time.Time) {
	sum := m.sum(user, password)
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.until) >= maxKnown {
		clear(m.until)
	}
	m.until[sum] = now.Add(m.lasts)
}
