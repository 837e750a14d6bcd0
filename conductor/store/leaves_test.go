package store

import (
	"bytes"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestLeaves: texts and other values come back as they are, in the order of pointers.
func TestLeaves(t *testing.T) {
	given := map[string]any{"/b/x~1y": "", "/a": "words \x00 ✓", "/c": map[string]any{"n": 1.5, "l": []any{nil, true}},
		"/d": nil}
	plain, err := encodeLeaves(given)
	if err != nil {
		t.Fatal(err)
	}
	got, err := decodeLeaves(plain)
	if err != nil {
		t.Fatal(err)
	}
	want := []leaf{{"/a", given["/a"]}, {"/b/x~1y", ""}, {"/c", given["/c"]}, {"/d", nil}}
	if d := cmp.Diff(want, got, cmp.AllowUnexported(leaf{})); d != "" {
		t.Errorf("-want +got:\n%s", d)
	}
	if none, err := decodeLeaves(nil); err != nil || none != nil {
		t.Errorf("%v, %v", none, err)
	}
	for cut := 1; cut < len(plain); cut++ {
		if some, err := decodeLeaves(plain[:cut]); err == nil && len(some) == len(want) {
			t.Errorf("cut to %d bytes it is whole: %v", cut, some)
		}
	}
}

// FuzzLeaves: any bytes are refused, or are values that come back after another round.
func FuzzLeaves(f *testing.F) {
	good, err := encodeLeaves(map[string]any{"/driver_info/redfish_password": "calvin", "/x": []any{1.0}})
	if err != nil {
		f.Fatal(err)
	}
	f.Add(good)
	f.Add(good[:7])
	f.Add([]byte{1, 'a', 'j', 2, '{', '}'})
	f.Add(bytes.Repeat([]byte{0xff}, 12))
	f.Fuzz(func(t *testing.T, plain []byte) {
		leaves, err := decodeLeaves(plain)
		if err != nil {
			return
		}
		again := map[string]any{}
		for _, l := range leaves {
			again[l.pointer] = l.value
		}
		if plain, err = encodeLeaves(again); err != nil {
			t.Fatal(err)
		}
		if leaves, err = decodeLeaves(plain); err != nil || len(leaves) != len(again) {
			t.Fatalf("%d of %d values, %v", len(leaves), len(again), err)
		}
		for _, l := range leaves {
			if d := cmp.Diff(again[l.pointer], l.value); d != "" {
				t.Errorf("%q: -want +got:\n%s", l.pointer, d)
			}
		}
	})
}
