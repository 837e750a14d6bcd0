// Package shacrypt hashes passwords as crypt(3) does with SHA-256 ($5$) and
// SHA-512 ($6$): the forms in which Ironic sends a rescue password to its agent.
// The algorithm is Ulrich Drepper's "Unix crypt using SHA-256 and SHA-512",
// version 0.6.
//
// The package computes sums. Parsing stored hashes and comparing sums in constant
// time is left to its callers.
package shacrypt

import (
	"crypto/rand"
	"crypto/sha256"
	"crypto/sha512"
	"hash"
)

// Alphabet is the base 64 of crypt(3), which differs from RFC 4648.
const Alphabet = "./0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"

// Limits of the input.
const (
	// MaxPassword is the longest rescue password in bytes. The work grows with the
	// square of the length: a password of megabytes keeps a core busy for minutes.
	MaxPassword = 512

	MaxSalt       = 16
	DefaultRounds = 5000
	MinRounds     = 1000
)

// Scheme is one of the two hash functions.
type Scheme struct {
	ID        string // in $ID$SALT$SUM
	SumLength int    // characters

	new  func() hash.Hash
	next func(a, b, c int) (int, int, int)
	tail []int // the bytes that no group of three holds, in the order of encoding
}

// The schemes. Each encodes its sum's bytes in groups of three, which begin with
// byte 0 and the bytes one and two thirds on. Each group follows from the one
// before by a rotation.
var (
	SHA256 = Scheme{"5", 43, sha256.New, func(a, b, c int) (int, int, int) { return c + 1, a + 1, b + 1 }, []int{31, 30}}
	SHA512 = Scheme{"6", 86, sha512.New, func(a, b, c int) (int, int, int) { return b + 1, c + 1, a + 1 }, []int{63}}
)

// Hash hashes a password with the default rounds and a random salt, in the form of
// /etc/shadow.
func (s Scheme) Hash(password []byte) string {
	salt := rand.Text()[:MaxSalt]
	return "$" + s.ID + "$" + salt + "$" + s.Sum(password, []byte(salt), DefaultRounds)
}

// Sum is the encoded sum of a password. A caller limits the length of the
// password, of the salt and the number of rounds.
func (s Scheme) Sum(password, salt []byte, rounds int) string {
	first := s.first(password, salt)
	p := stretch(s.repeated(password, len(password)), len(password))
	saltTimes := 16 + int(first[0])
	q := stretch(s.repeated(salt, saltTimes), len(salt))
	h, sum := s.new(), first
	for i := range rounds {
		h.Reset()
		if i%2 != 0 {
			h.Write(p)
		} else {
			h.Write(sum)
		}
		if i%3 != 0 {
			h.Write(q)
		}
		if i%7 != 0 {
			h.Write(p)
		}
		if i%2 != 0 {
			h.Write(sum)
		} else {
			h.Write(p)
		}
		sum = h.Sum(sum[:0])
	}
	return s.encode(sum)
}

// first is digest A, with which the rounds begin (steps 1 to 12).
func (s Scheme) first(password, salt []byte) []byte {
	h := s.new()
	h.Write(password)
	h.Write(salt)
	h.Write(password)
	b := h.Sum(nil)
	h.Reset()
	h.Write(password)
	h.Write(salt)
	h.Write(stretch(b, len(password)))
	for n := len(password); n > 0; n >>= 1 {
		if n&1 != 0 {
			h.Write(b)
		} else {
			h.Write(password)
		}
	}
	return h.Sum(nil)
}

// repeated is the digest of b written so many times (steps 13 to 15, 17 to 19).
func (s Scheme) repeated(b []byte, times int) []byte {
	h := s.new()
	for range times {
		h.Write(b)
	}
	return h.Sum(nil)
}

// stretch repeats a digest to n bytes (steps 16 and 20).
func stretch(digest []byte, n int) []byte {
	out := make([]byte, 0, n)
	for len(out) < n {
		out = append(out, digest[:min(len(digest), n-len(out))]...)
	}
	return out
}

// encode writes groups of three bytes as four digits, and the rest (step 22).
func (s Scheme) encode(sum []byte) string {
	out := make([]byte, 0, s.SumLength)
	third := len(sum) / 3
	a, b, c := 0, third, 2*third
	for range third {
		out = digits(out, int(sum[a])<<16|int(sum[b])<<8|int(sum[c]), 4)
		a, b, c = s.next(a, b, c)
	}
	left := 0
	for _, i := range s.tail {
		left = left<<8 | int(sum[i])
	}
	return string(digits(out, left, s.SumLength-len(out)))
}

// digits appends the n lowest digits of v, the lowest first.
func digits(out []byte, v, n int) []byte {
	for range n {
		out = append(out, Alphabet[v&0x3f])
		v >>= 6
	}
	return out
}
