package imagestore

import (
	"bytes"
	"crypto/sha512"
	"encoding/hex"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/ferrite-metal/ferrite/images/disk"
)

// TestCacheIsBounded: the least recently used image goes first, an image with a reader stays, and an image larger than
// the cache is refused.
func TestCacheIsBounded(t *testing.T) {
	const size = 1 << 20
	s := open(t, Config{Cache: 2*size + size/2})
	var sources []Source
	pull := func(i int) (*Content, error) {
		c, err := s.Pull(t.Context(), sources[i])
		if err == nil {
			_, err = io.Copy(io.Discard, c)
		}
		s.running.Wait()
		return c, err
	}
	for i := range uint64(4) {
		sources = append(sources, newOrigin(t, sample(size, i), nil).source())
	}
	for _, i := range []int{0, 1, 0, 2} { // 1 is the oldest when 2 comes
		c, err := pull(i)
		if err != nil {
			t.Fatal(err)
		}
		_ = c.Close()
	}
	if s.Has(sources[1].Key()) || !s.Has(sources[0].Key()) || !s.Has(sources[2].Key()) {
		t.Errorf("files %q", files(t, s))
	}
	var open []*Content
	for _, i := range []int{0, 2} {
		c, err := s.Open(t.Context(), sources[i].Key())
		if err != nil {
			t.Fatal(err)
		}
		open = append(open, c)
	}
	var full *NoRoomError
	if _, err := pull(3); !errors.As(err, &full) || full.Permanent() {
		t.Errorf("all are being read: %v", err)
	}
	_ = open[0].Close()
	bigger := newOrigin(t, sample(2*size, 8), nil).source()
	if _, err := s.Pull(t.Context(), bigger); !errors.As(err, &full) || !s.Has(sources[0].Key()) {
		t.Errorf("one goes for an image that does not fit all the same: %v, files %q", err, files(t, s))
	}
	_ = open[1].Close()
	if c, err := pull(3); err != nil {
		t.Errorf("none is being read: %v", err)
	} else {
		_ = c.Close()
	}
	large := newOrigin(t, sample(3*size, 9), nil).source()
	if _, err := s.Pull(t.Context(), large); !errors.As(err, &full) || !full.Permanent() {
		t.Errorf("larger than all: %v", err)
	}
	dir := s.Dir
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s, err := Open(Config{Dir: dir, Cache: size, Log: s.Log})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if s.total(false) > size {
		t.Errorf("%d bytes after a start with a smaller bound", s.total(false))
	}
}

// TestAnnouncedSize: a server that announces an image as large as the cache has others go no faster than its bytes
// come.
func TestAnnouncedSize(t *testing.T) {
	const size = 1 << 20
	s := open(t, Config{Cache: 4 * size})
	var old []Source
	for i := range uint64(4) {
		old = append(old, newOrigin(t, sample(size, i), nil).source())
		if c, err := s.Pull(t.Context(), old[i]); err != nil {
			t.Fatal(err)
		} else if s.running.Wait(); c.Close() != nil {
			t.Fatal("not closed")
		}
	}
	gate := make(chan struct{})
	c, err := s.Pull(t.Context(), newOrigin(t, sample(4*size, 9), gate).source())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	for i, src := range old[2:] {
		if !s.Has(src.Key()) {
			t.Errorf("image %d went for the first half of another", i+2)
		}
	}
	close(gate)
	s.running.Wait()
	s.mu.Lock()
	defer s.mu.Unlock()
	if all := s.total(false); all != 4*size {
		t.Errorf("%d bytes once it has come, of %d", all, 4*size)
	}
}

// TestUnknownSize: an origin that does not say how long an image is has it served once all of it is there, and is
// read no further than the cache has room.
func TestUnknownSize(t *testing.T) {
	image := sample(1<<20, 1)
	endless := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/os.raw" {
			_, _ = w.Write(image)
			return
		}
		for r.Context().Err() == nil {
			if _, err := w.Write(image); err != nil {
				return
			}
		}
	}))
	defer endless.Close()
	s := open(t, Config{Cache: 4 << 20})
	sum := sha512.Sum512(image)
	src := Source{URLs: []string{endless.URL + "/os.raw"}, Client: endless.Client(),
		Sum: disk.Checksum{Algorithm: disk.SHA512, Sum: hex.EncodeToString(sum[:])}}
	got, _, err := get(t.Context(), serve(t, s, src), "")
	if err != nil || !bytes.Equal(got, image) {
		t.Errorf("%d bytes, %v", len(got), err)
	}
	src.URLs = []string{endless.URL + "/endless"}
	var full *NoRoomError
	if _, err := s.Pull(t.Context(), src); !errors.As(err, &full) {
		t.Errorf("an endless image: %v", err)
	}
}
