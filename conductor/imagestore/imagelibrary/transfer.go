package imagelibrary

import (
	"cmp"
	"context"
	"net/http"
	"net/url"
	"slices"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/images/disk"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

const (
	maxTransfers = 64        // that are known, under way or failed
	failedFor    = time.Hour // that a failed one is shown
)

// transfer fetches an image from a URL; a failed one is kept for an hour.
type transfer struct {
	wanted nodeapi.NewImage
	uuid   string
	by     string // user that asked for it
	began  time.Time
	cancel context.CancelFunc

	mu        sync.Mutex
	got, size int64 // bytes; a size of -1 is not known
	ended     time.Time
	err       error
}

// Fetch begins to fetch an image from a URL. It goes on when ctx ends; Show reports its progress.
func (l *Library) Fetch(ctx context.Context, w nodeapi.NewImage, by string) (nodeapi.Image, error) {
	want, err := l.check(ctx, w)
	if err != nil {
		return nodeapi.Image{}, err
	}
	if u, err := url.Parse(w.URL); err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return nodeapi.Image{}, nodeapi.NewFault(http.StatusBadRequest, "The url of image %s is none that can be fetched: "+
			"expected http(s)://host/path.", w.Name)
	}
	t := &transfer{wanted: w, uuid: uuid.NewString(), by: by, began: time.Now(), size: -1}
	if err := l.begin(t); err != nil {
		return nodeapi.Image{}, err
	}
	transferring, cancel := context.WithCancel(context.WithoutCancel(ctx)) // its user stays
	stop := context.AfterFunc(l.life, cancel)
	t.cancel = cancel
	l.running.Go(func() {
		defer stop()
		defer cancel()
		l.carryOut(transferring, t, want)
	})
	return t.shown(), nil
}

// place is where the image is to be.
func (t *transfer) place() place { return place{t.wanted.Owner, t.wanted.Name} }

// begin notes a transfer, unless its place has one.
func (l *Library) begin(t *transfer) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	var oldest *transfer // of the failed ones: they keep nothing new out
	for at, old := range l.transfers {
		switch {
		case !old.over():
		case time.Since(old.ended) > failedFor || at == t.place():
			delete(l.transfers, at)
		case oldest == nil || old.ended.Before(oldest.ended):
			oldest = old
		}
	}
	if oldest != nil && len(l.transfers) >= maxTransfers {
		delete(l.transfers, oldest.place())
	}
	switch {
	case l.transfers[t.place()] != nil:
		return nodeapi.NewFault(http.StatusConflict, "Image %s is being added already.", t.wanted.Name)
	case len(l.transfers) >= maxTransfers:
		return nodeapi.NewFault(http.StatusServiceUnavailable, "%d images are being added: try again when one of them is "+
			"done.", maxTransfers)
	}
	l.transfers[t.place()] = t
	return nil
}

// carryOut fetches an image to its end. A failure stays to be seen.
func (l *Library) carryOut(ctx context.Context, t *transfer, want disk.Checksum) {
	var saved node.Image
	err := l.fetch(ctx, t, want, &saved)
	t.mu.Lock()
	t.err, t.ended = err, time.Now()
	t.mu.Unlock()
	at := source(t.wanted.URL)
	if err == nil {
		l.mu.Lock()
		delete(l.transfers, t.place())
		l.mu.Unlock()
		l.Log.Info("image added", "image", t.wanted.Name, "url", at, "bytes", saved.Size)
		return
	}
	l.Log.Warn("image not added", "image", t.wanted.Name, "url", at, "err", err)
}

// fetch stores an image that is at a URL.
func (l *Library) fetch(ctx context.Context, t *transfer, want disk.Checksum, saved *node.Image) error {
	most, err := l.quota(ctx, t.wanted.Owner)
	if err != nil {
		return err
	}
	ctx, turn, err := l.turns.take(ctx, l.Log, t.wanted.Owner, t.by)
	if err != nil {
		return err
	}
	defer l.turns.end(turn)
	return faultOf(l.Bytes.AddFrom(ctx, l.Client, []string{t.wanted.URL}, want, func(got, size int64) error {
		t.mu.Lock()
		defer t.mu.Unlock()
		turn.rate(max(got-t.got, 0)) // less: it is read again, unpacked
		t.got, t.size = got, size
		return most.fits(max(got, size))
	}, l.enter(ctx, node.Image{Record: node.Record{UUID: t.uuid}, CreatedBy: t.by}, t.wanted, saved)))
}

func (t *transfer) over() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return !t.ended.IsZero()
}

// shown is a transfer as an image that is not there.
func (t *transfer) shown() nodeapi.Image {
	t.mu.Lock()
	defer t.mu.Unlock()
	i := nodeapi.Image{
		UUID: t.uuid, Name: t.wanted.Name, State: nodeapi.ImageAdding, Source: source(t.wanted.URL), Owner: t.wanted.Owner,
		CreatedBy: t.by, CreatedAt: t.began, Size: max(t.size, 0),
		Progress: &nodeapi.ImageProgress{Done: t.got, Total: max(t.size, 0)},
	}
	if t.err != nil {
		i.State, i.Error = nodeapi.ImageFailed, nodeapi.MaskText(t.err.Error())
	}
	return i
}

// underWay are all transfers, by name.
func (l *Library) underWay() (all []nodeapi.Image) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, t := range l.transfers {
		all = append(all, t.shown())
	}
	slices.SortFunc(all, func(a, b nodeapi.Image) int { return cmp.Compare(a.Name, b.Name) })
	return all
}

func (l *Library) transferOf(uuid string) (*transfer, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, t := range l.transfers {
		if t.uuid == uuid {
			return t, true
		}
	}
	return nil, false
}

// forget ends a transfer, and shows it no more.
func (l *Library) forget(t *transfer) {
	t.cancel()
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.transfers[t.place()] == t {
		delete(l.transfers, t.place())
	}
}
