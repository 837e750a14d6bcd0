package imagestore

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"hash"
	"io"
	"os"

	"github.com/ferrite-metal/ferrite/images/disk"
)

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
		func(why error) { s.Log.Warn("image continues from its next mirror", "err", why) })
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
		s.Log.Info("image continues where its transfer had ended", "url", src.name(), "bytes", p.from)
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
