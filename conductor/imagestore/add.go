package imagestore

import (
	"bufio"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/ferrite-metal/ferrite/images/disk"
)

// uploadPrefix begins the names of uploads under way.
const uploadPrefix = "upload-"

const (
	chunk   = 1 << 20  // read and written at a time
	recheck = 64 << 20 // bytes after which the room is looked at again
)

// Added is an image as it was taken.
type Added struct {
	Digest string // sha256:hex
	Size   int64
	Kind
}

// SizeError says that an image is not of the size it was said to have.
type SizeError struct{ Want, Got int64 }

func (e *SizeError) Error() string {
	return fmt.Sprintf("%d bytes came, expected %d: send it again", e.Got, e.Want)
}

// ErrEmpty is about an image without bytes.
var ErrEmpty = errors.New("the image is empty: expected a disk, an ISO, a kernel or a ramdisk")

// Add takes an image from r: size bytes, or as many as come for -1. want is the checksum that it must have, or empty.
// commit enters it into the record; it runs once the bytes are on the disk under their digest, and nothing of them
// stays if it fails. Add keeps no more than a few buffers in memory.
func (s *Store) Add(ctx context.Context, r io.Reader, size int64, want disk.Checksum, commit func(Added) error) error {
	begun, err := begin(r)
	if err != nil {
		return err
	}
	return s.add(ctx, begun, size, want, func(_ string, err error) (Added, error) { return Added{}, err }, commit)
}

// begin reads the first bytes of an image, and refuses the rest at once if no machine can use it. A shorter file is
// looked at when all of it has come.
func begin(r io.Reader) (io.Reader, error) {
	whole := bufio.NewReaderSize(r, HeadBytes)
	first, err := whole.Peek(HeadBytes)
	if err == nil { // any other comes again
		_, err = KindOf(first, -1)
		return whole, err
	}
	return whole, nil
}

// add is Add, where inside has another try at a file in which err was found.
func (s *Store) add(ctx context.Context, r io.Reader, size int64, want disk.Checksum,
	inside func(path string, err error) (Added, error), commit func(Added) error) error {
	if err := s.disk(max(size, 0)); err != nil {
		return err
	}
	file, err := os.CreateTemp(filepath.Join(s.Dir, partialDir), uploadPrefix)
	if err != nil {
		return err
	}
	defer os.Remove(file.Name()) //nolint:errcheck // it is gone when it was taken
	added, err := s.receive(ctx, file, r, size, want)
	if errors.As(err, new(*disk.ChecksumError)) {
		added, err = inside(file.Name(), err)
	}
	if err = errors.Join(err, file.Close()); err != nil {
		return err
	}
	return s.enter(file.Name(), added, commit)
}

// AddFrom is Add for an image at one of several URLs. came gets the number of received bytes, and their total (-1:
// unknown); its error ends the transfer.
func (s *Store) AddFrom(ctx context.Context, client *http.Client, urls []string, want disk.Checksum,
	came func(got, size int64) error, commit func(Added) error) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	src, err := disk.OpenMirrors(ctx, client, urls, disk.HTTPOptions{Whole: true}, func(error) {})
	if err != nil {
		return err
	}
	body, err := src.Body(ctx)
	if err != nil {
		return err
	}
	defer body.Close()
	coding := src.Coding()
	if coding != "" && want.Sum == "" {
		return &CodedError{Redacted(urls[0]), coding}
	}
	if err := came(0, src.Size()); err != nil {
		return err
	}
	var whole io.Reader = body
	if coding == "" { // else the bytes inside may be the image
		if whole, err = begin(body); err != nil {
			return err
		}
	}
	counted := func(r io.Reader, size int64) io.Reader { return &countingReader{Reader: r, size: size, came: came} }
	inside := func(path string, err error) (Added, error) {
		if coding == "" {
			return Added{}, err
		}
		added, insideErr := s.inside(ctx, path, want, func(r io.Reader) io.Reader { return counted(r, -1) })
		if insideErr != nil {
			err = fmt.Errorf("%w; the server sent it with Content-Encoding %.40q, which was not asked for; inside: %w", err,
				coding, insideErr)
			return added, err
		}
		return added, nil
	}
	return s.add(ctx, counted(whole, src.Size()), src.Size(), want, inside, commit)
}

// countingReader reports how many bytes were read.
type countingReader struct {
	io.Reader
	got, size int64
	came      func(got, size int64) error
}

func (t *countingReader) Read(p []byte) (int, error) {
	n, err := t.Reader.Read(p)
	t.got += int64(n)
	if refused := t.came(t.got, t.size); refused != nil {
		return 0, refused
	}
	return n, err
}

