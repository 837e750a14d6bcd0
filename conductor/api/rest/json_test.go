package rest

import (
	"encoding/json"
	"reflect"
	"testing"
)

// FuzzAppend: encoding/json reads the output of the append functions back as the same value.
func FuzzAppend(f *testing.F) {
	for _, seed := range []string{
		`null`, `"x"`, `"\u0000\u001f\"\\ \u2028 é \ud83d\ude00"`, `1`, `-1.5e300`, `1e20`, `9007199254740993`, `0.1`, `true`,
		`{"a":{"b":[1,"2",null,{}]},"":[]}`, `[[],{}]`, `"\ud800"`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		var v any
		if json.Unmarshal(raw, &v) != nil {
			return
		}
		written := AppendAny(nil, v)
		var back any
		if err := json.Unmarshal(written, &back); err != nil {
			t.Fatalf("%s became %s: %v", raw, written, err)
		}
		if !reflect.DeepEqual(v, back) {
			t.Fatalf("%s became %s", raw, written)
		}
	})
}

func TestAppendString(t *testing.T) {
	for in, want := range map[string]string{
		"":              `""`,
		"plain":         `"plain"`,
		"a\"b\\c\nd\te": `"a\"b\\c\nd\te"`,
		"\x00\x1f":      `"\u0000\u001f"`,
		"é\xff!":        `"é\ufffd!"`,
	} {
		if got := string(AppendString(nil, in)); got != want {
			t.Errorf("%q: %s, want %s", in, got, want)
		}
	}
}

func TestCacheIsBounded(t *testing.T) {
	c := NewCache(10_000)
	for i := range 1000 {
		c.Put(CacheKey{Revision: int64(i)}, make([]byte, 100))
		if _, ok := c.Get(CacheKey{Revision: int64(i)}); !ok {
			t.Fatalf("entry %d is gone at once", i)
		}
	}
	if n := len(c.young) + len(c.old); n > 40 {
		t.Errorf("%d entries of 300 bytes in 10000", n)
	}
	if _, ok := c.Get(CacheKey{Revision: 1}); ok {
		t.Error("the first entry is still there")
	}
}
