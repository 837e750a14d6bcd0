package reconciler_test

import (
	"context"
	"fmt"

	"github.com/ferrite-metal/ferrite/conductor/node"
)

// subscribers are the subscriptions of all BMCs, by Id.
type subscribers struct {
	all  map[string]map[string]any
	last int
	lose bool // the answer to the next request is lost
}

// VendorMethods are a Redfish BMC's.
func (m *machines) VendorMethods() (all []node.VendorMethod) {
	for name, method := range map[string]string{"create_subscription": "POST", "delete_subscription": "DELETE",
		"get_subscription": "GET", "get_all_subscriptions": "GET"} {
		all = append(all, node.VendorMethod{Name: name, HTTPMethods: []string{method}})
	}
	return all
}

func (m *machines) CheckVendor(context.Context, node.Node, string, map[string]any) error { return nil }

// CallVendor is a BMC's event service.
func (m *machines) CallVendor(ctx context.Context, n node.Node, method string, args map[string]any) (any, error) {
	if err := m.answers(ctx, n); err != nil {
		return nil, node.Refuse(node.BMCSilent, "%v", err)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	s := &m.events
	id, _ := args["id"].(string)
	switch method {
	case "create_subscription":
		s.last++
		if s.all == nil {
			s.all = map[string]map[string]any{}
		}
		id = fmt.Sprint(s.last)
		s.all[id] = map[string]any{"Id": id, "Destination": args["Destination"], "Context": args["Context"],
			"HttpHeaders": args["HttpHeaders"]}
		if s.lose {
			s.lose = false
			return nil, node.Refuse(node.BMCFailed, "the connection was lost")
		}
		return s.all[id], nil
	case "get_all_subscriptions":
		members := []any{}
		for id := range s.all {
			members = append(members, map[string]any{"@odata.id": "/redfish/v1/EventService/Subscriptions/" + id})
		}
		return map[string]any{"Members": members}, nil
	case "delete_subscription":
		if s.all[id] == nil {
			return nil, node.Refuse(node.NotFound, "The BMC has no subscription %s", id)
		}
		delete(s.all, id)
	}
	return s.all[id], nil
}

// subscriptions is how many there are, and the newest.
func (m *machines) subscriptions() (n int, newest map[string]any) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return len(m.events.all), m.events.all[fmt.Sprint(m.events.last)]
}