// receive copies an image into a file, and determines its kind.
func (s *Store) receive(ctx context.Context, file *os.File, r io.Reader, size int64,
	want disk.Checksum) (Added, error) {
	digest := sha256.New()
	checked, into := digest, io.MultiWriter(file, digest)
	if want.Sum != "" && want.Algorithm != disk.SHA256 {
		var err error
		if checked, err = want.Hash(); err != nil {
			return Added{}, err
		}
		into = io.MultiWriter(file, digest, checked)
	}
	n, err := s.copy(ctx, into, r, size)
	switch {
	case err != nil:
		return Added{}, err
	case size >= 0 && n != size:
		return Added{}, &SizeError{size, n}
	case n == 0:
		return Added{}, ErrEmpty
	}
	if got := hex.EncodeToString(checked.Sum(nil)); want.Sum != "" && got != want.Sum {
		return Added{}, &disk.ChecksumError{Want: want, Got: got}
	}
	first := make([]byte, min(n, HeadBytes))
	if _, err := file.ReadAt(first, 0); err != nil {
		return Added{}, err
	}
	kind, err := KindOf(first, n)
	if err != nil {
		return Added{}, err
	}
	return Added{digestPrefix + hex.EncodeToString(digest.Sum(nil)), n, kind}, file.Sync()
}

// copy copies at most size bytes, or all there are for -1, as long as there is room.
func (s *Store) copy(ctx context.Context, into io.Writer, r io.Reader, size int64) (n int64, err error) {
	buffer := make([]byte, chunk)
	for next := int64(recheck); ; {
		if ctx.Err() != nil {
			return n, context.Cause(ctx)
		}
		k, err := r.Read(buffer)
		if n += int64(k); size >= 0 && n > size {
			return n, &SizeError{size, n}
		}
		if _, werr := into.Write(buffer[:k]); werr != nil {
			return n, werr
		}
		switch {
		case errors.Is(err, io.EOF):
			return n, nil
		case err != nil:
			return n, err
		}
		if n >= next { // with a known size, too: others may be written at the same time
			next = n + recheck
			if err := s.disk(recheck); err != nil {
				return n, err
			}
		}
	}
}

// ErrUncertain means that a record may have been made or not. The bytes stay; Sweep removes them if no record names
// them.
var ErrUncertain = errors.New("it is not known whether the image was entered")

// enter puts a complete file under its digest, together with its record.
func (s *Store) enter(path string, a Added, commit func(Added) error) error {
	s.names.Lock()
	defer s.names.Unlock()
	key := KeyOf(a.Digest)
	had := s.Has(key)
	if !had {
		if err := s.place(path, key); err != nil {
			return err
		}
	} else if err := os.Chtimes(s.final(key), time.Time{}, time.Now()); err != nil { // no orphan for Sweep
		return err
	}
	err := commit(a)
	if err != nil && !had && !errors.Is(err, ErrUncertain) {
		err = errors.Join(err, os.Remove(s.final(key)))
	}
	return err
}

// place moves a complete, synced file to where it is found.
func (s *Store) place(path, key string) error {
	final := s.final(key)
	if err := os.Rename(path, final); err != nil {
		return err
	}
	return syncDir(filepath.Dir(final))
}

// Remove removes a stored image together with its record: forget removes that, and reports whether another record
// names the same bytes. Readers under way read on.
func (s *Store) Remove(digest string, forget func() (named bool, err error)) error {
	s.names.Lock()
	defer s.names.Unlock()
	named, err := forget()
	if err != nil || named {
		return err
	}
	if err := os.Remove(s.final(KeyOf(digest))); err != nil && !missing(err) {
		s.Log.Warn("the bytes of a deleted image stay until the next sweep", "digest", digest, "err", err)
	}
	return nil
}

// sweepAfter is the age of a stored file without a record that is an orphan: the record may be about to be written.
const sweepAfter = time.Hour

// Sweep removes stored files that no record names. Their images were deleted elsewhere, or a conductor was killed
// between the two steps.
func (s *Store) Sweep(named []string, now time.Time) error {
	s.names.Lock()
	defer s.names.Unlock()
	entries, err := os.ReadDir(filepath.Join(s.Dir, storedDir))
	if err != nil {
		return err
	}
	var failed []error
	for _, e := range entries {
		info, err := e.Info()
		if err != nil || !storedKey.MatchString(e.Name()) || slices.Contains(named, digestPrefix+e.Name()) ||
			now.Sub(info.ModTime()) < sweepAfter {
			continue
		}
		s.Log.Info("bytes of an image that no record names are removed", "digest", digestPrefix+e.Name(),
			"bytes", info.Size())
		failed = append(failed, os.Remove(s.final(e.Name())))
	}
	return errors.Join(append(failed, s.sweepPartial(now))...)
}

// sweepPartial removes the remains of transfers of stored images. Other conductors may no longer have these images.
func (s *Store) sweepPartial(now time.Time) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	entries, err := os.ReadDir(filepath.Join(s.Dir, partialDir))
	failed := []error{err}
	for _, e := range entries {
		info, err := e.Info()
		if err == nil && storedKey.MatchString(e.Name()) && s.fetches[e.Name()] == nil &&
			now.Sub(info.ModTime()) > sweepAfter {
			failed = append(failed, s.drop(e.Name()))
		}
	}
	return errors.Join(failed...)
}
