package nova_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/gophercloud/gophercloud/v2"
	"go.uber.org/goleak"

	"github.com/ferrite-metal/ferrite/conductor/extras/openstack/nova"
	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// site is a database with events, and a Nova.
type site struct {
	mu      sync.Mutex
	events  []node.ChangeEvent
	broken  error  // of the database
	away    error  // of Keystone
	answers []int  // of Nova, the last one again and again
	page    string // answered instead of JSON
	got     []string
	headers http.Header
	log     bytes.Buffer
	begun   int // how often it was asked for the newest event
	logins  int
	p       *gophercloud.ProviderClient
	url     string
}

func (s *site) Events(_ context.Context, after int64, limit int) ([]node.ChangeEvent, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.events[min(int(after), len(s.events)):min(int(after)+limit, len(s.events))], s.broken
}

func (s *site) EventLog(context.Context) (node.EventLog, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.begun++
	return node.EventLog{Newest: int64(len(s.events))}, s.broken
}

func (s *site) Service(_ context.Context, kind string) (*gophercloud.ServiceClient, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.logins++
	return &gophercloud.ServiceClient{ProviderClient: s.p, Endpoint: s.url + "/v2.1/", Type: kind}, s.away
}

// ServeHTTP answers as Nova 26 does.
func (s *site) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var body struct {
		Events []struct {
			Name   string `json:"name"`
			Server string `json:"server_uuid"`
			Tag    string `json:"tag"`
		} `json:"events"`
	}
	if err := json.NewDecoder(r.Body).Decode(&body); err != nil || r.Method != http.MethodPost ||
		r.URL.Path != "/v2.1/os-server-external-events" {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	said := ""
	for _, e := range body.Events {
		said += fmt.Sprintf("%s %s %s;", e.Name, e.Server, e.Tag)
	}
	s.got, s.headers = append(s.got, said), r.Header
	status := s.answers[0]
	if len(s.answers) > 1 {
		s.answers = s.answers[1:]
	}
	w.WriteHeader(status)
	switch {
	case s.page != "":
		fmt.Fprint(w, s.page)
	case status == http.StatusMultiStatus:
		fmt.Fprintf(w, `{"events": [{"server_uuid": "i1", "name": "power-update", "code": 422, "status": "failed"}]}`)
	default:
		fmt.Fprint(w, `{"events": []}`)
	}
}

// happens writes an event into the database, of so long ago.
func (s *site) happens(instance string, power *nodeapi.EventPower, ago time.Duration) {
	doc, _ := json.Marshal(nodeapi.Event{Type: "node.power", Power: power,
		Node: &nodeapi.EventNode{UUID: "n-" + instance, Instance: instance}})
	s.mu.Lock()
	defer s.mu.Unlock()
	s.events = append(s.events, node.ChangeEvent{Position: int64(len(s.events) + 1), At: time.Now().Add(-ago), Doc: doc})
}

func to(power string) *nodeapi.EventPower { return &nodeapi.EventPower{To: power} }

func newSite(t *testing.T, answers ...int) *site {
	t.Helper()
	s := &site{answers: answers, p: &gophercloud.ProviderClient{TokenID: "token"}}
	server := httptest.NewServer(s)
	transport := &http.Transport{}
	s.p.HTTPClient = http.Client{Transport: transport}
	s.url = server.URL
	t.Cleanup(func() {
		transport.CloseIdleConnections()
		server.Close()
	})
	return s
}

// run sends to Nova until it has got a number of changes, and for a while longer.
func (s *site) run(t *testing.T, times int, do func()) []string {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	n := nova.New(nova.Config{Store: s, Cloud: s, Log: slog.New(slog.NewTextHandler(&s.log, nil)),
		Poll: time.Millisecond, Pause: time.Millisecond})
	go func() {
		defer close(ended)
		n.Run(ctx)
	}()
	s.until(func() bool { return s.begun > 0 }) // it begins with the newest event
	do()
	for end := time.Now().Add(5 * time.Second); s.told() < times && time.Now().Before(end); {
		time.Sleep(time.Millisecond)
	}
	time.Sleep(30 * time.Millisecond)
	cancel()
	<-ended
	return s.got
}

// until waits for something, not for ever.
func (s *site) until(is func() bool) {
	for end := time.Now().Add(5 * time.Second); time.Now().Before(end); time.Sleep(time.Millisecond) {
		s.mu.Lock()
		ok := is()
		s.mu.Unlock()
		if ok {
			return
		}
	}
}

func (s *site) told() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.got)
}

