package traces

import (
	"context"
	"strings"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"

	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// Bounds of texts from outside: names, and values of attributes, in bytes.
const (
	maxName  = 200
	maxValue = 1024
)

// span is a span that has ended.
type span struct {
	name       string
	kind       trace.SpanKind
	id, parent trace.SpanID // no parent: the root
	began      time.Time
	ended      time.Time
	attrs      []attribute.KeyValue
	events     []event
	link       trace.SpanContext
	failure    string // "" for none
}

type event struct {
	name  string
	at    time.Time
	attrs []attribute.KeyValue
}

// emit hands a span to the queue.
func (t *Tracer) emit(of traceOf, s span) {
	ctx := context.WithValue(context.Background(), idsKey{}, of)
	if s.parent.IsValid() {
		ctx = trace.ContextWithRemoteSpanContext(context.WithValue(ctx, idsKey{}, s.id), spanContext(of.id, s.parent))
	}
	options := []trace.SpanStartOption{trace.WithTimestamp(s.began), trace.WithSpanKind(s.kind),
		trace.WithAttributes(s.attrs...)}
	if s.link.IsValid() {
		options = append(options, trace.WithLinks(trace.Link{SpanContext: s.link}))
	}
	_, made := t.tracer.Start(ctx, clean(s.name, maxName), options...)
	for _, e := range s.events {
		made.AddEvent(clean(e.name, maxName), trace.WithTimestamp(e.at), trace.WithAttributes(e.attrs...))
	}
	if s.failure != "" {
		made.SetStatus(codes.Error, clean(s.failure, maxValue))
	}
	if s.ended.Before(s.began) { // clocks are set back
		s.ended = s.began
	}
	made.End(trace.WithTimestamp(s.ended))
}

func spanContext(id trace.TraceID, span trace.SpanID) trace.SpanContext {
	return trace.NewSpanContext(trace.SpanContextConfig{TraceID: id, SpanID: span, TraceFlags: trace.FlagsSampled})
}

// clean makes a text from outside valid, printable, free of credentials in URLs, and short.
func clean(text string, most int) string {
	text = nodeapi.Printable(nodeapi.MaskText(strings.ToValidUTF8(text, "\ufffd")))
	if len(text) > most {
		text = strings.ToValidUTF8(text[:most], "")
	}
	return text
}

// texts are attributes, by key and value in turn. Empty values are left out.
func texts(pairs ...string) (attrs []attribute.KeyValue) {
	for i := 0; i+1 < len(pairs); i += 2 {
		if pairs[i+1] != "" {
			attrs = append(attrs, attribute.String(pairs[i], clean(pairs[i+1], maxValue)))
		}
	}
	return attrs
}

// textOf is the text of an error, "" for none.
func textOf(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}
