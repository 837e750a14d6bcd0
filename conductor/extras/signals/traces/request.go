package traces

import (
	"context"
	"net/http"
	"sync"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"
)

// request is a request to the API, as long as it is being answered.
type request struct {
	id    string
	began time.Time
	from  trace.SpanContext // the sender's, from the headers of W3C Trace Context

	mu      sync.Mutex
	changed []*activity // that it has begun, ended or moved
}

type requestKey struct{}

// Follow attaches the activities that a request begins to the request. The id is the answer's; end gets its route and
// status.
func (t *Tracer) Follow(r *http.Request, id string) (followed *http.Request, end func(route string, status int)) {
	sent := propagation.TraceContext{}.Extract(context.Background(), propagation.HeaderCarrier(r.Header))
	q := &request{id: id, began: t.now(), from: trace.SpanContextFromContext(sent)}
	method, path := r.Method, r.URL.Path
	return r.WithContext(context.WithValue(r.Context(), requestKey{}, q)), func(route string, status int) {
		t.answered(q, method, path, route, status)
	}
}

func requestOf(ctx context.Context) *request {
	q, _ := ctx.Value(requestKey{}).(*request)
	return q
}

// moves notes an activity that the request changes; nil requests change none.
func (q *request) moves(a *activity) {
	if q == nil {
		return
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, c := range q.changed {
		if c == a {
			return
		}
	}
	if len(q.changed) < maxEvents {
		q.changed = append(q.changed, a)
	}
}

// answered emits a request in the trace of each activity that it has changed.
func (t *Tracer) answered(q *request, method, path, route string, status int) {
	q.mu.Lock()
	changed := q.changed
	q.mu.Unlock()
	if len(changed) == 0 {
		return
	}
	s := span{name: method + " " + route, kind: trace.SpanKindServer, began: q.began, ended: t.now(), link: q.from,
		attrs: append(texts("http.request.method", method, "http.route", route, "url.path", path, "ferrite.request.id", q.id),
			attribute.Int("http.response.status_code", status))}
	if status >= http.StatusInternalServerError {
		s.failure = http.StatusText(status)
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, a := range changed {
		a.put(t, s)
	}
}
