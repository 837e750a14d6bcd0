package imagelibrary

import (
	"context"
	"errors"
	"io"
	"net/http"
	"syscall"

	"github.com/ferrite-metal/ferrite/conductor/imagestore"
	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/images/disk"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// Upload stores an image of size bytes from body; -1 for an unknown size. by is the user that sends it.
func (l *Library) Upload(ctx context.Context, w nodeapi.NewImage, by string, body io.Reader,
	size int64) (nodeapi.Image, error) {
	want, err := l.check(ctx, w)
	if err != nil {
		return nodeapi.Image{}, err
	}
	most, err := l.quota(ctx, w.Owner)
	if err == nil {
		err = most.fits(max(size, 0))
	}
	if err != nil {
		return nodeapi.Image{}, err
	}
	ctx, turn, err := l.turns.take(ctx, l.Log, w.Owner, by)
	if err != nil {
		return nodeapi.Image{}, err
	}
	defer l.turns.end(turn)
	var saved node.Image
	err = l.Bytes.Add(ctx, &bounded{Reader: arriving{body, turn}, most: most}, size, want,
		l.enter(ctx, node.Image{CreatedBy: by}, w, &saved))
	if err != nil {
		return nodeapi.Image{}, faultOf(err)
	}
	return l.shown(saved), nil
}

// check refuses an image that could not be entered, before any of its bytes are read.
func (l *Library) check(ctx context.Context, w nodeapi.NewImage) (want disk.Checksum, err error) {
	if !node.ValidImageName(w.Name) {
		return want, nodeapi.NewFault(http.StatusBadRequest, "%q cannot be the name of an image: expected up to 128 "+
			"letters, digits, and ._~- after the first.", w.Name)
	}
	if w.Checksum != "" {
		if want, err = disk.ParseChecksum(w.Checksum); err != nil || want.Algorithm == disk.MD5 {
			return want, nodeapi.NewFault(http.StatusBadRequest, "The checksum %.140q is not valid: expected the hex digits "+
				"of a sha256 or sha512, with or without its name and a colon before them. MD5 can be forged.", w.Checksum)
		}
	}
	named, err := l.Records.List(ctx, "name", w.Name)
	if err != nil {
		return want, err
	}
	known, err := node.PickImage(w.Name, named, w.Owner)
	switch {
	case errors.Is(err, node.ErrNotFound):
		return want, nil
	case err != nil:
		return want, err
	case known.Owner != w.Owner: // for this project the bytes under the name would change
		return want, nodeapi.NewFault(http.StatusConflict, "An image with name %s already exists for all projects; it has "+
			"%s. Use another name.", w.Name, known.Digest)
	case want.Algorithm == disk.SHA256 && "sha256:"+want.Sum != known.Digest:
		return want, nodeapi.NewFault(http.StatusConflict, "Image %s exists with other bytes: it has %s, and the new one "+
			"sha256:%s. An image does not change under its name: use another name, or delete it first.", w.Name,
			known.Digest, want.Sum)
	}
	return want, nodeapi.NewFault(http.StatusConflict, "An image with name %s already exists; it has %s. Use another "+
		"name, or delete it first.", w.Name, known.Digest)
}

// quota is how large an image of a project may be.
type quota struct {
	bytes int64
	over  func(size int64) error // -1: larger than bytes
}

// fits refuses an image of size bytes.
func (q quota) fits(size int64) error {
	if size > q.bytes {
		return q.over(size)
	}
	return nil
}

// quota returns how large an image of a project may be, with the error for a larger one.
func (l *Library) quota(ctx context.Context, owner string) (quota, error) {
	all := quota{l.MaxSize, l.tooLarge}
	if owner == "" || l.MaxOwned == 0 {
		return all, nil
	}
	images, err := l.Records.List(ctx, "")
	if err != nil {
		return all, err
	}
	has := int64(0)
	for _, i := range images {
		if i.Owner == owner {
			has += i.Size
		}
	}
	left := max(l.MaxOwned-has, 0)
	if left >= l.MaxSize {
		return all, nil
	}
	return quota{left, func(int64) error {
		return nodeapi.NewFault(http.StatusRequestEntityTooLarge, "The images of project %s have %d bytes, and may have %d "+
			"(--image-project-limit): there is no room for this one. Delete images of the project, or have the limit "+
			"raised.", owner, has, l.MaxOwned)
	}}, nil
}

// enter makes the record of an image after its bytes are stored.
func (l *Library) enter(ctx context.Context, i node.Image, w nodeapi.NewImage,
	saved *node.Image) func(imagestore.Added) error {
	return func(a imagestore.Added) (err error) {
		if _, err := l.check(ctx, w); err != nil { // another may have come in the meantime
			return err
		}
		most, err := l.quota(ctx, w.Owner)
		if err == nil {
			err = most.fits(a.Size)
		}
		if err != nil {
			return err
		}
		if sum, err := disk.ParseChecksum(w.Checksum); err == nil {
			i.Checksum = string(sum.Algorithm) + ":" + sum.Sum
		}
		i.Name, i.Owner, i.Source, i.Conductor = w.Name, w.Owner, source(w.URL), l.Conductor
		i.Digest, i.Size, i.VirtualSize, i.Format, i.Compression = a.Digest, a.Size, a.DiskSize, a.Format, a.Compression
		*saved, err = l.Records.Create(ctx, i)
		var refused *node.Refusal
		if err != nil && !errors.As(err, &refused) {
			err = errors.Join(imagestore.ErrUncertain, err)
		}
		return err
	}
}

// source is a URL without credentials.
func source(rawURL string) string {
	if rawURL == "" {
		return ""
	}
	return imagestore.Redacted(rawURL)
}

func (l *Library) tooLarge(size int64) error {
	if size < 0 {
		return nodeapi.NewFault(http.StatusRequestEntityTooLarge, "The image has more than %d bytes, the largest that this "+
			"conductor takes (--image-max-size).", l.MaxSize)
	}
	return nodeapi.NewFault(http.StatusRequestEntityTooLarge, "The image has %d bytes, and the largest that this "+
		"conductor takes is %d (--image-max-size).", size, l.MaxSize)
}

// bounded refuses a body beyond its bounds.
type bounded struct {
	io.Reader
	most quota
	read int64
}

func (b *bounded) Read(p []byte) (int, error) {
	n, err := b.Reader.Read(p)
	if b.read += int64(n); b.read > b.most.bytes {
		return 0, b.most.over(-1)
	}
	return n, err
}

// faultOf turns an error about a client's input, or about a full disk, into a *nodeapi.Fault.
func faultOf(err error) error {
	var (
		fault *nodeapi.Fault
		room  *imagestore.NoRoomError
		size  *imagestore.SizeError
	)
	switch {
	case err == nil, errors.As(err, &fault):
		return err
	case errors.As(err, &room), errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		return nodeapi.NewFault(http.StatusInsufficientStorage, "The image is not stored: %v.", err)
	case errors.As(err, &size), errors.Is(err, imagestore.ErrEmpty), errors.Is(err, imagestore.ErrUnknown),
		errors.Is(err, disk.ErrChecksum), errors.Is(err, disk.ErrFormat):
		return nodeapi.NewFault(http.StatusBadRequest, "The image is not stored: %v.", err)
	}
	return err
}
