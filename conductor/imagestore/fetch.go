package imagestore

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"
	"maps"
	"net/http"
	"os"
	"sync"
	"time"

	"github.com/ferrite-metal/ferrite/images/disk"
)

// Source is an image elsewhere, and the checksum by which it is known to be the right one.
type Source struct {
	URLs   []string    // of the image and its mirrors, tried in this order
	Header http.Header // for the host of the first URL
	Client *http.Client
	Sum    disk.Checksum
	Size   int64  // bytes that it must have; 0 for any
	Called string // its name in errors, where the URL is not for everybody; "" for the URL
	// Authorized: Client shows credentials that Header does not have.
	Authorized bool
	// Stored: it is an operator's image, which another conductor has. It is kept until it is removed; its checksum is
	// its sha256.
	Stored bool
	// Owner is the project of the node that the image is for, "" for the system.
	Owner string
}

// Key is the key of the image in a Store. For a pulled image it includes the URL with its credentials: knowledge of a
// checksum must not give access to an image that another user had credentials for. An authorized image has another key
// than an unauthorized one at the same URL.
func (src Source) Key() string {
	if src.Stored {
		return src.Sum.Sum
	}
	text := string(src.Sum.Algorithm) + ":" + src.Sum.Sum + " " + src.URLs[0]
	if src.Authorized || src.Header.Get("Authorization") != "" {
		text += " authorized"
	}
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:16])
}

// holdBack is how many of the last bytes are held back until the checksum was found right.
const holdBack = 64 << 10

// fetch is a transfer under way, from one origin to any number of readers.
type fetch struct {
	key   string
	owner string

	mu      sync.Mutex
	changed chan struct{} // closed and replaced with each change of the fields below
	size    int64         // -1: not known
	got     int64         // bytes in the file
	room    int64         // bytes that it may take of the cache
	done    bool
	err     error // why it has failed
}

func newFetch(key, owner string) *fetch {
	return &fetch{key: key, owner: owner, size: -1, changed: make(chan struct{})}
}

// change changes a fetch, and wakes its readers.
func (f *fetch) change(do func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	do()
	close(f.changed)
	f.changed = make(chan struct{})
}

