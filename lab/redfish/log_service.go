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

// logService is LogService.v1_4_0.
type logService struct {
	common
	ServiceEnabled     bool
	OverWritePolicy    string
	MaxNumberOfRecords int
	Status             status
	Entries            link
	Actions            logActions
}

type logActions struct {
	ClearLog action `json:"#LogService.ClearLog"`
}

func (s *Server) getLogService(*http.Request) (reply, error) {
	return ok(logService{
		common:         head(logPath, "LogService.v1_4_0.LogService", "Event Log"),
		ServiceEnabled: true, OverWritePolicy: "WrapsWhenFull", MaxNumberOfRecords: maxEvents, Status: enabled(),
		Entries: link{logPath + "/Entries"}, Actions: logActions{action{logPath + clearLogAction}},
	})
}

func (s *Server) getLogEntries(r *http.Request) (reply, error) {
	var members []string
	for _, e := range s.events.all() {
		members = append(members, logPath+"/Entries/"+e.id)
	}
	return collection("LogEntry", "Log Entries", members...)(r)
}

// logEntry is LogEntry.v1_15_0.
type logEntry struct {
	common
	EntryType string
	Created   string
	Severity  string
	Message   string
}

func (s *Server) getLogEntry(r *http.Request) (reply, error) {
	for _, e := range s.events.all() {
		if e.id == r.PathValue("id") {
			return ok(logEntry{
				common:    head(r.URL.Path, "LogEntry.v1_15_0.LogEntry", "Log Entry"),
				EntryType: "Event", Created: e.at.UTC().Format(time.RFC3339), Severity: "OK", Message: e.message,
			})
		}
	}
	return reply{}, problem(resourceMissing, r.URL.Path)
}

func (s *Server) clearLog(r *http.Request) (reply, error) {
	if err := decode(r, &struct{}{}); err != nil {
		return reply{}, err
	}
	s.events.clear()
	return noContent()
}
