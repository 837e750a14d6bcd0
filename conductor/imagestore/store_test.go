package imagestore

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"log/slog"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/iotest"
	"time"

	"github.com/ferrite-metal/ferrite/images/disk"
)

// open opens a store of a folder until the test ends.
func open(t testing.TB, c Config) *Store {
	t.Helper()
	if c.Dir == "" {
		c.Dir = t.TempDir()
	}
	c.Log = slog.New(slog.DiscardHandler)
	s, err := Open(c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// sample is bytes that look like no known format.
func sample(n int, seed uint64) []byte {
	b := make([]byte, n)
	r := rand.NewChaCha8([32]byte{byte(seed)})
	_, _ = r.Read(b)
	b[0] = 0
	return b
}

func sumOf(b []byte) disk.Checksum {
	sum := sha256.Sum256(b)
	return disk.Checksum{Algorithm: disk.SHA256, Sum: hex.EncodeToString(sum[:])}
}

// files are the files of a store, without its lock.
func files(t *testing.T, s *Store) (names []string) {
	t.Helper()
	for _, dir := range []string{storedDir, cacheDir, partialDir} {
		entries, err := os.ReadDir(filepath.Join(s.Dir, dir))
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range entries {
			names = append(names, dir+"/"+e.Name())
		}
	}
	return names
}

func accept(Added) error { return nil }

func TestAdd(t *testing.T) {
	image := sample(3<<20+17, 1)
	other := sample(100, 2)
	refused := errors.New("the name is taken")
	broken := io.MultiReader(bytes.NewReader(other), iotest.ErrReader(io.ErrUnexpectedEOF))
	refuse := func(Added) error { return refused }
	for name, c := range map[string]struct {
		body   io.Reader
		size   int64
		want   disk.Checksum
		commit func(Added) error
		text   string // of the error; "" for success
	}{
		"of known size":         {bytes.NewReader(image), int64(len(image)), sumOf(image), accept, ""},
		"of unknown size":       {bytes.NewReader(image), -1, disk.Checksum{}, accept, ""},
		"byte by byte":          {iotest.OneByteReader(bytes.NewReader(other)), -1, sumOf(other), accept, ""},
		"data with the end":     {iotest.DataErrReader(bytes.NewReader(other)), int64(len(other)), sumOf(other), accept, ""},
		"cut short":             {bytes.NewReader(image[:100]), int64(len(image)), disk.Checksum{}, accept, "100 bytes came"},
		"longer than it says":   {bytes.NewReader(image), 100, disk.Checksum{}, accept, "expected 100"},
		"broken off":            {broken, -1, disk.Checksum{}, accept, "unexpected EOF"},
		"empty":                 {strings.NewReader(""), -1, disk.Checksum{}, accept, "is empty"},
		"with a wrong sum":      {bytes.NewReader(image), -1, sumOf(other), accept, "expected " + sumOf(other).Sum},
		"of no use":             {strings.NewReader("<html><body>404"), -1, disk.Checksum{}, accept, "HTML page"},
		"refused by the record": {bytes.NewReader(image), -1, disk.Checksum{}, refuse, refused.Error()},
	} {
		t.Run(name, func(t *testing.T) {
			s := open(t, Config{})
			err := s.Add(t.Context(), c.body, c.size, c.want, c.commit)
			if c.text == "" {
				if got := files(t, s); err != nil || len(got) != 1 || !strings.HasPrefix(got[0], storedDir) {
					t.Errorf("error %v, files %q", err, got)
				}
				return
			}
			if err == nil || !strings.Contains(err.Error(), c.text) {
				t.Errorf("error %v, expected %q", err, c.text)
			}
			if got := files(t, s); len(got) > 0 {
				t.Errorf("something stays: %q", got)
			}
		})
	}
}

// TestAddTwice: one digest is stored once, however many add it at a time, and stays until the last name of it goes.
func TestAddTwice(t *testing.T) {
	s, image := open(t, Config{}), sample(1<<20, 3)
	var names sync.Map
	var added sync.WaitGroup
	for i := range 4 {
		added.Go(func() {
			if err := s.Add(t.Context(), bytes.NewReader(image), -1, disk.Checksum{}, func(a Added) error {
				names.Store(i, a.Digest)
				return nil
			}); err != nil {
				t.Error(err)
			}
		})
	}
	added.Wait()
	key := sumOf(image).Sum
	for i := range 4 {
		if got, _ := names.Load(i); got != digestPrefix+key {
			t.Fatalf("the digest is %v", got)
		}
		if got := files(t, s); len(got) != 1 || got[0] != storedDir+"/"+key {
			t.Fatalf("files %q", got)
		}
		last := i == 3
		if err := s.Remove(digestPrefix+key, func() (bool, error) { return !last, nil }); err != nil {
			t.Fatal(err)
		}
	}
	if got := files(t, s); len(got) > 0 {
		t.Errorf("files %q", got)
	}
}

// TestAddIsBounded: no image is taken that the file system has no room for.
func TestAddIsBounded(t *testing.T) {
	s := open(t, Config{})
	free, err := Free(s.Dir)
	if err != nil {
		t.Fatal(err)
	}
	var none *NoRoomError
	err = s.Add(t.Context(), bytes.NewReader(sample(9, 1)), free+1<<20, disk.Checksum{}, accept)
	if !errors.As(err, &none) || len(files(t, s)) > 0 {
		t.Errorf("more than there is room for: %v, files %q", err, files(t, s))
	}
}

// TestRemoveWhileRead: a reader has all of an image that is deleted meanwhile.
func TestRemoveWhileRead(t *testing.T) {
	s, image := open(t, Config{}), sample(1<<20, 4)
	if err := s.Add(t.Context(), bytes.NewReader(image), -1, disk.Checksum{}, accept); err != nil {
		t.Fatal(err)
	}
	c, err := s.Open(t.Context(), sumOf(image).Sum)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if err := s.Remove(digestPrefix+sumOf(image).Sum, func() (bool, error) { return false, nil }); err != nil {
		t.Fatal(err)
	}
	got, err := io.ReadAll(c)
	if err != nil || !bytes.Equal(got, image) || s.Has(sumOf(image).Sum) {
		t.Errorf("%d bytes, %v; still there: %v", len(got), err, s.Has(sumOf(image).Sum))
	}
}

// TestKeys: an invalid key, such as a path, opens nothing.
func TestKeys(t *testing.T) {
	s := open(t, Config{})
	if err := os.WriteFile(filepath.Join(s.Dir, "secret"), []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, key := range []string{"", ".", "..", "../secret", "lock", strings.Repeat("a", 31), strings.Repeat("A", 64),
		strings.Repeat("a", 63) + "/", "../" + strings.Repeat("a", 61)} {
		if _, err := s.Open(t.Context(), key); !missing(err) || s.Has(key) {
			t.Errorf("key %q: %v", key, err)
		}
	}
}

// TestSweep: bytes that no record names go, once they are old enough that no record is about to be written.
func TestSweep(t *testing.T) {
	s := open(t, Config{})
	var digests []string
	for i := range uint64(3) {
		if err := s.Add(t.Context(), bytes.NewReader(sample(100, i)), -1, disk.Checksum{}, func(a Added) error {
			digests = append(digests, a.Digest)
			return nil
		}); err != nil {
			t.Fatal(err)
		}
	}
	past := time.Now().Add(-2 * sweepAfter)
	for _, d := range digests[:2] {
		if err := os.Chtimes(s.final(KeyOf(d)), past, past); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Sweep(digests[:1], time.Now()); err != nil {
		t.Fatal(err)
	}
	if s.Has(KeyOf(digests[1])) || !s.Has(KeyOf(digests[0])) || !s.Has(KeyOf(digests[2])) {
		t.Errorf("files %q of %q", files(t, s), digests)
	}
}

// TestOneOwner: a second conductor is kept out of a folder, and an upload that was cut off by a kill is cleared away.
func TestOneOwner(t *testing.T) {
	s := open(t, Config{})
	if _, err := Open(Config{Dir: s.Dir, Log: s.Log}); err == nil || !strings.Contains(err.Error(), "in use") {
		t.Errorf("a second owner: %v", err)
	}
	dir := t.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, partialDir), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, partialDir, uploadPrefix+"1"), []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := files(t, open(t, Config{Dir: dir})); len(got) > 0 {
		t.Errorf("files %q", got)
	}
}

func TestCancelledAdd(t *testing.T) {
	s := open(t, Config{})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := s.Add(ctx, bytes.NewReader(sample(9, 1)), 9, disk.Checksum{}, accept); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
}
