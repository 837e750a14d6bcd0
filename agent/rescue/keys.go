package rescue

import (
	"bytes"

	"golang.org/x/crypto/ssh"
)

// Operator is the user that logs in with one of Options.Keys.
const Operator = "root"

// keyTries is how many keys a client may offer on one connection: agents of people have several.
const keyTries = 10

// allowed says whether a key is one of the operators'.
func (o Options) allowed(key ssh.PublicKey) bool {
	for _, k := range o.Keys {
		if bytes.Equal(k.Marshal(), key.Marshal()) {
			return true
		}
	}
	return false
}
