package ipmi

import (
	"github.com/bougou/go-ipmi/pkg/types"
)

// cipher is a cipher suite (IPMI v2.0, table 22-20), and how long its
// signatures are.
type cipher struct {
	id        types.CipherSuiteID
	auth      types.AuthAlg
	integrity types.IntegrityAlg
	signature int
}

// ciphers are those that authenticate, sign and encrypt with algorithms that
// are not broken, the best first: SHA-256 and SHA-1, both with AES. Every
// IPMI 2.0 BMC is to have 3.
var ciphers = []cipher{
	{types.CipherSuiteID17, types.AuthAlg_HMAC_SHA256, types.IntegrityAlg_HMAC_SHA256_128, 16},
	{types.CipherSuiteID3, types.AuthAlg_HMAC_SHA1, types.IntegrityAlg_HMAC_SHA1_96, 12},
}

// offered are the suites an account may be let in with, the best first.
func (a account) offered() []cipher {
	if a.cipher == anyCipher {
		return ciphers
	}
	for _, c := range ciphers {
		if c.id == a.cipher {
			return []cipher{c}
		}
	}
	return nil // parse lets no other through
}

// algorithms are the suite's for authentication, integrity and encryption.
func (c cipher) algorithms() [3]uint8 {
	return [3]uint8{uint8(c.auth), uint8(c.integrity), uint8(types.CryptAlg_AES_CBC_128)}
}
