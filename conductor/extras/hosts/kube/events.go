package kube

import (
	"net/http"
	"strings"
	"time"

	"github.com/ferrite-metal/ferrite/proto/hostapi"
)

// Events are the events about documents, in the order in which they happened last. Methods are safe for concurrent use
// and do not wait.
type Events interface {
	// List is all there are, and the revision of the newest.
	List() (all []hostapi.Event, revision int64)
	// Since returns the events after a revision, the revision of the newest, and a channel that is closed when there
	// are more; complete is false when some were dropped.
	Since(revision int64) (all []hostapi.Event, newest int64, more <-chan struct{}, complete bool)
}

// noEvents is that nothing happens.
type noEvents struct{}

func (noEvents) List() ([]hostapi.Event, int64) { return nil, 1 }
func (noEvents) Since(int64) ([]hostapi.Event, int64, <-chan struct{}, bool) {
	return nil, 1, nil, true
}

// eventKind is the kind of events in lists. They are no documents: see hostapi.Event.
var eventKind = hostapi.Kind{
	Kind: hostapi.KindEvent, Version: hostapi.CoreVersion, Plural: "events", Singular: "event", Short: []string{"ev"},
	Namespaced: true,
	New:        func() hostapi.Document { return &hostapi.Event{} },
}

// eventFields are the fields that select events; kubectl describe names the document by all that it knows of it.
var eventFields = map[string]func(e hostapi.Event) string{
	"metadata.name":                  func(e hostapi.Event) string { return e.Name },
	"metadata.namespace":             func(e hostapi.Event) string { return e.Namespace },
	"involvedObject.kind":            func(e hostapi.Event) string { return e.InvolvedObject.Kind },
	"involvedObject.namespace":       func(e hostapi.Event) string { return e.InvolvedObject.Namespace },
	"involvedObject.name":            func(e hostapi.Event) string { return e.InvolvedObject.Name },
	"involvedObject.uid":             func(e hostapi.Event) string { return e.InvolvedObject.UID },
	"involvedObject.apiVersion":      func(e hostapi.Event) string { return e.InvolvedObject.APIVersion },
	"involvedObject.resourceVersion": func(e hostapi.Event) string { return e.InvolvedObject.ResourceVersion },
	"reason":                         func(e hostapi.Event) string { return e.Reason },
	"source":                         func(e hostapi.Event) string { return e.Source.Component },
	"type":                           func(e hostapi.Event) string { return e.Type },
}

// events lists recent events about hosts, or follows them. A list is never paged: there are never that many.
func (s *Server) events(c *call, path []string) error {
	if c.Method != http.MethodGet || len(path) > 1 {
		return noMethod()
	}
	verb := "list"
	if c.yes("watch") {
		verb = "watch"
	}
	c.kind = eventKind
	if err := permit(c, verb); err != nil {
		return err
	}
	wants, err := c.eventsWanted()
	if err != nil {
		return err
	}
	if verb == "watch" {
		return s.watchEvents(c, wants)
	}
	kept, revision := s.kept.List()
	all := func(yield func(hostapi.Document, error) bool) {
		for i := range kept {
			if wants(kept[i]) && !yield(&kept[i], nil) {
				return
			}
		}
	}
	return s.many(c, all, 0, &revision)
}

// eventsWanted reads labelSelector and fieldSelector.
func (c *call) eventsWanted() (wants func(hostapi.Event) bool, err error) {
	labels, err := parseSelector(c.arg("labelSelector"))
	if err != nil {
		return nil, err
	}
	fields := []func(hostapi.Event) bool{
		func(e hostapi.Event) bool { return labels.matches(e.Labels) },
		func(e hostapi.Event) bool { return c.namespace == "" || e.Namespace == c.namespace },
	}
	for _, part := range splitOutside(c.arg("fieldSelector")) {
		key, value, ok := strings.Cut(part, "=")
		key, other := strings.CutSuffix(strings.TrimSpace(key), "!")
		value = strings.TrimPrefix(value, "=")
		field := eventFields[key]
		if !ok || field == nil {
			return nil, badRequest("field label not supported: %q; expected one such as involvedObject.name=NAME, "+
				"reason=REASON or type!=Normal", part)
		}
		fields = append(fields, func(e hostapi.Event) bool { return (field(e) == value) != other })
	}
	return func(e hostapi.Event) bool {
		for _, wants := range fields {
			if !wants(e) {
				return false
			}
		}
		return true
	}, nil
}

// eventColumns are kubectl's, in their order.
func eventColumns() []column {
	col := func(name, kind, what string, f func(e *hostapi.Event, now time.Time) any) column {
		return column{Name: name, Type: kind, Description: what, cell: func(d hostapi.Document, now time.Time) any {
			if e, ok := d.(*hostapi.Event); ok {
				return f(e, now)
			}
			return nil
		}}
	}
	return []column{
		col("Last Seen", "string", "How long ago it happened last", func(e *hostapi.Event, now time.Time) any {
			return age(e.LastTimestamp.Time, now)
		}),
		col("Type", "string", "Normal or Warning", func(e *hostapi.Event, _ time.Time) any { return e.Type }),
		col("Reason", "string", "What happened, in a word", func(e *hostapi.Event, _ time.Time) any { return e.Reason }),
		col("Object", "string", "To what it happened", func(e *hostapi.Event, _ time.Time) any {
			return strings.ToLower(e.InvolvedObject.Kind) + "/" + e.InvolvedObject.Name
		}),
		col("Message", "string", "What happened, in a sentence", func(e *hostapi.Event, _ time.Time) any {
			return e.Message
		}),
	}
}
