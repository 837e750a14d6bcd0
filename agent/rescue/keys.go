package rescue

import (
	"bytes"
	"fmt"

	"golang.org/x/crypto/ssh"
)

// Operator is the user who logs in with one of Options.Keys.
const Operator = "root"

// keyTries is how many keys a client may offer on one connection: agents of people have several.
const keyTries = 10

// ReadKeys reads public keys, one a line as in OpenSSH's authorized_keys. Options in front of a key are refused: this
// server would not keep to them.
func ReadKeys(text []byte) (keys []ssh.PublicKey, err error) {
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
		return nil, fmt.Errorf("expected a public key as in id_ed25519.pub, found none")
	}
	return keys, nil
}

// allowed says whether a key is one of the operators'.
func (o Options) allowed(key ssh.PublicKey) bool {
	for _, k := range o.Keys {
		if bytes.Equal(k.Marshal(), key.Marshal()) {
			return true
		}
	}
	return false
}
