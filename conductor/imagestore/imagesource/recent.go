package imagesource

import (
	"context"
	"sync"
	"time"
)

// describedFor is how long an answer of Glance's is believed while machines boot and agents read.
const describedFor = time.Minute

// recent is a Glance that answers from memory for a minute: firmware reads an ISO in thousands of requests, and nobody
// else's machine is to make the conductor ask Glance as often. Errors are not remembered.
type recent struct {
	Glance

	mu      sync.Mutex
	images  map[string]said[GlanceImage]
	members map[[2]string]said[bool] // by image and project
}

// said is an answer, and how long it is believed.
type said[V any] struct {
	answer V
	until  time.Time
}

// Image is that of Glance, or what it said.
func (r *recent) Image(ctx context.Context, id string) (GlanceImage, error) {
	return remembered(r, &r.images, id, func() (GlanceImage, error) { return r.Glance.Image(ctx, id) })
}

// Member is that of Glance, or what it said.
func (r *recent) Member(ctx context.Context, id, project string) (bool, error) {
	return remembered(r, &r.members, [2]string{id, project}, func() (bool, error) {
		return r.Glance.Member(ctx, id, project)
	})
}

// remembered is an answer from memory, or that of ask.
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
