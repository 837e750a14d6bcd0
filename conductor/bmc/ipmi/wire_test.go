package ipmi

import (
	"bytes"
	"encoding/binary"
	"testing"

	"github.com/bougou/go-ipmi/pkg/crypto"
	"github.com/bougou/go-ipmi/pkg/types"
)

// testSession is a wire inside a session, and the keys of its BMC.
func testSession(t testing.TB, c cipher) (*wire, *keys) {
	a := account{user: "u", password: "p"}
	k, err := deriveKeys(c, a, 0x14, bytes.Repeat([]byte{1}, 16), bytes.Repeat([]byte{2}, 16))
	if err != nil {
		t.Fatal(err)
	}
	return &wire{account: a, cipher: c, sent: encryptedSigned, keys: k}, k
}

// sign makes a packet of a session around a payload as it is.
func (k *keys) sign(kind uint8, session, sequence uint32, payload []byte) []byte {
	p := []byte{rmcpVersion, 0, 0xff, classIPMI, formatPlus, kind}
	p = binary.LittleEndian.AppendUint32(p, session)
	p = binary.LittleEndian.AppendUint32(p, sequence)
	p = binary.LittleEndian.AppendUint16(p, uint16(len(payload)))
	p = append(append(p, payload...), 0, 7)
	signature, err := crypto.SessionIntegrityAuthCode(k.cipher.integrity, p[rmcpHeader:], k.k1, "")
	if err != nil {
		panic(err)
	}
	return append(p, signature...)
}

// encrypt encrypts whole blocks, and does not check their padding.
func (k *keys) encrypt(blocks []byte) []byte {
	iv := make([]byte, 16)
	out, err := crypto.EncryptAES(blocks, k.k2[:16], iv)
	if err != nil {
		panic(err)
	}
	return append(iv, out...)
}

// message is an answer of Get Chassis Status, padded as IPMI v2.0, 13.29 has it.
func message() []byte {
	return crypto.PadAES([]byte{0x81, 0x04, 0x7b, 0x20, 0x04, 0x01, 0x00, 0x01, 0x00, 0x00, 0x5a})
}

// Only new packets that the BMC signed come in.
func TestWireInSession(t *testing.T) {
	for _, c := range ciphers {
		w, k := testSession(t, c)
		good := k.sign(encryptedSigned, ourSession, 7, k.encrypt(message()))
		lies := message()
		lies[len(lies)-1] = 200 // padding longer than the message: go-ipmi would panic
		other := *k
		other.k1 = bytes.Repeat([]byte{9}, len(k.k1))
		flipped := bytes.Clone(good)
		flipped[payloadAt+20] ^= 1
		for _, p := range []struct {
			name string
			raw  []byte
			want bool
		}{
			{"another key", other.sign(encryptedSigned, ourSession, 1, k.encrypt(message())), false},
			{"a bit flipped", flipped, false},
			{"cut off", good[:len(good)-1], false},
			{"no signature", good[:len(good)-c.signature-2], false},
			{"another session", k.sign(encryptedSigned, ourSession+1, 2, k.encrypt(message())), false},
			{"not encrypted", k.sign(types.PayloadFlagAuthenticated, ourSession, 3, message()), false},
			{"serial over LAN", k.sign(encryptedSigned|1, ourSession, 4, k.encrypt(message())), false},
			{"half a block", k.sign(encryptedSigned, ourSession, 5, k.encrypt(message())[:24]), false},
			{"no block", k.sign(encryptedSigned, ourSession, 5, nil), false},
			{"lying padding", k.sign(encryptedSigned, ourSession, 6, k.encrypt(lies)), false},
			{"too short a message", k.sign(encryptedSigned, ourSession, 6, k.encrypt(crypto.PadAES([]byte{1, 2}))), false},
			{"good", good, true},
			{"the same again", good, false},
			{"an older one", k.sign(encryptedSigned, ourSession, 6, k.encrypt(message())), false},
			{"a newer one", k.sign(encryptedSigned, ourSession, 8, k.encrypt(message())), true},
		} {
			if got := w.accept(p.raw); got != p.want {
				t.Errorf("suite %d, %s: let in %v, want %v", c.id, p.name, got, p.want)
			}
		}
	}
}

