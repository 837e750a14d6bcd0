package imagestore

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// readCache lists the cached images, and drops images beyond the bounds.
func (s *Store) readCache() error {
	entries, err := os.ReadDir(filepath.Join(s.Dir, cacheDir))
	if err != nil {
		return err
	}
	for _, e := range entries {
		info, err := e.Info()
		if err != nil {
			return err
		}
		if info.Mode().IsRegular() && pulledKey.MatchString(e.Name()) {
			s.kept[e.Name()] = &kept{info.Size(), info.ModTime()}
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.evict(0)
}

// used notes that an image was opened. The time is kept as the file's modification time, beyond this process. The
// caller holds the lock.
func (s *Store) used(key string) {
	k, now := s.kept[key], time.Now()
	if k == nil {
		return
	}
	if now.Sub(k.used) > time.Minute {
		_ = os.Chtimes(s.final(key), time.Time{}, now) // an older one only has it go earlier
	}
	k.used = now
}

// keepRoom refuses size bytes of an image that could not fit into the cache and onto the file system, with all that is
// on its way. No image goes yet: a server may announce a size, and send nothing.
func (s *Store) keepRoom(key string, size int64, stored bool) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	have := int64(0) // of the image, on the disk already
	if info, err := os.Stat(s.partial(key)); err == nil {
		have = info.Size()
	}
	if stored {
		return s.disk(size - have)
	}
	if size > s.Cache {
		return &NoRoomError{fmt.Sprintf("the image has %d bytes, and all pulled images together may have %d: raise "+
			"--image-cache", size, s.Cache), true}
	}
	if f := s.fetches[key]; f != nil {
		f.change(func() { f.room = size })
	}
	return s.attainable(size - have)
}

// makeRoom makes room for need more bytes. Images without readers are removed, the least recently used first. Images
// opened since keepRoom stay, and the cache is too large meanwhile.
func (s *Store) makeRoom(need int64) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.evict(need)
}

// attainable refuses need more bytes if removing all images without readers would not make room for them. Otherwise
// images would be removed for an image that cannot come. The caller holds the lock.
func (s *Store) attainable(need int64) error {
	removable := int64(0)
	for key, k := range s.kept {
		if s.readers[key] == 0 {
			removable += k.size
		}
	}
	for _, size := range s.left() {
		removable += size
	}
	if over := s.total(true) - s.Cache - removable; over > 0 {
		return &NoRoomError{What: fmt.Sprintf("--image-cache (%d bytes) is full of images that machines are reading, and "+
			"%d bytes more are needed: try again later, or raise it", s.Cache, over)}
	}
	return s.diskAfter(removable, need)
}

// evict removes images until the cache and the file system have room for need more bytes, or until all remaining images
// have readers. The caller holds the lock.
func (s *Store) evict(need int64) error {
	for {
		over := s.total(false) + need - s.Cache
		if over <= 0 && s.disk(need) == nil {
			return nil
		}
		oldest := ""
		for key, k := range s.kept {
			if s.readers[key] == 0 && (oldest == "" || k.used.Before(s.kept[oldest].used)) {
				oldest = key
			}
		}
		if oldest == "" {
			return s.evictPartial(over, need)
		}
		s.Log.Info("a pulled image goes, to make room", "file", oldest, "bytes", s.kept[oldest].size)
		if err := os.Remove(s.final(oldest)); err != nil && !missing(err) {
			return err
		}
		delete(s.kept, oldest)
	}
}

// evictPartial removes the remains of ended transfers, until the cache is within its bound and the file system has need
// bytes to spare.
func (s *Store) evictPartial(over, need int64) error {
	for key, size := range s.left() {
		if over <= 0 && s.disk(need) == nil {
			return nil
		}
		if err := s.drop(key); err != nil {
			return err
		}
		over -= size
	}
	return nil
}

// total is the size of the cache, including images on their way: their bytes so far, or all announced bytes. The caller
// holds the lock.
func (s *Store) total(announced bool) (n int64) {
	for _, k := range s.kept {
		n += k.size
	}
	for key, f := range s.fetches {
		if pulledKey.MatchString(key) {
			f.mu.Lock()
			if n += f.got; announced {
				n += max(f.room-f.got, 0)
			}
			f.mu.Unlock()
		}
	}
	for _, size := range s.left() {
		n += size
	}
	return n
}

// left lists the partial files of pulled images without a running transfer, with their sizes. The caller holds the
// lock.
func (s *Store) left() map[string]int64 {
	all := map[string]int64{}
	entries, err := os.ReadDir(filepath.Join(s.Dir, partialDir))
	if err != nil {
		s.Log.Warn("partial images cannot be counted", "err", err)
	}
	for _, e := range entries {
		info, err := e.Info()
		if key := e.Name(); err == nil && pulledKey.MatchString(key) && s.fetches[key] == nil {
			all[key] = info.Size()
		}
	}
	return all
}

// drop removes a partial file.
func (s *Store) drop(key string) error {
	var failed []error
	for _, path := range []string{s.partial(key), s.notePath(key)} {
		if err := os.Remove(path); err != nil && !missing(err) {
			failed = append(failed, err)
		}
	}
	return errors.Join(failed...)
}

// ParseSize reads a number of bytes as people write it: 500M, 20GiB, 0.
func ParseSize(text string) (int64, error) {
	upper := strings.TrimSuffix(strings.TrimSuffix(strings.ToUpper(strings.TrimSpace(text)), "B"), "I")
	shift := 0
	if n := len(upper); n > 0 {
		if i := strings.IndexByte("KMGT", upper[n-1]); i >= 0 {
			upper, shift = upper[:n-1], 10*(i+1)
		}
	}
	var n int64
	if _, err := fmt.Sscanf(upper+" end", "%d end", &n); err != nil || n < 0 || n > (1<<62)>>shift {
		return 0, fmt.Errorf("%q is no size: expected a number of bytes, such as 500M, 20G or 1T (powers of 1024), or 0",
			text)
	}
	return n << shift, nil
}
