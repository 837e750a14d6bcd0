package seal_test

import (
	"bytes"
	"errors"
	"strings"
	"testing"
	"testing/quick"

	"github.com/ferrite-metal/ferrite/conductor/seal"
)

func key(fill byte) []byte { return bytes.Repeat([]byte{fill}, seal.KeySize) }

func ring(t testing.TB, keys ...[]byte) *seal.Ring {
	t.Helper()
	r, err := seal.NewRing(keys...)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func sealed(t testing.TB, r *seal.Ring, context string, plain []byte) []byte {
	t.Helper()
	e, err := r.Seal(context, plain)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// TestRoundTrip: any bytes come back under their context, from an envelope that is
// another one each time and shows nothing of them.
func TestRoundTrip(t *testing.T) {
	r := ring(t, key(1))
	whole := func(context string, plain []byte) bool {
		one, two := sealed(t, r, context, plain), sealed(t, r, context, plain)
		got, err := r.Open(context, one)
		return err == nil && bytes.Equal(got, plain) && !bytes.Equal(one, two) &&
			(len(plain) < 8 || !bytes.Contains(one, plain))
	}
	if err := quick.Check(whole, nil); err != nil {
		t.Error(err)
	}
}

// TestRefused: each way in which an envelope does not open has its error.
func TestRefused(t *testing.T) {
	const context = "nodes 1"
	r := ring(t, key(1))
	e := sealed(t, r, context, []byte("calvin"))
	flipped := func(at int) []byte {
		changed := bytes.Clone(e)
		changed[at] ^= 1
		return changed
	}
	for name, c := range map[string]struct {
		ring     *seal.Ring
		context  string
		envelope []byte
		want     error
	}{
		"another key":          {ring(t, key(2)), context, e, seal.ErrKey},
		"another record":       {r, "nodes 2", e, seal.ErrChanged},
		"nothing":              {r, context, nil, seal.ErrCut},
		"cut to a head":        {r, context, e[:12], seal.ErrCut},
		"cut by a byte":        {r, context, e[:len(e)-1], seal.ErrChanged},
		"plain text":           {r, context, []byte(strings.Repeat("calvin", 10)), seal.ErrCut},
		"another version":      {r, context, flipped(3), seal.ErrCut},
		"another key's id":     {r, context, flipped(5), seal.ErrKey},
		"a changed nonce":      {r, context, flipped(12), seal.ErrChanged},
		"a changed ciphertext": {r, context, flipped(25), seal.ErrChanged},
		"a changed tag":        {r, context, flipped(len(e) - 1), seal.ErrChanged},
	} {
		if plain, err := c.ring.Open(c.context, c.envelope); !errors.Is(err, c.want) || plain != nil {
			t.Errorf("%s: %q, %v, want %v", name, plain, err, c.want)
		}
	}
}

// TestRing: the first key seals, all of them open.
func TestRing(t *testing.T) {
	old, both := ring(t, key(1)), ring(t, key(2), key(1))
	before, after := sealed(t, old, "c", []byte("x")), sealed(t, both, "c", []byte("x"))
	for _, e := range [][]byte{before, after} {
		if plain, err := both.Open("c", e); err != nil || string(plain) != "x" {
			t.Errorf("%q, %v", plain, err)
		}
	}
	if id, err := seal.KeyOf(after); err != nil || id != both.Current() || id == old.Current() ||
		!both.Holds(old.Current()) {
		t.Errorf("sealed with %s, %v; the ring has %s", id, err, both.Current())
	}
	if id, err := seal.ParseID(old.Current().String()); err != nil || id != old.Current() {
		t.Error(id, err)
	}
	if _, err := seal.ParseID("xyz"); err == nil {
		t.Error("an id that is none")
	}
	for _, keys := range [][][]byte{nil, {key(1)[1:]}, {key(1), nil}} {
		if _, err := seal.NewRing(keys...); err == nil {
			t.Errorf("a ring of %d keys", len(keys))
		}
	}
}

// FuzzOpen: bytes that this ring did not seal never open, and never panic.
func FuzzOpen(f *testing.F) {
	r := ring(f, key(1))
	const secret = `{"/driver_info/redfish_password":"calvin"}`
	good := sealed(f, r, "nodes 1", []byte(secret))
	f.Add("nodes 1", good)
	f.Add("nodes 2", good)
	f.Add("", good[:40])
	f.Add("", []byte("fsl\x01"))
	f.Fuzz(func(t *testing.T, context string, envelope []byte) {
		plain, err := r.Open(context, envelope)
		if err == nil && (context != "nodes 1" || string(plain) != secret) {
			t.Errorf("%q opened as %q", envelope, plain)
		}
		if _, keyErr := seal.KeyOf(envelope); (keyErr == nil) != seal.Is(envelope) {
			t.Errorf("it names a key (%v), but is an envelope: %v", keyErr, seal.Is(envelope))
		}
	})
}

func BenchmarkOpen(b *testing.B) {
	r := ring(b, key(1))
	e := sealed(b, r, "nodes 1", make([]byte, 200))
	for b.Loop() {
		if _, err := r.Open("nodes 1", e); err != nil {
			b.Fatal(err)
		}
	}
}
