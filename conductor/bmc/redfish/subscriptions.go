package redfish

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/ferrite-metal/ferrite/conductor/node"
)

// subscription has the properties of an EventDestination that Ironic sets and shows.
type subscription struct {
	ID          string `json:"Id,omitempty"`
	Context     *string
	Destination string
	EventTypes  []string
	Protocol    string
	HTTPHeaders []any `json:"HttpHeaders,omitempty"` // asked for and never shown: they may hold a token
}

// readSubscription reads the arguments of create_subscription, with Redfish's defaults for missing ones.
func readSubscription(args map[string]any) (q subscription, err error) {
	text := func(key, otherwise string) (string, error) {
		v, given := args[key]
		s, ok := v.(string)
		if given && !ok {
			return "", node.Refuse(node.Invalid, "%s %v is not a valid string", key, v)
		}
		return cmp.Or(s, otherwise), nil
	}
	note, err := text("Context", "")
	if err != nil {
		return q, err
	}
	q.Context = &note
	if q.Protocol, err = text("Protocol", "Redfish"); err != nil {
		return q, err
	}
	q.Destination, _ = args["Destination"].(string)
	if u, err := url.Parse(q.Destination); err != nil || u.Scheme == "" || u.Hostname() == "" {
		return q, node.Refuse(node.Invalid, "Destination %v is not a valid URI", args["Destination"])
	}
	if headers := args["HttpHeaders"]; headers != nil {
		list, ok := headers.([]any)
		if !ok {
			return q, node.Refuse(node.Invalid, "HttpHeaders is not a list of headers")
		}
		q.HTTPHeaders = list
	}
	q.EventTypes, err = eventTypes(args["EventTypes"])
	return q, err
}

func eventTypes(v any) ([]string, error) {
	if v == nil {
		return []string{"Alert"}, nil
	}
	list, ok := v.([]any)
	var types []string
	for _, item := range list {
		s, isText := item.(string)
		types, ok = append(types, s), ok && isText
	}
	if !ok {
		return nil, node.Refuse(node.Invalid, "EventTypes %v is not a valid value, expected a list of strings", v)
	}
	return types, nil
}

func checkSubscription(args map[string]any) error {
	_, err := readSubscription(args)
	return err
}

// checkSubscriptionID: an id is the last part of a path, no more.
func checkSubscriptionID(args map[string]any) error {
	id, ok := args["id"].(string)
	switch {
	case args["id"] == nil || id == "" && ok:
		return node.Refuse(node.Invalid, "id can't be None")
	case !ok || strings.ContainsAny(id, "/?#%") || strings.Trim(id, ".") == "":
		return node.Refuse(node.Invalid, "id %v is not the Id of a subscription", args["id"])
	}
	return nil
}

// eventService is EventService.
type eventService struct {
	EventTypes    []string `json:"EventTypesForSubscription"`
	Subscriptions reference
}

// allEventTypes are the types of a BMC that does not name its own (EventService, EventType).
var allEventTypes = []string{"StatusChange", "ResourceUpdated", "ResourceAdded", "ResourceRemoved", "Alert",
	"MetricReport", "Other"}

func (s *session) eventService() (e eventService, err error) {
	r, err := s.root()
	if err != nil {
		return e, err
	}
	if r.EventService.Path != "" {
		_, err = s.get(r.EventService.Path, &e)
	}
	if err == nil && e.Subscriptions.Path == "" {
		err = broken("the BMC has no subscriptions to events: update its firmware")
	}
	if len(e.EventTypes) == 0 {
		e.EventTypes = allEventTypes
	}
	return e, err
}

// createSubscription does create_subscription, and answers the BMC's new subscription.
func createSubscription(s *session, args map[string]any) (any, error) {
	q, err := readSubscription(args)
	if err != nil {
		return nil, err
	}
	events, err := s.eventService()
	if err != nil {
		return nil, err
	}
	for _, t := range q.EventTypes {
		if args["EventTypes"] != nil && !slices.Contains(events.EventTypes, t) {
			return nil, node.Refuse(node.Invalid, "EventTypes %v is not a valid value, allowed values %v", q.EventTypes,
				events.EventTypes)
		}
	}
	answer, err := s.client.Post(events.Subscriptions.Path, q)
	if err != nil {
		return nil, err
	}
	defer answer.Body.Close()
	made, err := url.Parse(answer.Header.Get("Location"))
	if err != nil || made.Path == "" {
		var body reference
		if err := json.NewDecoder(answer.Body).Decode(&body); err != nil || body.Path == "" {
			return nil, fmt.Errorf("the BMC took the subscription and does not say where it is: look for it in %s",
				events.Subscriptions.Path)
		}
		made = &url.URL{Path: body.Path}
	}
	return s.subscription(made.Path)
}

// subscription reads the properties of a subscription that Ironic shows, without those that the BMC lacks.
func (s *session) subscription(path string) (any, error) {
	var all map[string]any
	if _, err := s.get(path, &all); err != nil {
		return nil, err
	}
	shown := map[string]any{}
	for _, key := range []string{"Id", "Context", "Protocol", "Destination", "EventTypes"} {
		if v, ok := all[key]; ok {
			shown[key] = v
		}
	}
	return shown, nil
}

// subscriptionPath is where the subscription is that the arguments name.
func (s *session) subscriptionPath(args map[string]any) (string, error) {
	events, err := s.eventService()
	id, _ := args["id"].(string)
	return strings.TrimRight(events.Subscriptions.Path, "/") + "/" + id, err
}

// absent is the error for a subscription that the BMC does not have.
func absent(err error, args map[string]any) error {
	if status(err) == http.StatusNotFound {
		return node.Refuse(node.NotFound, "The BMC has no subscription %v", args["id"])
	}
	return err
}

func getSubscription(s *session, args map[string]any) (any, error) {
	path, err := s.subscriptionPath(args)
	if err != nil {
		return nil, err
	}
	shown, err := s.subscription(path)
	return shown, absent(err, args)
}

// allSubscriptions answers the collection as the BMC has it.
func allSubscriptions(s *session, _ map[string]any) (any, error) {
	events, err := s.eventService()
	if err != nil {
		return nil, err
	}
	var all map[string]any
	_, err = s.get(events.Subscriptions.Path, &all)
	return all, err
}

func deleteSubscription(s *session, args map[string]any) (any, error) {
	path, err := s.subscriptionPath(args)
	if err != nil {
		return nil, err
	}
	_, err = s.ask(http.MethodDelete, path, nil)
	return nil, absent(err, args)
}
