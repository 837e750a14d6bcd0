package ipmi

import (
	"encoding/binary"

	"github.com/bougou/go-ipmi/pkg/crypto"
	"github.com/bougou/go-ipmi/pkg/types"
)

// The parts of an RMCP+ packet (IPMI v2.0, table 13-8): an RMCP header of 4 bytes, a session header of 12 and the
// payload. Inside a session a trailer follows; its last bytes sign everything from the session header on.
const (
	rmcpHeader    = 4
	sessionHeader = 12
	payloadAt     = rmcpHeader + sessionHeader

	rmcpVersion = 0x06
	classIPMI   = 0x07
	formatPlus  = 0x06 // RMCP+, in the place of the authentication type

	encryptedSigned = types.PayloadFlagEncrypted | types.PayloadFlagAuthenticated
)

// packet is the header of an RMCP+ packet, its payload and its trailer.
type packet struct {
	kind     uint8 // payload type, with the flags for encrypted and signed
	session  uint32
	sequence uint32
	payload  []byte
	trailer  []byte
}

// parsePacket takes a datagram apart. It returns false for a datagram that is not an RMCP+ packet.
func parsePacket(p []byte) (packet, bool) {
	if len(p) < payloadAt || p[0] != rmcpVersion || p[3] != classIPMI || p[4] != formatPlus {
		return packet{}, false
	}
	k := packet{
		kind:     p[5],
		session:  binary.LittleEndian.Uint32(p[6:]),
		sequence: binary.LittleEndian.Uint32(p[10:]),
	}
	if types.PayloadType(k.kind&^encryptedSigned) == types.PayloadTypeOEM {
		return packet{}, false // has a longer header, and we ask for none
	}
	end := payloadAt + int(binary.LittleEndian.Uint16(p[14:]))
	if end > len(p) {
		return packet{}, false
	}
	k.payload, k.trailer = p[payloadAt:end], p[end:]
	return k, true
}

// keys sign and encrypt a session's packets.
type keys struct {
	cipher cipher
	k1, k2 []byte
}

// deriveKeys makes them from the values of RAKP messages 1 and 2 (IPMI v2.0, 13.31 and 13.32).
func deriveKeys(c cipher, a account, role uint8, ourRandom, bmcRandom []byte) (*keys, error) {
	_, k1, k2, err := crypto.DeriveSessionKeys(c.auth, ourRandom, bmcRandom, role, a.user,
		crypto.PadPassword20([]byte(a.password)))
	if err != nil {
		return nil, err
	}
	return &keys{c, k1, k2}, nil
}

// minPlain is the shortest IPMI message: its header, a completion code and a
// checksum.
const minPlain = 8

// genuine reports whether the BMC made this packet: it is signed with the session's key, and its decrypted text has
// valid padding.
func (k *keys) genuine(raw []byte, p packet) bool {
	plain, ok := k.open(raw, p, types.PayloadTypeIPMI)
	return ok && len(plain) >= minPlain
}

// open decrypts a packet of one payload type that the BMC made.
func (k *keys) open(raw []byte, p packet, kind types.PayloadType) (plain []byte, ok bool) {
	signed := len(raw) - k.cipher.signature
	if p.kind != encryptedSigned|uint8(kind) || len(p.trailer) < k.cipher.signature {
		return nil, false
	}
	want, err := crypto.SessionIntegrityAuthCode(k.cipher.integrity, raw[rmcpHeader:signed], k.k1, "")
	if err != nil || !crypto.Equal(want, raw[signed:]) {
		return nil, false
	}
	const block = int(types.Encryption_AES_CBS_128_BlockSize)
	if len(p.payload) < 2*block || len(p.payload)%block != 0 {
		return nil, false
	}
	plain, err = crypto.DecryptAESPayload(p.payload, k.k2)
	return plain, err == nil
}
