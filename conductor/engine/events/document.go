package events

import (
	"encoding/json"
	"reflect"
	"slices"
	"time"

	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/proto/hostapi"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// Document returns the event of a changed document: old is nil for a new document, now is nil for a deleted one. said
// names the user of the change. The event names the parts that differ and holds no values, because a Secret is a
// document, too.
func Document(said nodeapi.Event, at time.Time, old, now hostapi.Document) (node.ChangeEvent, error) {
	is, what := now, "updated"
	switch {
	case old == nil:
		what = "created"
	case now == nil:
		is, what = old, "deleted"
	}
	m := is.Meta()
	d := &nodeapi.EventDocument{Kind: is.About().Kind, Namespace: m.Namespace, Name: m.Name, UID: m.UID,
		Generation: m.Generation}
	said.Type, said.At, said.Document = "document."+what, at.UTC().Format(time.RFC3339Nano), d
	e := node.ChangeEvent{At: at}
	if host, ok := is.(*hostapi.Host); ok {
		said.Type = "host." + what
		state := host.Status.Provisioning
		d.State, d.Error, e.Node = string(state.State), host.Status.ErrorMessage, state.ID
		if was, ok := old.(*hostapi.Host); ok && now != nil && was.Status.Provisioning.State != state.State {
			said.Type = "host.state"
			said.Moves = []nodeapi.EventMove{{From: string(was.Status.Provisioning.State), To: d.State}}
		}
	}
	if old != nil && now != nil {
		var err error
		if said.Changed, err = parts(old, now); err != nil {
			return e, err
		}
	}
	doc, err := json.Marshal(said)
	e.Type, e.Doc = said.Type, doc
	return e, err
}

// parts names the differing parts of two documents, two levels deep: spec.image, metadata.labels.
func parts(old, now hostapi.Document) (names []string, err error) {
	var both [2]map[string]any
	for i, d := range []hostapi.Document{old, now} {
		text, err := json.Marshal(d)
		if err != nil {
			return nil, err
		}
		if err := json.Unmarshal(text, &both[i]); err != nil {
			return nil, err
		}
	}
	differing(both[0], both[1], func(name string, was, is any) {
		inner, isMap := was.(map[string]any)
		other, _ := is.(map[string]any)
		if !isMap && other == nil {
			names = append(names, name)
			return
		}
		differing(inner, other, func(below string, _, _ any) {
			if name != "metadata" || below != "resourceVersion" && below != "generation" {
				names = append(names, name+"."+below)
			}
		})
	})
	slices.Sort(names)
	return names, nil
}

// differing calls visit with the members that differ.
func differing(was, is map[string]any, visit func(name string, was, is any)) {
	for name := range was {
		if !reflect.DeepEqual(was[name], is[name]) {
			visit(name, was[name], is[name])
		}
	}
	for name := range is {
		if _, had := was[name]; !had {
			visit(name, nil, is[name])
		}
	}
}
