package traces

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"fmt"
	"time"

	"go.opentelemetry.io/otel/trace"

	"github.com/ferrite-metal/ferrite/conductor/node"
)

// traceOf is the trace of an activity, and its root.
type traceOf struct {
	id   trace.TraceID
	root trace.SpanID
}

// runTrace is the trace of a run. Every process derives the same from the node.
func runTrace(n *node.Node) traceOf {
	return derived("run", n.UUID, n.Run.Generation, n.Run.Since.UnixNano())
}

// choreTrace is the trace of a chore. The id of its effect is unique.
func choreTrace(uuid string, effect int64) traceOf { return derived("chore", uuid, effect) }

// unbegunTrace is the trace of a chore that ended before its effect was carried out.
func unbegunTrace(uuid string, began time.Time) traceOf {
	return derived("unbegun", uuid, began.UnixNano())
}

func derived(parts ...any) (t traceOf) {
	sum := digest(parts...)
	copy(t.id[:], sum[:])
	copy(t.root[:], sum[len(t.id):])
	return t
}

// stepSpan is the span of a step, in every process. Times is how often the step was begun before in the same place.
func (t traceOf) stepSpan(index int, name string, times int) (id trace.SpanID) {
	sum := digest("step", t.id.String(), index, name, times)
	copy(id[:], sum[:])
	return id
}

func digest(parts ...any) [sha256.Size]byte {
	return sha256.Sum256(fmt.Appendf(nil, "ferrite trace %q", parts))
}

func newSpanID() (id trace.SpanID) {
	rand.Read(id[:]) // never fails
	return id
}

type idsKey struct{}

// chosen gives each span the ids that its context names.
type chosen struct{}

// NewIDs returns the ids of a root.
func (chosen) NewIDs(ctx context.Context) (trace.TraceID, trace.SpanID) {
	t, _ := ctx.Value(idsKey{}).(traceOf)
	return t.id, t.root
}

// NewSpanID returns the id of any other span.
func (chosen) NewSpanID(ctx context.Context, _ trace.TraceID) trace.SpanID {
	id, _ := ctx.Value(idsKey{}).(trace.SpanID)
	return id
}
