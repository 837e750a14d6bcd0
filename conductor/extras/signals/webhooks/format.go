package webhooks

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

const cloudEvents = "cloudevents"

// message is an event as it is sent; none for an event that the format has no word for.
type message struct {
	id    string
	media string
	body  []byte
}

// formats make a message of an event of a database.
var formats = map[string]func(database string, e node.ChangeEvent) (*message, error){
	cloudEvents: cloudEvent,
	"ironic":    ironicNotification,
}

// eventID is the same whenever an event is sent.
func eventID(database string, e node.ChangeEvent) string {
	return fmt.Sprintf("%s-%d", database, e.Position)
}

// cloudEvent is the JSON format of CloudEvents 1.0, in structured mode. The SDK would add a module with some thirty
// of its own for these eight fields.
func cloudEvent(database string, e node.ChangeEvent) (*message, error) {
	m := &message{id: eventID(database, e), media: "application/cloudevents+json; charset=utf-8"}
	body := map[string]any{
		"specversion": "1.0", "id": m.id, "source": "/ferrite/" + database, "type": "metal.ferrite." + e.Type,
		"time": e.At.UTC().Format(time.RFC3339Nano), "datacontenttype": "application/json", "data": e.Doc,
	}
	if e.Node != "" {
		body["subject"] = e.Node
	}
	var err error
	m.body, err = json.Marshal(body)
	return m, err
}

// ironicNotification is a notification as Ironic puts it on its message bus (ironic/objects/notification.py): its names
// and its envelope, with those fields of the payload that an event has.
func ironicNotification(database string, e node.ChangeEvent) (*message, error) {
	var said nodeapi.Event
	if err := json.Unmarshal(e.Doc, &said); err != nil {
		return nil, err
	}
	name, object := ironicName(said)
	if name == "" || said.Node == nil {
		return nil, nil
	}
	n := said.Node
	data := map[string]any{
		"uuid": n.UUID, "name": orNil(n.Name), "provision_state": n.State, "target_provision_state": orNil(n.Target),
		"power_state": orNil(n.Power), "maintenance": n.Maintenance, "fault": orNil(n.Fault), "last_error": orNil(n.Error),
		"resource_class": orNil(n.Class), "instance_uuid": orNil(n.Instance), "conductor_group": n.Group, "driver": n.Driver,
	}
	if k := len(said.Moves); k > 0 {
		last := said.Moves[k-1]
		data["event"], data["previous_provision_state"] = last.On, said.Moves[0].From
	}
	if said.Power != nil {
		data["from_power"] = orNil(said.Power.From)
	}
	m := &message{id: eventID(database, e), media: "application/json"}
	priority := "INFO"
	if strings.HasSuffix(name, ".error") {
		priority = "ERROR"
	}
	var err error
	m.body, err = json.Marshal(map[string]any{
		"message_id": m.id, "publisher_id": "ironic-conductor." + said.Conductor, "event_type": name, "priority": priority,
		"timestamp": e.At.UTC().Format("2006-01-02 15:04:05.000000"),
		"payload": map[string]any{"ironic_object.name": object, "ironic_object.namespace": "ironic",
			"ironic_object.version": "1.0", "ironic_object.data": data},
	})
	return m, err
}

func orNil(text string) any {
	if text == "" {
		return nil
	}
	return text
}

// ironicName is the name of Ironic's notification for an event, and of its payload; "" where Ironic has none.
func ironicName(e nodeapi.Event) (name, object string) {
	const of = "baremetal.node."
	switch e.Type {
	case "node.created":
		return of + "create.success", "NodeCRUDPayload"
	case "node.updated":
		return of + "update.success", "NodeCRUDPayload"
	case "node.deleted":
		return of + "delete.success", "NodeCRUDPayload"
	case "node.maintenance":
		return of + "maintenance_set.end", "NodePayload"
	case "node.power":
		return of + "power_state_corrected.success", "NodeCorrectedPowerStatePayload"
	case "node.state":
		return of + "provision_set." + provisionStatus(e), "NodeSetProvisionStatePayload"
	}
	return "", ""
}

// provisionStatus is how Ironic ends the name of a change of the provision state.
func provisionStatus(e nodeapi.Event) string {
	switch to := node.State(e.Moves[len(e.Moves)-1].To); {
	case to.Class() == node.Failed, to == node.Error, e.Moves[len(e.Moves)-1].On == string(node.Fail):
		return "error"
	case node.State(e.Moves[0].From).Class() == node.Stable:
		return "start"
	case to.Class() == node.Stable:
		return "end"
	}
	return "success"
}
