package remote

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"

	"github.com/ferrite-metal/ferrite/conductor/extras/hosts/host"
	"github.com/ferrite-metal/ferrite/conductor/node"
)

// Default is the conductor group that reconciles hosts, by its leader.
const Default = ""

// Paths of the calls between leaders, below the path for calls between members.
const (
	actPath     = "hosts/act"
	mediaPath   = "hosts/media"
	changedPath = "hosts/changed"
)

// actions are all there are, by their names on the wire.
var actions = func() map[string]reflect.Type {
	all := map[string]reflect.Type{}
	for _, a := range []host.Action{
		host.CreateNode{}, host.UpdateNode{}, host.CreatePort{}, host.Provision{}, host.SetPower{}, host.SetMaintenance{},
		host.SetRAID{}, host.AttachMedium{}, host.DetachMedia{}, host.Subscribe{}, host.Unsubscribe{}, host.DeleteNode{},
	} {
		all[nameOf(a)] = reflect.TypeOf(a)
	}
	return all
}()

func nameOf(a host.Action) string { return strings.TrimPrefix(reflect.TypeOf(a).String(), "host.") }

// order is an action for the leader of a node's group.
type order struct {
	Node     string          `json:"node"`     // UUID; "" of a new one
	Revision int64           `json:"revision"` // of the node that was decided on
	Action   string          `json:"action"`
	Details  json.RawMessage `json:"details"`
}

func orderOf(n node.Node, a host.Action) (o order, err error) {
	o = order{Node: n.UUID, Revision: n.Revision, Action: nameOf(a)}
	o.Details, err = json.Marshal(a)
	return o, err
}

// action decodes the action of an order.
func (o *order) action() (host.Action, error) {
	t, known := actions[o.Action]
	if !known {
		return nil, fmt.Errorf("there is no action %q: its sender is a newer build; upgrade this conductor", o.Action)
	}
	v := reflect.New(t)
	if err := json.Unmarshal(o.Details, v.Interface()); err != nil {
		return nil, fmt.Errorf("the action %s: %w", o.Action, err)
	}
	a, _ := v.Elem().Interface().(host.Action) // the table has no others
	return a, nil
}

// answer is the result of an order, or of a question.
type answer struct {
	Node    string           `json:"node,omitempty"` // the result of reconciler.Act
	Slots   []node.MediaSlot `json:"slots,omitempty"`
	Refused *refusal         `json:"refused,omitempty"`
	Failed  string           `json:"failed,omitempty"` // why else it was not done; of this node alone
}

// refusal is a refusal of the engine, with all that its reader looks for in it.
type refusal struct {
	Kind    node.Kind     `json:"kind"`
	Reason  string        `json:"reason"`
	Machine *node.Machine `json:"machine,omitempty"` // that is another node's already
	Other   string        `json:"other,omitempty"`   // which has it
}

// refusalOf is the refusal in an error; nil for another error.
func refusalOf(err error) *refusal {
	var r *node.Refusal
	if !errors.As(err, &r) {
		return nil
	}
	is := &refusal{Kind: r.Kind, Reason: r.Reason}
	var taken *node.MachineTakenError
	if errors.As(err, &taken) {
		is.Machine, is.Other = &taken.Machine, taken.Other
	}
	return is
}

func (r *refusal) err() error {
	if r.Machine != nil {
		return &node.MachineTakenError{Machine: *r.Machine, Other: r.Other}
	}
	return &node.Refusal{Kind: r.Kind, Reason: r.Reason}
}

// news are nodes of a group that have changed.
type news struct {
	Group string    `json:"group"`
	All   bool      `json:"all,omitempty"` // any may have: the sender has just begun to lead
	Nodes []changed `json:"nodes,omitempty"`
}

// changed is a node that has changed, and its new state; "" for a deleted node.
type changed struct {
	UUID  string     `json:"uuid"`
	State node.State `json:"state,omitempty"`
}
