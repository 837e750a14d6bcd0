package imagelibrary

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/ferrite-metal/ferrite/conductor/imagestore"
	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// Records are the images in the database.
type Records interface {
	List(ctx context.Context, column string, values ...string) ([]node.Image, error)
	Find(ctx context.Context, ref string) (node.Image, error)
	Create(ctx context.Context, i node.Image) (node.Image, error)
	Delete(ctx context.Context, ref string) error
}

// Peers are the other conductors of a cluster.
type Peers interface {
	// Sources are the URLs at which other conductors may have the bytes of a digest. The named conductor comes first.
	// The client is for these URLs.
	Sources(conductor, digest string) (urls []string, client *http.Client)
}

// Config is the configuration of a Library. All but Peers is required.
type Config struct {
	Records   Records
	Bytes     *imagestore.Store
	Client    *http.Client // for images at URLs
	Peers     Peers        // nil for a conductor that is alone
	Conductor string       // the name of this one
	MaxSize   int64        // bytes of an image
	MaxOwned  int64        // bytes of all images of one project; 0: as many as have room
	Log       *slog.Logger
}

// Library is the images of operators. It is safe for concurrent use.
type Library struct {
	Config
	life context.Context //nolint:containedctx // ends transfers, which outlive the requests that began them

	turns     turns
	mu        sync.Mutex
	transfers map[place]*transfer
	running   sync.WaitGroup
}

// place identifies an image: a name within a project, or within the images for all projects ("").
type place struct{ owner, name string }

// New makes a Library. Its transfers end with ctx; Wait waits for them.
func New(ctx context.Context, c Config) *Library {
	return &Library{Config: c, life: ctx, transfers: map[place]*transfer{}}
}

// Wait waits until all transfers have ended.
func (l *Library) Wait() { l.running.Wait() }

// List lists all images, then the transfers that are running or have failed.
func (l *Library) List(ctx context.Context) ([]nodeapi.Image, error) {
	records, err := l.Records.List(ctx, "")
	if err != nil {
		return nil, err
	}
	all, named := make([]nodeapi.Image, 0, len(records)), map[place]bool{}
	for _, i := range records {
		named[place{i.Owner, i.Name}] = true
		all = append(all, l.shown(i))
	}
	for _, t := range l.underWay() {
		if !named[place{t.Owner, t.Name}] { // it has come meanwhile
			all = append(all, t)
		}
	}
	return all, nil
}

// Show returns one image, by UUID or by its name for a project. The whole system, "", sees the images of all projects;
// a name then means an image for all projects first.
func (l *Library) Show(ctx context.Context, ref, project string) (nodeapi.Image, error) {
	under := l.underWay() // before the records, among which one may come to be meanwhile
	images, err := l.called(ctx, ref)
	if err != nil {
		return nodeapi.Image{}, err
	}
	for _, t := range under {
		if (t.Name == ref || t.UUID == ref) && !slices.ContainsFunc(images, func(i node.Image) bool {
			return place{i.Owner, i.Name} == place{t.Owner, t.Name}
		}) {
			images = append(images, node.Image{Record: node.Record{UUID: t.UUID}, Owner: t.Owner})
		}
	}
	i, err := node.PickImage(ref, images, project)
	if project == "" && errors.Is(err, node.ErrNotFound) {
		var owners []string
		for _, i := range images {
			owners = append(owners, i.Owner)
		}
		i, err = node.PickImage(ref, images, owners...)
	}
	if k := slices.IndexFunc(under, func(t nodeapi.Image) bool { return t.UUID == i.UUID }); k >= 0 && i.Digest == "" {
		return under[k], err
	}
	return l.shown(i), err
}

// Find is the record of an image that projects may have, by UUID or by the name that it has for them.
func (l *Library) Find(ctx context.Context, ref string, projects ...string) (node.Image, error) {
	images, err := l.called(ctx, ref)
	if err != nil {
		return node.Image{}, err
	}
	return node.PickImage(ref, images, projects...)
}

// called are the records with a UUID or, where none has it, a name.
func (l *Library) called(ctx context.Context, ref string) ([]node.Image, error) {
	i, err := l.Records.Find(ctx, ref)
	switch {
	case errors.Is(err, node.ErrNotFound):
		return nil, nil
	case err != nil || i.UUID == ref:
		return []node.Image{i}, err
	}
	return l.Records.List(ctx, "name", ref)
}

