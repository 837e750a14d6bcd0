package imagestore

import (
	"errors"
	"fmt"
	"testing"
)

// TestPullsAreBounded: slow servers of one project leave transfers to others, and the number of all transfers is
// bounded.
func TestPullsAreBounded(t *testing.T) {
	s := open(t, Config{Cache: 1 << 30})
	gate := make(chan struct{})
	o := newOrigin(t, sample(1<<20, 1), gate)
	pull := func(owner string, i int) error {
		src := o.source()
		src.URLs, src.Owner = []string{fmt.Sprintf("%s/%s%d", o.URL, owner, i)}, owner
		c, err := s.Pull(t.Context(), src)
		if err == nil {
			err = c.Close()
		}
		return err
	}
	var full *NoRoomError
	for i := range pulls/4 + 1 {
		if err := pull("blue", i); (i == pulls/4) != errors.As(err, &full) {
			t.Errorf("image %d of one project: %v", i, err)
		}
	}
	if err := pull("blue", 0); err != nil {
		t.Errorf("another reader of an image that comes: %v", err)
	}
	for _, c := range []struct {
		owner  string
		images int // of four that it gets
	}{{"red", 4}, {"green", 4}, {"white", 1}, {"", 3}, {"black", 0}} {
		for i := range 4 {
			if err := pull(c.owner, i); (err == nil) != (i < c.images) {
				t.Errorf("image %d of %q: %v", i, c.owner, err)
			}
		}
	}
	if err := pull("", 5); !errors.As(err, &full) || full.Permanent() {
		t.Errorf("one too many of all: %v", err)
	}
	close(gate)
	s.running.Wait()
	if err := pull("blue", pulls); err != nil {
		t.Errorf("once they have come: %v", err)
	}
}
