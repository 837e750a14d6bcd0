package yamljson

import (
	"strings"
	"testing"
)

// TestFrom: an alias stands for its anchor, unless that exceeds the limit.
func TestFrom(t *testing.T) {
	for text, want := range map[string]string{
		"a: &x [1, b]\nc: *x\n": `{"a":[1,"b"],"c":[1,"b"]}`,
		`{"a": {"b": null}}`:    `{"a":{"b":null}}`,
		"":                      `null`,
	} {
		if got, err := From([]byte(text), 1<<20); err != nil || string(got) != want {
			t.Errorf("%q: %s, %v", text, got, err)
		}
	}
	for what, text := range map[string]string{
		"a long word many times": "a: &x " + strings.Repeat("w", 100_000) + "\nb: [" +
			strings.Repeat("*x, ", 100_000) + "]\n",
		"lists of lists": "a: &a [w,w,w,w,w,w,w,w,w]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a]\nc: &c " +
			"[*b,*b,*b,*b,*b,*b,*b,*b]\nd: &d [*c,*c,*c,*c,*c,*c,*c,*c]\ne: &e [*d,*d,*d,*d,*d,*d,*d,*d]\nf: &f " +
			"[*e,*e,*e,*e,*e,*e,*e,*e]\ng: [*f,*f,*f,*f,*f,*f,*f,*f]\n",
		"itself":  "a: &a [*a]",
		"no YAML": "a: [",
	} {
		if got, err := From([]byte(text), 1<<20); err == nil {
			t.Errorf("%s: made %d bytes", what, len(got))
		}
	}
}

// FuzzFrom: no text brings it down.
func FuzzFrom(f *testing.F) {
	for _, s := range []string{"a: b", "a: &a [*a]", "[", "a: &x 1\nb: *x", "<<: *x"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		if got, err := From(text, 1<<10); err == nil && len(got) > 1<<14 {
			t.Errorf("%q makes %d bytes", text, len(got))
		}
	})
}
