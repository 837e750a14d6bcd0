package events

import (
	"context"
	"encoding/json"

	"github.com/ferrite-metal/ferrite/conductor/engine/core"
	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/conductor/node/objects"
	"github.com/ferrite-metal/ferrite/proto/hostapi"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// Writing has the events of changed documents committed with them.
func (l *Log) Writing(ctx context.Context, all []objects.Changed) context.Context {
	said := nodeapi.Event{Conductor: l.Conductor}
	if l.By != nil {
		said.User, said.Project = l.By(ctx)
	}
	var told []node.ChangeEvent
	for _, c := range all {
		e, err := Document(said, l.Now(), c.Old, c.New)
		if err != nil { // documents are plain data: it cannot be
			l.Log.Error("an event is not written", "document", c.String(), "err", err)
			continue
		}
		told = append(told, e)
	}
	return node.WithEvents(ctx, told...)
}

// Written wakes the followers, and notes the changes of a request for the audit.
func (l *Log) Written(ctx context.Context, all []objects.Changed) {
	l.Wake()
	for _, c := range all {
		if c.Kind == hostapi.KindNamespace { // it comes with its first document, and has no fields
			continue
		}
		var hidden []string
		if c.Kind == hostapi.KindSecret {
			hidden = []string{"data", "stringData"}
		}
		core.TraceDocument(ctx, c.String(), l.fields(c, c.Old), l.fields(c, c.New), hidden...)
	}
}

// fields is a document as JSON has it; nil for none.
func (l *Log) fields(c objects.Changed, d hostapi.Document) (all map[string]any) {
	if d == nil {
		return nil
	}
	text, err := json.Marshal(d)
	if err == nil {
		err = json.Unmarshal(text, &all)
	}
	if err != nil { // documents are plain data: it cannot be
		l.Log.Error("a document is not in the audit", "document", c.String(), "err", err)
	}
	return all
}
