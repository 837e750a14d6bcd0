// Package tracestest is a collector of traces for tests: an OTLP receiver that keeps the spans it receives.
//
// It must not be part of a program that is shipped.
package tracestest

import (
	"encoding/hex"
	"fmt"
	"io"
	"net/http"
	"slices"
	"sync"
	"time"

	commonpb "go.opentelemetry.io/proto/otlp/common/v1"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"
)

// Span is a span that came.
type Span struct {
	Trace, ID, Parent string // hexadecimal; no parent: a root
	Name, Kind        string
	Failure           string // "" for none
	Attrs             map[string]string
	Events            []string
	Links             []string // trace/span
	Began, Ended      time.Time
}

// Receiver takes spans by OTLP over HTTP. It is safe for concurrent use.
type Receiver struct {
	mu       sync.Mutex
	spans    []Span
	resource map[string]string
	headers  http.Header
	faults   []string
}

// ServeHTTP takes spans at /v1/traces.
func (r *Receiver) ServeHTTP(w http.ResponseWriter, q *http.Request) {
	body, err := io.ReadAll(q.Body)
	var data tracepb.TracesData
	switch {
	case err != nil:
	case q.Method != http.MethodPost || q.URL.Path != "/v1/traces":
		err = fmt.Errorf("%s %s: expected POST /v1/traces", q.Method, q.URL.Path)
	case q.Header.Get("Content-Type") != "application/x-protobuf":
		err = fmt.Errorf("content type %q: expected application/x-protobuf", q.Header.Get("Content-Type"))
	default:
		err = proto.Unmarshal(body, &data)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if err != nil {
		r.faults = append(r.faults, err.Error())
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	r.headers = q.Header.Clone()
	for _, rs := range data.ResourceSpans {
		r.resource = attrsOf(rs.Resource.GetAttributes())
		for _, ss := range rs.ScopeSpans {
			for _, s := range ss.Spans {
				r.spans = append(r.spans, spanOf(s))
			}
		}
	}
	w.Header().Set("Content-Type", "application/x-protobuf")
}

// Spans are those that came, in the order of their beginnings.
func (r *Receiver) Spans() []Span {
	r.mu.Lock()
	defer r.mu.Unlock()
	all := slices.Clone(r.spans)
	slices.SortStableFunc(all, func(a, b Span) int { return a.Began.Compare(b.Began) })
	return all
}

// Last is the resource and the headers of the last request, and the faults found in requests.
func (r *Receiver) Last() (resource map[string]string, headers http.Header, faults []string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.resource, r.headers, slices.Clone(r.faults)
}

// Await waits until the root of an activity of a node, by UUID or name, has come. It returns the spans of its trace.
func (r *Receiver) Await(within time.Duration, node, activity string) ([]Span, error) {
	for end := time.Now().Add(within); ; time.Sleep(50 * time.Millisecond) {
		all := r.Spans()
		for _, s := range all {
			if s.Parent == "" && s.Name == activity &&
				(s.Attrs["ferrite.node.uuid"] == node || s.Attrs["ferrite.node.name"] == node) {
				return slices.DeleteFunc(all, func(other Span) bool { return other.Trace != s.Trace }), nil
			}
		}
		if time.Now().After(end) {
			_, _, faults := r.Last()
			return nil, fmt.Errorf("no root of %s of node %s among %d spans after %s; faults: %v", activity, node, len(all),
				within, faults)
		}
	}
}

func spanOf(s *tracepb.Span) Span {
	out := Span{Trace: hex.EncodeToString(s.TraceId), ID: hex.EncodeToString(s.SpanId),
		Parent: hex.EncodeToString(s.ParentSpanId), Name: s.Name, Kind: s.Kind.String(), Attrs: attrsOf(s.Attributes),
		Began: time.Unix(0, int64(s.StartTimeUnixNano)), Ended: time.Unix(0, int64(s.EndTimeUnixNano))}
	if s.Status.GetCode() == tracepb.Status_STATUS_CODE_ERROR {
		out.Failure = s.Status.Message
	}
	for _, e := range s.Events {
		out.Events = append(out.Events, e.Name)
	}
	for _, l := range s.Links {
		out.Links = append(out.Links, hex.EncodeToString(l.TraceId)+"/"+hex.EncodeToString(l.SpanId))
	}
	return out
}

func attrsOf(all []*commonpb.KeyValue) map[string]string {
	out := map[string]string{}
	for _, a := range all {
		switch v := a.Value.GetValue().(type) {
		case *commonpb.AnyValue_StringValue:
			out[a.Key] = v.StringValue
		case *commonpb.AnyValue_IntValue:
			out[a.Key] = fmt.Sprint(v.IntValue)
		case *commonpb.AnyValue_BoolValue:
			out[a.Key] = fmt.Sprint(v.BoolValue)
		default:
			out[a.Key] = a.Value.String()
		}
	}
	return out
}
