package ipmi

import (
	"fmt"
	"io"
	"strings"
)

// The characters of passwords: 64, so that six bits choose one evenly. Vendors ask for several kinds, and none refuses
// these two signs.
const (
	upper   = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
	lower   = "abcdefghijklmnopqrstuvwxyz"
	digits  = "0123456789"
	signs   = "-_"
	letters = upper + lower + digits + signs
)

// Password makes a password of 16 characters from random bytes, about 95 bits. Every BMC stores 16 characters; some
// store no more. It has letters of both sizes, a digit and a sign, begins with a letter, and repeats no character
// at once: Lenovo's XCC refuses repetitions, others passwords of few kinds.
func Password(random io.Reader) (string, error) {
	raw := make([]byte, shortPassword)
	for range 10_000 {
		if _, err := io.ReadFull(random, raw); err != nil {
			return "", fmt.Errorf("password of a BMC user: random bytes: %w", err)
		}
		for i := range raw {
			raw[i] = letters[raw[i]%byte(len(letters))]
		}
		if acceptable(string(raw)) {
			return string(raw), nil
		}
	}
	return "", fmt.Errorf("password of a BMC user: the random bytes are not random")
}

func acceptable(password string) bool {
	for _, kind := range []string{upper, lower, digits, signs} {
		if !strings.ContainsAny(password, kind) {
			return false
		}
	}
	for i := 1; i < len(password); i++ {
		if password[i] == password[i-1] {
			return false
		}
	}
	return strings.IndexByte(upper+lower, password[0]) >= 0
}