// until waits until the fetch has failed, or ready says that enough has come. The lock is held while ready runs.
func (f *fetch) until(ctx context.Context, ready func() bool) error {
	for {
		f.mu.Lock()
		err, ok, changed := f.err, ready(), f.changed
		f.mu.Unlock()
		switch {
		case err != nil:
			return err
		case ok:
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// servable is how many bytes readers may have. The lock is held.
func (f *fetch) servable() int64 {
	if f.done {
		return f.size
	}
	return max(0, min(f.got, f.size-holdBack))
}

// refusedFor is how long a failure that no other try mends is answered from memory: each of many readers asks again.
const refusedFor = 30 * time.Second

// Pull opens an image, and begins to fetch it if it is missing. It returns as soon as the size is known; reading waits
// for bytes that have yet to come. One transfer serves all callers of the same image. It goes on when ctx ends.
func (s *Store) Pull(ctx context.Context, src Source) (*Content, error) {
	key := src.Key()
	for {
		s.mu.Lock()
		f := s.fetches[key]
		if f == nil && !s.Has(key) {
			if s.life.Err() != nil {
				s.mu.Unlock()
				return nil, context.Cause(s.life)
			}
			if r, ok := s.refused[key]; ok && time.Now().Before(r.until) {
				s.mu.Unlock()
				return nil, r.err
			}
			if err := s.mayPull(src); err != nil {
				s.mu.Unlock()
				return nil, err
			}
			f = newFetch(key, src.Owner)
			s.fetches[key] = f
			s.running.Go(func() { s.carryOut(f, src) })
		}
		s.mu.Unlock()
		if f != nil {
			if err := f.until(ctx, func() bool { return f.size >= 0 || f.done }); err != nil {
				return nil, err
			}
		}
		c, err := s.Open(ctx, key)
		if !missing(err) || f == nil && ctx.Err() != nil {
			return c, err
		}
	}
}

// carryOut fetches an image to its end.
func (s *Store) carryOut(f *fetch, src Source) {
	began := time.Now()
	err := s.transfer(f, src)
	s.mu.Lock()
	delete(s.fetches, f.key)
	if err == nil && !src.Stored {
		s.kept[f.key] = &kept{f.got, time.Now()}
	}
	s.refuse(f.key, err)
	s.mu.Unlock()
	f.change(func() {
		f.err = err
		if f.done = err == nil; f.done {
			f.size = f.got
		}
	})
	at := src.name()
	if err != nil {
		s.Log.Warn("image not fetched", "url", at, "err", err)
		return
	}
	s.Log.Info("image fetched", "url", at, "bytes", f.got, "took", time.Since(began).Round(time.Millisecond))
}

// refuse remembers a failure that no other try mends. The lock is held.
func (s *Store) refuse(key string, err error) {
	now := time.Now()
	maps.DeleteFunc(s.refused, func(_ string, r refusal) bool { return now.After(r.until) })
	var lasting interface{ Permanent() bool }
	if errors.As(err, &lasting) && lasting.Permanent() {
		s.refused[key] = refusal{err, now.Add(refusedFor)}
	}
}

// note describes an incomplete file.
type note struct {
	Size    int64  `json:"size"`
	Version string `json:"version"`
}

func (s *Store) notePath(key string) string { return s.partial(key) + ".json" }

// transfer fetches an image into its partial file, verifies it, and puts it to its place.
func (s *Store) transfer(f *fetch, src Source) (err error) {
	ctx, cancel := context.WithCancel(s.life)
	defer cancel()
	sum, err := src.Sum.Hash()
	if err != nil {
		return err
	}
	p, err := s.begin(ctx, f, src, sum)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, p.file.Close(), p.body.Close()) }()
	if err := s.receiveInto(ctx, f, p, sum); err != nil {
		return err
	}
	got := hex.EncodeToString(sum.Sum(nil))
	if got != src.Sum.Sum && p.coding != "" {
		bounded := func(r io.Reader) io.Reader { return io.LimitReader(r, s.Cache+1) }
		a, err := s.inside(ctx, p.file.Name(), src.Sum, bounded)
		s.Log.Info("an image came with a Content-Encoding that was not asked for, and is not the image itself", "url",
			src.name(), "err", err)
		if err == nil {
			got = src.Sum.Sum
			f.change(func() { f.got = a.Size })
			if err := errors.Join(s.keepRoom(f.key, a.Size, src.Stored), s.makeRoom(0)); err != nil {
				return err
			}
		}
	}
	if got != src.Sum.Sum {
		return errors.Join(&ChangedError{At: src.called(), Sum: disk.ChecksumError{Want: src.Sum, Got: got}}, s.drop(f.key))
	}
	if err := p.file.Sync(); err != nil {
		return err
	}
	if err := s.place(p.file.Name(), f.key); err != nil {
		return err
	}
	return os.Remove(s.notePath(f.key))
}

// part is an image that is not complete, and where the rest comes from.
type part struct {
	file *os.File
	from int64 // bytes that it has
	body io.ReadCloser
	// coding is the Content-Encoding that was not asked for: only at its end it is known which bytes are the image.
	coding string
}

// begin asks for an image, from where an earlier transfer had come to if it still is the same, else from its start. It
// keeps room for it.
func (s *Store) begin(ctx context.Context, f *fetch, src Source, sum hash.Hash) (p part, err error) {
	had, known := s.earlier(f.key)
	options := disk.HTTPOptions{Header: src.Header, Whole: !known, Least: leastBytes}
	if src.Stored { // another conductor is there, or it has ended
		options.Retries = 1
	}
	open, err := disk.OpenMirrors(ctx, src.Client, src.URLs, options,
		func(why error) { s.Log.Warn("image goes on from its next mirror", "err", why) })
	if err != nil {
		return p, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, open.Close())
		}
	}()
	p.coding = open.Coding()
	if p.coding == "" && src.Size > 0 && open.Size() >= 0 && open.Size() != src.Size {
		return p, &OtherSizeError{At: src.called(), Want: src.Size, Got: open.Size()}
	}
	now := note{open.Size(), open.Version()}
	if p.coding != "" {
		now = note{Size: -1}
	}
	goesOn := known && had == now && now.Version != ""
	if !goesOn { // a new file: readers of the one before have that until they have ended
		if err := s.drop(f.key); err != nil {
			return p, err
		}
	}
	if err := s.keepRoom(f.key, max(now.Size, 0), src.Stored); err != nil {
		return p, err
	}
	if err := s.write(f.key, now); err != nil {
		return p, err
	}
	if p.file, err = os.OpenFile(s.partial(f.key), os.O_RDWR|os.O_CREATE, 0o600); err != nil {
		return p, err
	}
	if goesOn {
		p.from, err = io.Copy(sum, p.file)
		p.body = open.BodyFrom(ctx, p.from)
		s.Log.Info("image goes on where its transfer had ended", "url", src.name(), "bytes", p.from)
	} else {
		p.body, err = open.Body(ctx)
	}
	if err != nil {
		return p, errors.Join(err, p.file.Close())
	}
	f.change(func() { f.size, f.got = now.Size, p.from })
	return p, nil
}

