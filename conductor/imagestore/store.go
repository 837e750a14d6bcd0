package imagestore

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"time"
)

// The subfolders of a Store's folder.
const (
	storedDir  = "stored"
	cacheDir   = "cache"
	partialDir = "partial"
)

// Config is the configuration of a Store. Dir and Log are required.
type Config struct {
	Dir      string
	Cache    int64 // bytes that pulled images may take; 0: none are pulled
	KeepFree int64 // bytes that stay free on the file system of Dir
	Log      *slog.Logger
}

// Store keeps images. It is safe for concurrent use; one process has a folder at a time.
type Store struct {
	Config
	unlock  func() error
	life    context.Context //nolint:containedctx // ends transfers, which outlive the requests that began them
	end     context.CancelFunc
	running sync.WaitGroup
	names   sync.Mutex // held while an image is entered or removed together with its record

	mu      sync.Mutex
	fetches map[string]*fetch // under way, by key
	kept    map[string]*kept  // complete, in the cache
	readers map[string]int    // of contents that are open, by key
	refused map[string]refusal
}

// refusal is why an image was not had, for good.
type refusal struct {
	err   error
	until time.Time // it is tried again after
}

// kept is a complete file of the cache.
type kept struct {
	size int64
	used time.Time
}

// Open makes the folders and lists their contents. Unfinished uploads are removed; unfinished transfers go on when they
// are asked for again.
func Open(c Config) (s *Store, err error) {
	for _, name := range []string{"", storedDir, cacheDir, partialDir} {
		if err := os.MkdirAll(filepath.Join(c.Dir, name), 0o700); err != nil {
			return nil, fmt.Errorf("folder of images: %w", err)
		}
	}
	unlock, err := lock(c.Dir)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, unlock())
		}
	}()
	s = &Store{Config: c, unlock: unlock, fetches: map[string]*fetch{},
		kept: map[string]*kept{}, readers: map[string]int{}, refused: map[string]refusal{}}
	s.life, s.end = context.WithCancel(context.Background())
	if err := errors.Join(s.readCache(), s.dropUploads()); err != nil {
		return nil, fmt.Errorf("folder of images %s: %w", c.Dir, err)
	}
	return s, nil
}

// Close ends all transfers. Their received bytes stay for the next time.
func (s *Store) Close() error {
	s.end()
	s.running.Wait()
	return s.unlock()
}

// lock keeps a second conductor out of a folder.
func lock(dir string) (unlock func() error, err error) {
	f, err := os.OpenFile(filepath.Join(dir, "lock"), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("folder of images: %w", err)
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		return nil, errors.Join(fmt.Errorf("the folder of images %s is in use by another conductor: give each its own "+
			"(--image-folder): %w", dir, err), f.Close())
	}
	return sync.OnceValue(f.Close), nil
}

// Keys are the hex digits of a sha256: of the bytes of a stored image, and 32 of them for a pulled one.
var (
	storedKey = regexp.MustCompile(`^[0-9a-f]{64}$`)
	pulledKey = regexp.MustCompile(`^[0-9a-f]{32}$`)
)

// digestPrefix begins digests.
const digestPrefix = "sha256:"

// KeyOf is the key of a stored image's digest, sha256:hex.
func KeyOf(digest string) string { return strings.TrimPrefix(digest, digestPrefix) }

// final is the path of a complete image; "" for an invalid key, such as a path.
func (s *Store) final(key string) string {
	switch {
	case storedKey.MatchString(key):
		return filepath.Join(s.Dir, storedDir, key)
	case pulledKey.MatchString(key):
		return filepath.Join(s.Dir, cacheDir, key)
	}
	return ""
}

func (s *Store) partial(key string) string { return filepath.Join(s.Dir, partialDir, key) }

// Has reports whether all of an image is here.
func (s *Store) Has(key string) bool {
	path := s.final(key)
	if path == "" {
		return false
	}
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}

// Path is the file of an image; "" while not all of it is here.
func (s *Store) Path(key string) string {
	if !s.Has(key) {
		return ""
	}
	return s.final(key)
}

// Readers is how many readers an image has at the moment.
func (s *Store) Readers(key string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.readers[key]
}

// Caches reports whether images are pulled.
func (s *Store) Caches() bool { return s.Cache > 0 }

// dropUploads removes the remains of uploads of an earlier process.
func (s *Store) dropUploads() error {
	left, err := filepath.Glob(filepath.Join(s.Dir, partialDir, uploadPrefix+"*"))
	for _, path := range left {
		err = errors.Join(err, os.Remove(path))
	}
	return err
}

// Free is how many bytes can be written to the file system of a folder.
func Free(dir string) (int64, error) {
	var st syscall.Statfs_t
	if err := syscall.Statfs(dir, &st); err != nil {
		return 0, fmt.Errorf("free room of %s: %w", dir, err)
	}
	return int64(st.Bavail) * st.Bsize, nil //nolint:gosec,unconvert // far below 2^63 bytes
}

// NoRoomError says that bytes are not taken.
type NoRoomError struct {
	What      string
	permanent bool
}

func (e *NoRoomError) Error() string { return e.What }

// Permanent reports whether trying again later is of no use.
func (e *NoRoomError) Permanent() bool { return e.permanent }

// disk refuses n more bytes for which the file system has no room.
func (s *Store) disk(n int64) error { return s.diskAfter(0, n) }

// diskAfter is disk once removed bytes are removed.
func (s *Store) diskAfter(removed, n int64) error {
	free, err := Free(s.Dir)
	if err != nil {
		return err
	}
	if free+removed-n < s.KeepFree {
		return &NoRoomError{What: fmt.Sprintf("the file system of %s has %d bytes free, of which %d stay free; %d more are "+
			"needed: delete images, or name a larger folder with --image-folder", s.Dir, free, s.KeepFree, n)}
	}
	return nil
}

// syncDir has a rename survive a power cut.
func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

func missing(err error) bool { return errors.Is(err, fs.ErrNotExist) }
