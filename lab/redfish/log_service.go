package redfish

import (
	"net/http"
	"slices"
	"strconv"
	"sync"
	"time"
)

const (
	logServicesPath = managerPath + "/LogServices"
	logPath         = logServicesPath + "/Log"
	clearLogAction  = "/Actions/LogService.ClearLog"
)

// maxEvents is how many events the log keeps; the oldest go first.
const maxEvents = 100

// events is the controller's log: the requests to it and the changes of its machine.
type events struct {
	now func() time.Time

	mu     sync.Mutex
	list   []event
	lastID int
}

type event struct {
	id      string
	at      time.Time
	message string
}

func (l *events) add(message string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.lastID++
	l.list = append(l.list, event{strconv.Itoa(l.lastID), l.now(), message})
	l.list = l.list[max(0, len(l.list)-maxEvents):]
}

func (l *events) all() []event {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.list)
}

func (l *events) clear() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.list = nil
}

func (l *events) items() (all []item) {
	for _, e := range l.all() {
		all = append(all, item{e.id, values{"created": rfc3339(e.at), "message": e.message}})
	}
	return all
}

func (s *Server) clearLog(*http.Request, struct{}) error {
	s.events.clear()
	return nil
}
