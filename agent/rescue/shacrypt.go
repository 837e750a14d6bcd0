package rescue

import "bytes"

// alphabet is crypt(3)'s base 64, whose digits are not those of RFC 4648.
const alphabet = "./0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"

// hash is crypt(3) with SHA-2, as Ulrich Drepper's "Unix crypt using SHA-256
// and SHA-512" describes it; the letters are those of its text.
func (p Password) hash(key []byte) string {
	b := p.digest(key, p.salt, key)
	a := p.first(key, b)
	keys := repeat(p.digest(bytes.Repeat(key, len(key))), len(key))            // P
	salts := repeat(p.digest(bytes.Repeat(p.salt, 16+int(a[0]))), len(p.salt)) // S
	c := a
	for round := range p.rounds {
		parts := make([][]byte, 0, 4)
		if round%2 != 0 {
			parts = append(parts, keys)
		} else {
			parts = append(parts, c)
		}
		if round%3 != 0 {
			parts = append(parts, salts)
		}
		if round%7 != 0 {
			parts = append(parts, keys)
		}
		if round%2 != 0 {
			parts = append(parts, c)
		} else {
			parts = append(parts, keys)
		}
		c = p.digest(parts...)
	}
	return p.encode(c)
}

// first is digest A: for every bit of the key's length, B or the key.
func (p Password) first(key, b []byte) []byte {
	parts := [][]byte{key, p.salt, repeat(b, len(key))}
	for n := len(key); n > 0; n >>= 1 {
		if n&1 != 0 {
			parts = append(parts, b)
		} else {
			parts = append(parts, key)
		}
	}
	return p.digest(parts...)
}

func (p Password) digest(parts ...[]byte) []byte {
	h := p.scheme.new()
	for _, part := range parts {
		h.Write(part)
	}
	return h.Sum(nil)
}

// repeat is the first n bytes of b written over and over.
func repeat(b []byte, n int) []byte {
	return bytes.Repeat(b, n/len(b)+1)[:n]
}

// encode writes three bytes at a time as four digits, lowest first. Which
// three goes round by turn; one or two bytes are left over in the end.
func (p Password) encode(sum []byte) string {
	var out []byte
	digits := func(w, n int) {
		for range n {
			out = append(out, alphabet[w&0x3f])
			w >>= 6
		}
	}
	third := len(sum) / 3
	a, b, c := 0, third, 2*third
	for range third {
		digits(int(sum[a])<<16|int(sum[b])<<8|int(sum[c]), 4)
		a, b, c = p.scheme.turn(a, b, c)
	}
	if len(sum)%3 == 2 {
		digits(int(sum[len(sum)-1])<<8|int(sum[len(sum)-2]), 3)
	} else {
		digits(int(sum[len(sum)-1]), 2)
	}
	return string(out)
}