// earlier reads the note of a partial file that has bytes.
func (s *Store) earlier(key string) (n note, known bool) {
	info, err := os.Stat(s.partial(key))
	if err != nil || info.Size() == 0 {
		return n, false
	}
	text, err := os.ReadFile(s.notePath(key))
	if err != nil || json.Unmarshal(text, &n) != nil || info.Size() > n.Size {
		return n, false
	}
	return n, true
}

func (s *Store) write(key string, n note) error {
	text, err := json.Marshal(n)
	if err != nil {
		return err
	}
	return os.WriteFile(s.notePath(key), text, 0o600)
}

// receiveInto appends a body to a file, and lets readers have it.
func (s *Store) receiveInto(ctx context.Context, f *fetch, p part, sum hash.Hash) error {
	left, body := int64(-1), io.Reader(p.body)
	if f.size >= 0 {
		left = f.size - p.from
	} else {
		body = io.LimitReader(body, s.Cache+1)
	}
	n, err := s.copy(ctx, io.MultiWriter(&arriving{s, f, 0}, p.file, sum, progress{f}), body, left)
	switch {
	case err != nil:
		return err
	case left >= 0 && n != left:
		return &SizeError{left, n}
	case left < 0:
		return errors.Join(s.keepRoom(f.key, n, false), s.makeRoom(0))
	}
	return nil
}

// arriving makes room for the bytes of an image of known size.
type arriving struct {
	*Store
	f    *fetch
	made int64
}

func (a *arriving) Write(b []byte) (int, error) {
	if got := a.f.got + int64(len(b)); a.f.room > 0 && got > a.made {
		a.made = min(max(got, a.made+chunk), a.f.room)
		return len(b), a.makeRoom(a.made - a.f.got)
	}
	return len(b), nil
}

// progress reports received bytes to the readers of a fetch.
type progress struct{ f *fetch }

func (p progress) Write(b []byte) (int, error) {
	p.f.change(func() { p.f.got += int64(len(b)) })
	return len(b), nil
}

// name is the first URL without credentials, for people.
func (src Source) name() string { return Redacted(src.URLs[0]) }

// called is the name of the image in errors, which others than operators read.
func (src Source) called() string { return cmp.Or(src.Called, src.name()) }

// OtherSizeError says that an image at a URL has another size than it must have.
type OtherSizeError struct {
	At        string
	Want, Got int64
}

func (e *OtherSizeError) Error() string {
	return fmt.Sprintf("the image at %s has %d bytes, expected %d: it is another one than was asked for", e.At, e.Got,
		e.Want)
}

// Permanent says that trying again does not help.
func (*OtherSizeError) Permanent() bool { return true }

// ChangedError says that an image at a URL has another checksum than expected. It does not contain the checksum found.
// A user that deploys may have no access to that URL, and with the checksum could get its bytes.
type ChangedError struct {
	At  string
	Sum disk.ChecksumError
}

func (e *ChangedError) Error() string {
	return fmt.Sprintf("the image at %s is another one than was asked for, or damaged: its %s is not %s; nobody was given"+
		" it; restore the image, or correct the checksum", e.At, e.Sum.Want.Algorithm, e.Sum.Want.Sum)
}

// Unwrap is the error about the sums.
func (e *ChangedError) Unwrap() error { return &e.Sum }

// Permanent says that trying again does not help.
func (*ChangedError) Permanent() bool { return true }
