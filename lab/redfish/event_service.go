package redfish

import (
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"sync"
)

const (
	eventsPath        = rootPath + "/EventService"
	subscriptionsPath = eventsPath + "/Subscriptions"
)

// maxSubscriptions is how many the controller keeps; real ones have some 20.
const maxSubscriptions = 20

// eventTypes are the types a client can subscribe to (EventService, EventType).
func eventTypes() []string {
	return []string{"Alert", "ResourceAdded", "ResourceRemoved", "ResourceUpdated", "StatusChange"}
}

// subscriptions are kept and nothing is ever sent to them.
type subscriptions struct {
	mu     sync.Mutex
	list   []subscription
	lastID int
}

// subscription is a subscription without the fields that a client must not read back: headers may hold a token.
type subscription struct {
	id, destination, protocol, context string
	eventTypes                         []string
}

func (l *subscriptions) all() []subscription {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.list)
}

// add keeps one, or says that there are too many.
func (l *subscriptions) add(s subscription) (subscription, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.list) >= maxSubscriptions {
		return s, problem(subscriptionLimit)
	}
	l.lastID++
	s.id = strconv.Itoa(l.lastID)
	l.list = append(l.list, s)
	return s, nil
}

// remove forgets a subscription and reports whether it existed.
func (l *subscriptions) remove(id string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	before := len(l.list)
	l.list = slices.DeleteFunc(l.list, func(s subscription) bool { return s.id == id })
	return len(l.list) < before
}

func (l *subscriptions) items() (all []item) {
	for _, one := range l.all() {
		all = append(all, item{one.id, values{"context": one.context, "destination": one.destination,
			"subscribed": one.eventTypes, "eventProtocol": one.protocol}})
	}
	return all
}

// subscriptionRequest is the body of a POST to the collection.
type subscriptionRequest struct {
	Destination string
	Protocol    string
	Context     string
	EventTypes  []string
	HTTPHeaders []map[string]string `json:"HttpHeaders"`
}

// check refuses a destination to which no event can be sent.
func (q subscriptionRequest) check() error {
	if q.Destination == "" {
		return problem(propertyMissing, "Destination").about("#/Destination")
	}
	if u, err := url.Parse(q.Destination); err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return problem(valueError, "Destination").about("#/Destination")
	}
	if q.Protocol != "Redfish" {
		return problem(valueNotInList, q.Protocol, "Protocol").about("#/Protocol")
	}
	for _, t := range q.EventTypes {
		if !slices.Contains(eventTypes(), t) {
			return problem(valueNotInList, t, "EventTypes").about("#/EventTypes")
		}
	}
	return nil
}

func (s *Server) createSubscription(_ *http.Request, q subscriptionRequest) (reply, error) {
	if err := q.check(); err != nil {
		return reply{}, err
	}
	kept, err := s.subscriptions.add(subscription{destination: q.Destination, protocol: q.Protocol, context: q.Context,
		eventTypes: append([]string{}, q.EventTypes...)})
	if err != nil {
		return reply{}, err
	}
	at := subscriptionsPath + "/" + kept.id
	body, err := s.document(subscriptionsPath+"/{id}", at)
	return reply{status: http.StatusCreated, header: http.Header{"Location": {at}}, body: body}, err
}

func (s *Server) deleteSubscription(r *http.Request) (reply, error) {
	if !s.subscriptions.remove(r.PathValue("id")) {
		return reply{}, problem(resourceMissing, r.URL.Path)
	}
	return reply{}, nil
}
