// Package sshkeys reads public keys of operators, for logins to a ramdisk that is built with them.
package sshkeys

import (
	"bytes"
	"errors"
	"fmt"

	"golang.org/x/crypto/ssh"
)

// Parse reads public keys, one a line as in OpenSSH's authorized_keys, and at least one. Options before a key are
// refused: the agent's server would not keep to them.
func Parse(text []byte) (keys []ssh.PublicKey, err error) {
	for line := range bytes.Lines(text) {
		line = bytes.TrimSpace(line)
		if len(line) == 0 || line[0] == '#' {
			continue
		}
		key, _, options, _, err := ssh.ParseAuthorizedKey(line)
		if err != nil {
			return nil, fmt.Errorf("expected a public key as in id_ed25519.pub, found %.20q: %w", line, err)
		}
		if len(options) > 0 {
			return nil, fmt.Errorf("key %s has option %q: expected a key alone", ssh.FingerprintSHA256(key), options[0])
		}
		keys = append(keys, key)
	}
	if len(keys) == 0 {
		return nil, errors.New("expected a public key as in id_ed25519.pub, found none")
	}
	return keys, nil
}
