package events

import (
	"encoding/json"
	"strconv"
	"time"

	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// Event is an event as it is sent: a line of JSON without its end.
type Event struct {
	Type   string
	Node   string // UUID; "" for none
	Owner  string
	Lessee string
	Cursor string // "" for an event that is not stored
	Line   []byte

	position int64
	spare    []byte // the line as a lessee sees it; nil: as it is
}

// render makes events of stored changes: it puts the cursor in front of the document.
func (l *Log) render(found []node.ChangeEvent) []Event {
	out := make([]Event, len(found))
	for i, e := range found {
		at := cursor{l.id, map[string]int64{every: e.Position}}.String()
		out[i] = Event{Type: e.Type, Node: e.Node, Owner: e.Owner, Lessee: e.Lessee, Cursor: at, position: e.Position,
			Line: withCursor(at, e.Doc)}
		if e.Lessee != "" {
			out[i].spare = withCursor(at, forLessee(e.Doc))
		}
	}
	return out
}

func withCursor(cursor string, doc []byte) []byte {
	if len(doc) < 3 { // "{}" or nothing
		return []byte(`{"cursor":` + strconv.Quote(cursor) + `}`)
	}
	return append([]byte(`{"cursor":`+strconv.Quote(cursor)+`,`), doc[1:]...)
}

// forLessee removes the parts of a document that the policy hides from lessees: history, errors, and the owner's staff.
func forLessee(doc []byte) []byte {
	var e nodeapi.Event
	if json.Unmarshal(doc, &e) != nil {
		return []byte("{}")
	}
	e.Notes, e.User, e.Project, e.Conductor, e.Changed = nil, "", "", "", nil
	if e.Node != nil {
		e.Node.Error, e.Node.Fault, e.Node.Step, e.Node.Group, e.Node.Driver = "", "", "", "", ""
	}
	out, err := json.Marshal(e)
	if err != nil {
		return []byte("{}")
	}
	return out
}

// Happened sends an event to the current followers and does not store it. Without followers it does nothing.
func (l *Log) Happened(n node.Node, e nodeapi.Event) {
	e.At, e.Conductor = l.Now().UTC().Format(time.RFC3339Nano), l.Conductor
	e.Node = &nodeapi.EventNode{UUID: n.UUID, Name: n.Name, State: string(n.ProvisionState),
		Target: string(n.TargetProvisionState), Power: string(n.PowerState), Maintenance: n.Maintenance}
	line, err := json.Marshal(e)
	if err != nil { // texts and numbers alone
		l.Log.Error("an event is not sent", "node", n.UUID, "err", err)
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.live = append(l.live, Event{Type: e.Type, Node: n.UUID, Owner: n.Owner, Lessee: n.Lessee, Line: line})
	if over := len(l.live) - liveSize; over > 0 {
		l.live = append([]Event(nil), l.live[over:]...)
	}
	l.passed++
	l.wakeFollowers()
}

// Followed reports whether anybody follows.
func (l *Log) Followed() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.followers > 0
}
