package imagesource

import (
	"context"
	"net/http"
	"sync"
	"time"

	"github.com/ferrite-metal/ferrite/conductor/node"
)

// Limits of Prober.
const (
	lookTime  = 4 * time.Second                     // for one image
	keepFor   = 30 * time.Second                    // an image that was found, or cannot be reached from here
	maxKept   = 512                                 // images
	maxHops   = 5                                   // redirects
	maxLooks  = 16                                  // at a time
	notInTime = "its server did not answer within " // and lookTime
)

// Prober looks at images at http(s) URLs before machines are switched off for them. It asks as agents will, and reads
// no more than shows the kind of the file. It is safe for concurrent use.
//
// Its client decides which addresses are dialled, because any editor of a node can write a URL.
type Prober struct {
	client http.Client
	now    func() time.Time
	slots  chan struct{}

	mu   sync.Mutex
	kept map[string]*look
}

// look is a look at one image: under way until done is closed.
type look struct {
	done  chan struct{}
	found node.ImageFound
	until time.Time
}

// NewProber makes a Prober from a client. The Prober limits redirects.
func NewProber(client *http.Client) *Prober {
	p := &Prober{client: *client, now: time.Now, slots: make(chan struct{}, maxLooks), kept: map[string]*look{}}
	p.client.CheckRedirect = func(_ *http.Request, via []*http.Request) error {
		if len(via) >= maxHops {
			return errHops
		}
		return nil
	}
	return p
}

// Probe looks at an image. Many nodes that get the same image at once cause one look. It
// ends with ctx, or after a few seconds.
func (p *Prober) Probe(ctx context.Context, rawURL string) node.ImageFound {
	l := p.looking(ctx, rawURL)
	select {
	case <-l.done:
		return l.found
	case <-ctx.Done():
		return node.ImageFound{Doubt: masked(rawURL) + ": " + context.Cause(ctx).Error(), Unseen: true}
	}
}

// looking finds the look at an image that is under way or fresh, or begins one.
func (p *Prober) looking(ctx context.Context, rawURL string) *look {
	p.mu.Lock()
	defer p.mu.Unlock()
	if l := p.kept[rawURL]; l != nil && (l.until.IsZero() || p.now().Before(l.until)) {
		return l
	}
	p.makeRoom()
	l := &look{done: make(chan struct{})}
	p.kept[rawURL] = l
	go func() {
		// the look serves all waiting callers, so it outlives the context of the first
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), lookTime)
		defer cancel()
		l.found = p.lookAt(ctx, rawURL)
		p.mu.Lock()
		l.until = p.now()
		if l.found.Gone == "" { // a server that was corrected is asked again at once
			l.until = l.until.Add(keepFor)
		}
		p.mu.Unlock()
		close(l.done)
	}()
	return l
}

// makeRoom forgets looks that are over and old; all that are over, if there are too many.
func (p *Prober) makeRoom() {
	if len(p.kept) < maxKept {
		return
	}
	for _, all := range []bool{false, true} {
		for at, l := range p.kept {
			if !l.until.IsZero() && (all || !p.now().Before(l.until)) {
				delete(p.kept, at)
			}
		}
		if len(p.kept) < maxKept {
			return
		}
	}
}