// TestPowerUpdate: Nova gets the power of instances, in its words, and nothing else.
func TestPowerUpdate(t *testing.T) {
	s := newSite(t, http.StatusOK)
	s.happens("before", to("power off"), 0)
	got := s.run(t, 2, func() {
		s.happens("", to("power off"), 0)
		s.happens("i1", nil, 0)
		s.happens("i1", to(""), 0)
		s.happens("i1", to("error"), 0)
		s.happens("old", to("power off"), 20*time.Minute)
		s.happens("i1", to("power off"), 0)
		for s.told() == 0 {
			time.Sleep(time.Millisecond)
		}
		s.happens("i2", to("power on"), 0)
	})
	want := []string{"power-update i1 POWER_OFF;", "power-update i2 POWER_ON;"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if s.headers.Get("OpenStack-API-Version") != "compute 2.76" || s.headers.Get("X-Auth-Token") != "token" {
		t.Errorf("%v", s.headers)
	}
}

// TestTries: a Nova that is away is asked again, some times; a Nova that refuses is not. The next change is sent all
// the same.
func TestTries(t *testing.T) {
	for name, tc := range map[string]struct {
		answers []int
		times   int
		logged  string
	}{
		"comes back":   {[]int{503, 500, 200}, 3, ""},
		"stays away":   {[]int{503}, 4, "Nova answered 503"},
		"refuses":      {[]int{403}, 1, "the role admin"},
		"knows it not": {[]int{404}, 1, "none of the instances is known"},
		"in part":      {[]int{207}, 1, "status=422"},
	} {
		t.Run(name, func(t *testing.T) {
			s := newSite(t, tc.answers...)
			got := s.run(t, tc.times+1, func() {
				s.happens("i1", to("power off"), 0)
				for s.told() < tc.times {
					time.Sleep(time.Millisecond)
				}
				s.mu.Lock()
				s.answers = []int{200}
				s.mu.Unlock()
				time.Sleep(10 * time.Millisecond)
				s.happens("i2", to("power on"), 0)
			})
			if len(got) != tc.times+1 || got[len(got)-1] != "power-update i2 POWER_ON;" {
				t.Errorf("%v, expected %d", got, tc.times+1)
			}
			if !strings.Contains(s.log.String(), tc.logged) || (tc.logged == "") != (s.log.Len() == 0) {
				t.Errorf("log %q", s.log.String())
			}
		})
	}
}

// TestUnread: changes that Nova has taken are sent once, even if its answer cannot be read.
func TestUnread(t *testing.T) {
	for _, page := range []string{"<html>", `{"events": [{"server_`, " ", `[]`, `{"events": {}}`} {
		s := newSite(t, http.StatusOK)
		s.page = page
		if got := s.run(t, 1, func() { s.happens("i1", to("power off"), 0) }); len(got) != 1 ||
			!strings.Contains(s.log.String(), "its answer cannot be read") {
			t.Errorf("%q: told %v, log %q", page, got, s.log.String())
		}
	}
}

// TestLastOfEach: after a while without Nova, it gets only the present power of each instance.
func TestLastOfEach(t *testing.T) {
	s := newSite(t, http.StatusOK)
	s.broken = errors.New("the database is away")
	got := s.run(t, 1, func() {
		s.mu.Lock()
		s.broken = nil
		s.mu.Unlock()
		time.Sleep(20 * time.Millisecond)
		s.mu.Lock()
		s.broken = errors.New("the database is away")
		s.mu.Unlock()
		s.happens("i1", to("power off"), 0)
		s.happens("i2", to("power off"), 0)
		s.happens("i1", to("power on"), 0)
		s.mu.Lock()
		s.broken = nil
		s.mu.Unlock()
	})
	if diff := cmp.Diff([]string{"power-update i1 POWER_ON;power-update i2 POWER_OFF;"}, got); diff != "" {
		t.Error(diff)
	}
	if !strings.Contains(s.log.String(), "cannot be read") {
		t.Error("nothing is said of the database")
	}
}

// TestKeystoneAway: without a login nothing is sent, and the reason is said once for a change.
func TestKeystoneAway(t *testing.T) {
	s := newSite(t, http.StatusOK)
	s.away = errors.New("Keystone is away")
	s.run(t, 0, func() {
		s.happens("i1", to("power off"), 0)
		s.until(func() bool { return s.logins == 4 }) // as often as it tries
	})
	if n := strings.Count(s.log.String(), "Keystone is away"); n != 1 || s.told() != 0 ||
		!strings.Contains(s.log.String(), "nodes=[n-i1]") {
		t.Errorf("said %d times, told %d: %s", n, s.told(), s.log.String())
	}
}
