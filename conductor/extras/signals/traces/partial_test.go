package traces

import (
	"errors"
	"testing"
)

// FuzzPartial: any answer of a receiver is read without a panic, and never rejects fewer than one.
func FuzzPartial(f *testing.F) {
	f.Add([]byte("\x0a\x0b\x08\x02\x12\x07no room"))
	f.Add([]byte("\x0a\x00"))
	f.Add([]byte{})
	f.Add([]byte("\x0a\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"))
	f.Add([]byte("\x0a\x0a\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"))
	f.Fuzz(func(t *testing.T, answer []byte) {
		err := partial(answer)
		var rejected *rejectedError
		if err != nil && (!errors.As(err, &rejected) || rejected.count < 1) {
			t.Errorf("%q: %v", answer, err)
		}
		if sent, again, _ := taken(3, err); sent < 0 || sent > 3 || again {
			t.Errorf("%q: %d sent, again %v", answer, sent, again)
		}
		if len(textOf(err)) > 1024 {
			t.Errorf("%q: an error of %d bytes", answer, len(textOf(err)))
		}
	})
}
