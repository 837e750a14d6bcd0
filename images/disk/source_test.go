package disk

import "testing"

func TestSizeHint(t *testing.T) {
	raw := pattern(1<<20, 1)
	for name, tc := range map[string]struct {
		src  Source
		want int64
	}{
		"raw":                 {memSource{b: raw}, 1 << 20},
		"qcow2":               {memSource{b: convert(t, raw, "-O", "qcow2")}, 1 << 20},
		"qcow2 cut short":     {memSource{b: convert(t, raw, "-O", "qcow2")[:31]}, 0},
		"gz":                  {memSource{b: gz(t, raw)}, 0},
		"a format we refuse":  {memSource{b: []byte("KDMV")}, 0},
		"raw of unknown size": {memSource{b: raw, unknown: true}, 0},
	} {
		if got := SizeHint(tc.src); got != tc.want {
			t.Errorf("%s: %d, want %d", name, got, tc.want)
		}
	}
}
