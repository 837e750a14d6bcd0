package core

import (
	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/proto/shacrypt"
)

// hashPassword returns the form that /etc/shadow holds ($6$). The password itself
// is stored nowhere.
func hashPassword(password string) (string, error) {
	if most := shacrypt.MaxPassword; len(password) > most {
		return "", node.Refuse(node.Invalid, "rescue_password has %d bytes; give it at most %d", len(password), most)
	}
	return shacrypt.Hash([]byte(password)), nil
}
