package sshline

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"slices"
	"strings"

	"golang.org/x/crypto/ssh"
)

// HostKey is the expected key of a BMC: a public key, or its fingerprint. The zero HostKey is an unknown key.
type HostKey struct {
	key         ssh.PublicKey
	fingerprint string
}

// ParseHostKey reads a fingerprint as SHA256:... of ssh-keygen -l, or a public key as in known_hosts without the
// name in front: ssh-ed25519 AAAA... . "" is the zero HostKey.
func ParseHostKey(text string) (HostKey, error) {
	text = strings.TrimSpace(text)
	if text == "" {
		return HostKey{}, nil
	}
	if hash, ok := strings.CutPrefix(text, "SHA256:"); ok {
		if raw, err := base64.RawStdEncoding.DecodeString(hash); err != nil || len(raw) != 32 {
			return HostKey{}, fmt.Errorf("%.80q is no fingerprint: expected SHA256: and 43 characters, as ssh-keygen -l shows",
				text)
		}
		return HostKey{fingerprint: text}, nil
	}
	key, _, options, rest, err := ssh.ParseAuthorizedKey([]byte(text))
	if err != nil || len(options) > 0 || len(bytes.TrimSpace(rest)) > 0 {
		return HostKey{}, fmt.Errorf("%.40q is no host key: expected SHA256:..., or a public key of known_hosts", text)
	}
	return HostKey{key: key, fingerprint: ssh.FingerprintSHA256(key)}, nil
}

// Fingerprint is SHA256:... , or "".
func (k HostKey) Fingerprint() string { return k.fingerprint }

// ChangedKeyError is a BMC with another key than the expected one.
type ChangedKeyError struct {
	Address         string
	Found, Expected string // fingerprints
	Type            string // of the key found, such as ssh-ed25519
}

func (e *ChangedKeyError) Error() string {
	return fmt.Sprintf("the SSH host key of %s is %s (%s), expected %s", e.Address, e.Found, e.Type, e.Expected)
}

// Permanent says that trying again does not help.
func (e *ChangedKeyError) Permanent() bool { return true }

// check refuses another key than the known one; the zero HostKey takes any.
func (k HostKey) check(address string, found ssh.PublicKey) error {
	if is := ssh.FingerprintSHA256(found); k.fingerprint != "" && is != k.fingerprint {
		return &ChangedKeyError{address, is, k.fingerprint, found.Type()}
	}
	return nil
}

// algorithms are the host key algorithms, with the known key's type first: a BMC with keys of several types must show
// that key.
func (k HostKey) algorithms(all []string) []string {
	if k.key == nil {
		return all
	}
	own := []string{k.key.Type()}
	if k.key.Type() == ssh.KeyAlgoRSA {
		own = []string{ssh.KeyAlgoRSASHA512, ssh.KeyAlgoRSASHA256, ssh.KeyAlgoRSA}
	}
	own = slices.DeleteFunc(own, func(a string) bool { return !slices.Contains(all, a) })
	return slices.Concat(own, slices.DeleteFunc(slices.Clone(all), func(a string) bool { return slices.Contains(own, a) }))
}