// While a session is set up only the answer to the last message comes in: a
// late one, of a message that was sent twice, would pass for a wrong password.
func TestWireInSetup(t *testing.T) {
	setup := func(kind types.PayloadType, payload ...byte) []byte {
		p := []byte{rmcpVersion, 0, 0xff, classIPMI, formatPlus, uint8(kind), 0, 0, 0, 0, 0, 0, 0, 0, uint8(len(payload)), 0}
		return append(p, payload...)
	}
	w := &wire{random: make([]byte, 16), cipher: ciphers[0]}
	for _, c := range []struct {
		name string
		sent types.PayloadType
		raw  []byte
		want bool
	}{
		{"answered", types.PayloadTypeRmcpOpenSessionRequest,
			setup(types.PayloadTypeRmcpOpenSessionResponse, 0, 0, 4, 0), true},
		{"refused in two bytes", types.PayloadTypeRmcpOpenSessionRequest,
			setup(types.PayloadTypeRmcpOpenSessionResponse, 0, 4), true},
		{"in one byte", types.PayloadTypeRmcpOpenSessionRequest, setup(types.PayloadTypeRmcpOpenSessionResponse, 0), false},
		{"a late answer", types.PayloadTypeRAKPMessage3, setup(types.PayloadTypeRAKPMessage2, make([]byte, 60)...), false},
		{"RAKP 2", types.PayloadTypeRAKPMessage1, setup(types.PayloadTypeRAKPMessage2, make([]byte, 60)...), true},
		{"half a RAKP 2", types.PayloadTypeRAKPMessage1, setup(types.PayloadTypeRAKPMessage2, make([]byte, 30)...), false},
		{"RAKP 4", types.PayloadTypeRAKPMessage3, setup(types.PayloadTypeRAKPMessage4, make([]byte, 20)...), true},
		{"IPMI 1.5", types.PayloadTypeRAKPMessage3,
			[]byte{6, 0, 0xff, 7, 0, 0, 0, 0, 0, 0, 0, 0, 0, 7, 0x81, 0x1c, 0x63, 0x20, 0x04, 0x38, 0x00}, false},
	} {
		w.sent = uint8(c.sent)
		if got := w.accept(c.raw); got != c.want {
			t.Errorf("%s: let in %v, want %v", c.name, got, c.want)
		}
	}
}

// FuzzWire sends anything at any moment. go-ipmi parses every packet that passes without
// harm.
func FuzzWire(f *testing.F) {
	_, k := testSession(f, ciphers[1])
	for _, sent := range []uint8{0x10, 0x12, 0x14, encryptedSigned} {
		f.Add(sent, k.sign(encryptedSigned, ourSession, 7, k.encrypt(message())), false)
		f.Add(sent, k.sign(sent+1, 0, 0, make([]byte, 60)), false)
		f.Add(sent, message(), true)
		f.Add(sent, make([]byte, 16), true)
	}
	f.Fuzz(func(t *testing.T, sent uint8, raw []byte, signed bool) {
		w, k := testSession(t, ciphers[1])
		w.sent, w.random = sent, make([]byte, 16)
		if signed && len(raw) < 1000 {
			raw = k.sign(encryptedSigned, ourSession, 1, k.encrypt(append(raw, make([]byte, 16-len(raw)%16)...)))
		}
		if !w.accept(raw) {
			return
		}
		var rmcp types.Rmcp
		if err := rmcp.Unpack(raw); err != nil || rmcp.Session20 == nil {
			t.Fatalf("let in, and not RMCP+: %v", err)
		}
		if sent&encryptedSigned == 0 {
			return
		}
		plain, err := crypto.DecryptAESPayload(rmcp.Session20.SessionPayload, k.k2)
		if err != nil {
			t.Fatalf("let in, and cannot be decrypted: %v", err)
		}
		if err := new(types.IPMIResponse).Unpack(plain); err != nil {
			t.Errorf("let in, and no message: %v", err)
		}
	})
}
