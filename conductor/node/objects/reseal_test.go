package objects_test

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"errors"
	"testing"

	"github.com/ferrite-metal/ferrite/conductor/node/objects"
	"github.com/ferrite-metal/ferrite/conductor/seal"
	"github.com/ferrite-metal/ferrite/conductor/store/mem"
)

// bare seals as builds before envelopes did.
func bare(t *testing.T, key []byte, r objects.Row, text string) []byte {
	t.Helper()
	block, err := aes.NewCipher(key)
	check(t, err)
	c, err := cipher.NewGCM(block)
	check(t, err)
	nonce := bytes.Repeat([]byte{9}, c.NonceSize())
	return c.Seal(nonce, nonce, []byte(text), []byte(r.String()+" "+r.UID))
}

// TestReseal: a Secret of an older key, or of a build before envelopes, moves to the
// newest key. One of a lost key, and documents of other kinds, stay as they are.
func TestReseal(t *testing.T) {
	s := mem.New()
	k := keeper(t, s, nil)
	_, err := objects.Create(t.Context(), k, credentials())
	check(t, err)
	row := rows(t, s)[0]
	old, fresh := make([]byte, 32), bytes.Repeat([]byte{1}, 32)
	ring := func(keys ...[]byte) *seal.Ring {
		r, err := seal.NewRing(keys...)
		check(t, err)
		return r
	}
	with := func(doc []byte) objects.Row { r := row; r.Doc = doc; return r }
	host := with([]byte("{}"))
	host.Kind = "BareMetalHost"
	const text = `{"kind":"Secret","metadata":{"name":"bmc"}}`
	for name, c := range map[string]struct {
		row     objects.Row
		keys    *seal.Ring
		changed bool
	}{
		"older key":           {row, ring(fresh, old), true},
		"newest key":          {row, ring(old), false},
		"before envelopes":    {with(bare(t, old, row, text)), ring(fresh, old), true},
		"the same, one key":   {with(bare(t, old, row, text)), ring(old), true},
		"lost key":            {row, ring(fresh), false},
		"lost, no envelope":   {with(bare(t, old, row, text)), ring(fresh), false},
		"cut":                 {with(row.Doc[:20]), ring(fresh, old), false},
		"of another document": {host, ring(fresh, old), false},
	} {
		doc, changed, err := objects.Reseal(c.row, c.keys)
		if err != nil || changed != c.changed || changed == bytes.Equal(doc, c.row.Doc) {
			t.Errorf("%s: changed %v, %v", name, changed, err)
		}
		if id, err := seal.KeyOf(doc); changed && (err != nil || id != c.keys.Current()) {
			t.Errorf("%s: sealed with %s, %v", name, id, err)
		}
		if err := objects.Check(with(doc), c.keys); changed && errors.Is(err, objects.ErrSealed) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
