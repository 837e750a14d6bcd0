package disk

import (
	"crypto/md5" // old image catalogues still publish nothing else; refused unless asked for
	"crypto/sha256"
	"crypto/sha512"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"strings"
)

// Algorithm names a checksum as Ironic's os_hash_algo does.
type Algorithm string

// The algorithms known. MD5 is taken only where the caller allows it.
const (
	MD5    Algorithm = "md5"
	SHA256 Algorithm = "sha256"
	SHA512 Algorithm = "sha512"
)

// ErrChecksum is wrapped by a ChecksumError and by unusable checksum values.
var ErrChecksum = errors.New("checksum")

// Checksum is an algorithm and the sum in lower-case hex. An empty Sum with
// an Algorithm asks for the sum to be computed, not compared.
type Checksum struct {
	Algorithm Algorithm
	Sum       string
}

// ChecksumError says that the bytes received are not the ones expected.
type ChecksumError struct {
	Want Checksum
	Got  string // hex
}

// Error names both sums, so that an operator can distinguish a stale sum from a
// damaged image.
func (e *ChecksumError) Error() string {
	return fmt.Sprintf("%s checksum is wrong: expected %s, found %s", e.Want.Algorithm, e.Want.Sum, e.Got)
}

// Unwrap makes errors.Is(err, ErrChecksum) true.
func (e *ChecksumError) Unwrap() error { return ErrChecksum }

// hexLength is the length of each algorithm's sum in hex digits.
func hexLength() map[Algorithm]int { return map[Algorithm]int{MD5: 32, SHA256: 64, SHA512: 128} }

// newHash returns the hash of an algorithm.
func newHash(a Algorithm) (hash.Hash, error) {
	switch a {
	case MD5:
		return md5.New(), nil
	case SHA256:
		return sha256.New(), nil
	case SHA512:
		return sha512.New(), nil
	}
	return nil, fmt.Errorf("%w: algorithm %q is not one of sha256, sha512, md5", ErrChecksum, a)
}

// NewChecksum checks that sum is a hex sum of the algorithm (os_hash_algo and
// os_hash_value) and returns it in lower case.
func NewChecksum(algorithm, sum string) (Checksum, error) {
	a := Algorithm(strings.ToLower(strings.TrimSpace(algorithm)))
	for _, other := range []string{"sha2-", "sha-"} { // as OpenSSL 3 and RFC 6234 write them
		if bits, ok := strings.CutPrefix(string(a), other); ok {
			a = Algorithm("sha" + bits)
		}
	}
	want, known := hexLength()[a]
	if !known {
		return Checksum{}, fmt.Errorf("%w: algorithm %q is not one of sha256, sha512, md5", ErrChecksum, algorithm)
	}
	sum = strings.ToLower(strings.TrimSpace(sum))
	if _, err := hex.DecodeString(sum); err != nil || len(sum) != want {
		return Checksum{}, fmt.Errorf("%w: %q is not a %s sum of %d hex digits", ErrChecksum, clip(sum), a, want)
	}
	return Checksum{Algorithm: a, Sum: sum}, nil
}

// Hash computes the sum.
func (c Checksum) Hash() (hash.Hash, error) { return newHash(c.Algorithm) }

// ParseChecksum reads a sum as operators write it: "sha256:<sum>", or bare hex with the algorithm given by its length.
// It refuses the URL of a checksum file.
func ParseChecksum(value string) (Checksum, error) { return parseChecksum(value) }

// parseChecksum reads a sum written "sha256:<sum>", or a bare sum with the algorithm given by its length, as in
// Ironic's "checksum" field.
func parseChecksum(value string) (Checksum, error) {
	value = strings.TrimSpace(value)
	if name, sum, ok := strings.Cut(value, ":"); ok {
		return NewChecksum(name, sum)
	}
	for a, n := range hexLength() {
		if len(value) == n {
			return NewChecksum(string(a), value)
		}
	}
	return Checksum{}, fmt.Errorf("%w: %q is not a sum of sha256 (64 hex digits), sha512 (128) or md5 (32), nor a URL",
		ErrChecksum, clip(value))
}

// isChecksumURL reports whether a checksum must be fetched.
func isChecksumURL(value string) bool {
	v := strings.ToLower(value)
	return strings.HasPrefix(v, "http://") || strings.HasPrefix(v, "https://")
}

// clip shortens a server's text for an error.
func clip(s string) string {
	if len(s) > 140 {
		return s[:140] + "..."
	}
	return s
}
