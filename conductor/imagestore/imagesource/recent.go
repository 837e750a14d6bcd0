package imagesource

import (
	"context"
	"sync"
	"time"
)

// describedFor is how long an answer of Glance's is believed while machines boot and agents read.
const describedFor = time.Minute

// recent is a Glance that caches answers for a minute. Firmware reads an ISO in thousands of requests, and a project's
// machine must not make the conductor ask Glance as often. Errors are not cached.
type recent struct {
	Glance

	mu      sync.Mutex
	images  map[string]said[GlanceImage]
	members map[[2]string]said[bool] // by image and project
}

// said is a cached answer, and the end of its validity.
type said[V any] struct {
	answer V
	until  time.Time
}

// Image returns Glance's image, or its cached answer.
func (r *recent) Image(ctx context.Context, id string) (GlanceImage, error) {
	return remembered(r, &r.images, id, func() (GlanceImage, error) { return r.Glance.Image(ctx, id) })
}

// Member returns Glance's answer, or its cached one.
func (r *recent) Member(ctx context.Context, id, project string) (bool, error) {
	return remembered(r, &r.members, [2]string{id, project}, func() (bool, error) {
		return r.Glance.Member(ctx, id, project)
	})
}

// remembered is a cached answer, or else the answer of ask.
func remembered[K comparable, V any](r *recent, kept *map[K]said[V], key K, ask func() (V, error)) (V, error) {
	r.mu.Lock()
	s, known := (*kept)[key]
	r.mu.Unlock()
	if known && time.Now().Before(s.until) {
		return s.answer, nil
	}
	answer, err := ask()
	if err != nil {
		return answer, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if *kept == nil || len(*kept) >= maxOrigins {
		*kept = map[K]said[V]{}
	}
	(*kept)[key] = said[V]{answer, time.Now().Add(describedFor)}
	return answer, nil
}
