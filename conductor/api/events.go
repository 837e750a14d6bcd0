package api

import (
	"net/http"
	"slices"

	"github.com/ferrite-metal/ferrite/conductor/api/rest"
)

// eventResource takes events of Neutron.
type eventResource struct{ access }

// routes takes a network service's reports of the ports it has bound.
func (h *eventResource) routes() []rest.Route {
	return []rest.Route{
		{Method: http.MethodPost, Path: "/v1/events", Since: 54, Doc: "report ports that a network service has bound",
			Handle: h.takeEvents, Wire: rest.Accepts(http.StatusNoContent, eventsForm())},
	}
}

// takeEvents checks events and notes them in the log, as Ironic does: nothing
// waits for a network service to bind a port.
func (h *eventResource) takeEvents(c *rest.Call) error {
	body, err := c.Object("evts")
	if err != nil {
		return err
	}
	if err := rest.Unexpected(rest.SortedKeys(c.QueryParams()), nil); err != nil {
		return err
	}
	for _, key := range rest.SortedKeys(body) {
		if key != "events" {
			return eventFault(&rest.SchemaError{Text: rest.Additional(key)})
		}
	}
	value, ok := body["events"]
	if !ok {
		return eventFault(&rest.SchemaError{Text: "'events' is a required property"})
	}
	events, ok := value.([]any)
	switch {
	case !ok:
		return eventFault(rest.WrongType(value, "array"))
	case len(events) == 0:
		return eventFault(&rest.SchemaError{Text: "[] is too short"})
	}
	for _, item := range events {
		if err := checkEvent(item); err != nil {
			return eventFault(err)
		}
	}
	for _, item := range events {
		e, _ := item.(map[string]any)
		h.Log.Debug("event of a network service", "event", e["event"], "port", e["port_id"], "mac", e["mac_address"],
			"status", e["status"])
	}
	return c.Empty(http.StatusNoContent)
}

func eventFault(err error) error { return rest.BadRequest("Schema error for evts: %v", err) }

// eventTypes is the events there are.
func eventTypes() []any {
	return []any{"network.bind_port", "network.unbind_port", "network.delete_port"}
}

// eventKeys lists the properties of an event, in the order of their checks.
func eventKeys() []eventKey {
	return []eventKey{
		{"event", true, func(_ string, v any) error {
			if !slices.Contains(eventTypes(), v) {
				return &rest.SchemaError{Text: rest.Python(v) + " is not one of " + rest.Python(eventTypes())}
			}
			return nil
		}},
		{"port_id", true, wantUUID},
		{"mac_address", true, func(name string, v any) error {
			s, ok := v.(string)
			if !ok {
				return rest.WrongType(v, "string")
			}
			_, err := asMAC(name, s)
			return err
		}},
		{"status", true, func(_ string, v any) error {
			if _, ok := v.(string); !ok {
				return rest.WrongType(v, "string")
			}
			return nil
		}},
		{"device_id", false, optionalUUID},
		{"binding:host_id", false, optionalUUID},
		{"binding:vnic_type", false, func(_ string, v any) error {
			_, err := rest.ReadText(v, rest.MaxText)
			return err
		}},
	}
}

// eventKey is one key of an event.
type eventKey struct {
	name     string
	required bool
	check    func(name string, v any) error
}

func optionalUUID(name string, v any) error {
	_, err := rest.ReadUUID(name, v)
	return err
}

func wantUUID(name string, v any) error {
	if v == nil {
		return rest.WrongType(v, "string")
	}
	return optionalUUID(name, v)
}

func checkEvent(item any) error {
	e, ok := item.(map[string]any)
	if !ok {
		return rest.WrongType(item, "object")
	}
	known := eventKeys()
	for _, name := range rest.SortedKeys(e) {
		if !slices.ContainsFunc(known, func(k eventKey) bool { return k.name == name }) {
			return &rest.SchemaError{Text: rest.Additional(name)}
		}
	}
	for _, k := range known {
		v, ok := e[k.name]
		switch {
		case ok:
			if err := k.check(k.name, v); err != nil {
				return err
			}
		case k.required:
			return &rest.SchemaError{Text: "'" + k.name + "' is a required property"}
		}
	}
	return nil
}
