package api

import (
	"net/http"
	"slices"
)

// eventRoutes is what a network service tells of the ports it has bound.
func (a *API) eventRoutes() []route {
	return []route{
		{method: http.MethodPost, path: "/v1/events", since: 54, doc: "tell of ports that a network service has bound", handle: a.takeEvents, wire: takes(http.StatusNoContent, eventsForm())},
	}
}

// takeEvents checks events and notes them in the log, as Ironic does: nothing
// waits for a network service to bind a port.
func (a *API) takeEvents(c *call) error {
	body, err := c.object("evts")
	if err != nil {
		return err
	}
	if err := unexpected(sortedKeys(c.QueryParams()), nil); err != nil {
		return err
	}
	for _, key := range sortedKeys(body) {
		if key != "events" {
			return eventFault(&schemaError{additional(key)})
		}
	}
	value, ok := body["events"]
	if !ok {
		return eventFault(&schemaError{"'events' is a required property"})
	}
	events, ok := value.([]any)
	switch {
	case !ok:
		return eventFault(wrongType(value, "array"))
	case len(events) == 0:
		return eventFault(&schemaError{"[] is too short"})
	}
	for _, item := range events {
		if err := checkEvent(item); err != nil {
			return eventFault(err)
		}
	}
	for _, item := range events {
		e, _ := item.(map[string]any)
		a.log.Debug("event of a network service", "event", e["event"], "port", e["port_id"], "mac", e["mac_address"], "status", e["status"])
	}
	return c.empty(http.StatusNoContent)
}

func eventFault(err error) error { return badRequest("Schema error for evts: %v", err) }

// eventTypes is the events there are.
func eventTypes() []any {
	return []any{"network.bind_port", "network.unbind_port", "network.delete_port"}
}

// eventKeys is what an event is made of, in the order it is looked at.
func eventKeys() []eventKey {
	return []eventKey{
		{"event", true, func(_ string, v any) error {
			if !slices.Contains(eventTypes(), v) {
				return &schemaError{python(v) + " is not one of " + python(eventTypes())}
			}
			return nil
		}},
		{"port_id", true, wantUUID},
		{"mac_address", true, func(name string, v any) error {
			s, ok := v.(string)
			if !ok {
				return wrongType(v, "string")
			}
			_, err := asMAC(name, s)
			return err
		}},
		{"status", true, func(_ string, v any) error {
			if _, ok := v.(string); !ok {
				return wrongType(v, "string")
			}
			return nil
		}},
		{"device_id", false, optionalUUID},
		{"binding:host_id", false, optionalUUID},
		{"binding:vnic_type", false, func(_ string, v any) error {
			_, err := asText(v, maxText)
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
	_, err := asUUID(name, v)
	return err
}

func wantUUID(name string, v any) error {
	if v == nil {
		return wrongType(v, "string")
	}
	return optionalUUID(name, v)
}

func checkEvent(item any) error {
	e, ok := item.(map[string]any)
	if !ok {
		return wrongType(item, "object")
	}
	known := eventKeys()
	for _, name := range sortedKeys(e) {
		if !slices.ContainsFunc(known, func(k eventKey) bool { return k.name == name }) {
			return &schemaError{additional(name)}
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
			return &schemaError{"'" + k.name + "' is a required property"}
		}
	}
	return nil
}
