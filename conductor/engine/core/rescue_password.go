package core

import (
	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/proto/shacrypt"
)

// hashPassword returns the form that /etc/shadow holds, by the algorithm sha256 ($5$) or else sha512 ($6$). The
// password itself is stored nowhere.
func hashPassword(password, algorithm string) (string, error) {
	if most := shacrypt.MaxPassword; len(password) > most {
		return "", node.Refuse(node.Invalid, "rescue_password has %d bytes; give it at most %d", len(password), most)
	}
	scheme := shacrypt.SHA512
	if algorithm == "sha256" {
		scheme = shacrypt.SHA256
	}
	return scheme.Hash([]byte(password)), nil
}
