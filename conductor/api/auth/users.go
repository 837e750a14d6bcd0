package auth

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"time"

	"sigs.k8s.io/yaml"

	"github.com/ferrite-metal/ferrite/proto/onedocument"
)

// Users is the users file: the users, with their roles and tokens.
type Users struct {
	Users []User `json:"users"`
}

// User is a user of the users file. Passwords are in the htpasswd file.
type User struct {
	Name    string  `json:"name"`
	Role    string  `json:"role"`
	Project string  `json:"project,omitempty"`
	Tokens  []Token `json:"tokens,omitempty"`
	Links   []Link  `json:"links,omitempty"`
}

// Token is the stored part of a token. It can identify the token but not replace it.
type Token struct {
	Label   string     `json:"label"` // unique among the user's, to take it away by
	SHA256  string     `json:"sha256"`
	Expires *time.Time `json:"expires,omitempty"`
}

// ParseUsers reads and checks a users file, YAML.
func ParseUsers(raw []byte) (Users, error) {
	var u Users
	if err := onedocument.Check(raw); err != nil {
		return u, fmt.Errorf("users file: %w", err)
	}
	if err := yaml.UnmarshalStrict(raw, &u); err != nil {
		return u, fmt.Errorf("users file: %w", err)
	}
	return u, u.Check()
}

// Check refuses entries that cannot log in, and names or tokens that two entries share.
func (u Users) Check() error {
	names, sums := map[string]bool{}, map[string]bool{}
	for _, user := range u.Users {
		if user.Name == "" || strings.ContainsAny(user.Name, ":\x00\r\n") {
			return fmt.Errorf("user %q: a name is not empty and holds no colon and no line break", user.Name)
		}
		if names[user.Name] {
			return fmt.Errorf("user %s is there twice", user.Name)
		}
		names[user.Name] = true
		if _, err := ParseRole(user.Role); err != nil {
			return fmt.Errorf("user %s: %w", user.Name, err)
		}
		labels := map[string]bool{}
		for _, t := range user.Tokens {
			sum, err := hex.DecodeString(t.SHA256)
			switch {
			case err != nil || len(sum) != sha256.Size:
				return fmt.Errorf("user %s, token %q: sha256 is not 64 hexadecimal digits", user.Name, t.Label)
			case labels[t.Label]:
				return fmt.Errorf("user %s has two tokens labelled %q", user.Name, t.Label)
			case sums[strings.ToLower(t.SHA256)]:
				return fmt.Errorf("user %s, token %q: the same token is there twice", user.Name, t.Label)
			}
			labels[t.Label], sums[strings.ToLower(t.SHA256)] = true, true
		}
		for _, l := range user.Links {
			if err := l.check(); err != nil {
				return fmt.Errorf("user %s: %w", user.Name, err)
			}
			if sums[strings.ToLower(l.SHA256)] {
				return fmt.Errorf("user %s: the same link is there twice", user.Name)
			}
			sums[strings.ToLower(l.SHA256)] = true
		}
	}
	return nil
}

// Encode writes the file.
func (u Users) Encode() ([]byte, error) {
	doc, err := yaml.Marshal(u)
	if err != nil {
		return nil, fmt.Errorf("encode the users: %w", err)
	}
	return append([]byte("# Who may do what; kept by `ferrite user`, which does not keep other comments.\n"), doc...), nil
}

// Find is the place of a user, -1 when there is none of that name.
func (u Users) Find(name string) int {
	return slices.IndexFunc(u.Users, func(o User) bool { return o.Name == name })
}

// NewToken makes a token, and the part to store. The token has 256 random bits, so one round of SHA-256 is as good a
// hash of it as any.
func NewToken(label string, expires *time.Time) (secret string, kept Token) {
	var raw [32]byte
	_, _ = rand.Read(raw[:]) // never fails
	secret = "ferrite_" + base64.RawURLEncoding.EncodeToString(raw[:])
	sum := sha256.Sum256([]byte(secret))
	return secret, Token{Label: label, SHA256: hex.EncodeToString(sum[:]), Expires: expires}
}