// Open opens the bytes of an image. Those that another conductor has are fetched from there, and stay.
func (l *Library) Open(ctx context.Context, i node.Image) (*imagestore.Content, error) {
	key := imagestore.KeyOf(i.Digest)
	if l.Bytes.Has(key) {
		return l.Bytes.Open(ctx, key)
	}
	return l.fromPeer(ctx, i)
}

// Path is the file with all bytes of an image. Those that another conductor has are waited for.
func (l *Library) Path(ctx context.Context, i node.Image) (string, error) {
	key := imagestore.KeyOf(i.Digest)
	if path := l.Bytes.Path(key); path != "" {
		return path, nil
	}
	content, err := l.Open(ctx, i)
	if err != nil {
		return "", err
	}
	if _, err := io.Copy(io.Discard, content); err != nil {
		return "", errors.Join(err, content.Close())
	}
	return l.Bytes.Path(key), content.Close()
}

// Serve answers with the bytes of an image: GET and HEAD, with Range.
func (l *Library) Serve(w http.ResponseWriter, r *http.Request, ref string) error {
	i, err := l.Records.Find(r.Context(), ref)
	if err != nil {
		return err
	}
	content, err := l.Open(r.Context(), i)
	if err != nil {
		return err
	}
	defer func() { _ = content.Close() }() // it was only read
	content.Unheld()
	content.Serve(w, r)
	return nil
}

// shown is a record for people and programs.
func (l *Library) shown(i node.Image) nodeapi.Image {
	state := nodeapi.ImageReady
	if !l.Bytes.Has(imagestore.KeyOf(i.Digest)) && (l.Peers == nil || i.Conductor == l.Conductor) {
		state = nodeapi.ImageMissing
	}
	return nodeapi.Image{
		UUID: i.UUID, Name: i.Name, State: state, Format: i.Format, Compression: i.Compression, Size: i.Size,
		VirtualSize: i.VirtualSize, Digest: i.Digest, Checksum: i.Checksum, Source: i.Source, Owner: i.Owner,
		CreatedBy: i.CreatedBy, CreatedAt: i.CreatedAt, Conductor: i.Conductor,
	}
}

// Delete removes an image: its record, and its bytes unless another image has the same. A transfer ends.
func (l *Library) Delete(ctx context.Context, ref string) error {
	i, err := l.Records.Find(ctx, ref)
	if errors.Is(err, node.ErrNotFound) {
		if t, ok := l.transferOf(ref); ok {
			l.forget(t)
			return nil
		}
	}
	if err != nil {
		return err
	}
	same, err := l.Records.List(ctx, "digest", i.Digest)
	if err != nil {
		return err
	}
	if n := l.Bytes.Readers(imagestore.KeyOf(i.Digest)); n > 0 && len(same) == 1 {
		return nodeapi.NewFault(http.StatusConflict, "Image %s is being read by %d machines; delete it when they are done.",
			i.Name, n)
	}
	return l.Bytes.Remove(i.Digest, func() (named bool, err error) {
		if err := l.Records.Delete(ctx, i.UUID); err != nil {
			return false, err
		}
		others, err := l.Records.List(ctx, "digest", i.Digest)
		if err != nil { // the record is gone: the bytes stay for the next sweep
			l.Log.Warn("images with the same bytes cannot be listed", "digest", i.Digest, "err", err)
			return true, nil
		}
		return len(others) > 0, nil
	})
}

// Named are the digests of all images.
func (l *Library) Named(ctx context.Context) (digests []string, err error) {
	records, err := l.Records.List(ctx, "")
	for _, i := range records {
		digests = append(digests, i.Digest)
	}
	return digests, err
}

// sweepEvery is how often bytes without a record are looked for.
const sweepEvery = time.Hour

// Sweep removes bytes that no record names, every sweepEvery, until ctx ends.
func Sweep(ctx context.Context, bytes *imagestore.Store, named func(context.Context) ([]string, error)) {
	for {
		digests, err := named(ctx)
		if err == nil {
			err = bytes.Sweep(digests, time.Now())
		}
		if err != nil && ctx.Err() == nil {
			bytes.Log.Warn("the folder of images is not swept", "err", err)
		}
		select {
		case <-time.After(sweepEvery):
		case <-ctx.Done():
			return
		}
	}
}
