package kube_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ferrite-metal/ferrite/conductor/extras/hosts/kube"
	"github.com/ferrite-metal/ferrite/conductor/node/objects"
	"github.com/ferrite-metal/ferrite/proto/hostapi"
)

// happened is an event of a host.
func happened(namespace, host, kind, reason string) hostapi.Event {
	at := hostapi.At(time.Date(2026, 11, 22, 13, 29, 0, 0, time.UTC))
	return hostapi.Event{
		TypeMeta:   hostapi.TypeMeta{Kind: hostapi.KindEvent, APIVersion: hostapi.CoreVersion},
		ObjectMeta: hostapi.ObjectMeta{Name: host + "." + reason, Namespace: namespace, UID: "u", CreationTimestamp: at},
		InvolvedObject: hostapi.ObjectReference{Kind: hostapi.KindHost, APIVersion: hostapi.APIVersion, Namespace: namespace,
			Name: host, UID: host + "-uid"},
		Type: kind, Reason: reason, Message: "so it is", Count: 2, FirstTimestamp: at, LastTimestamp: at,
		Source: hostapi.EventSource{Component: "c"},
	}
}

func withEvents(o *kube.Options, _ *objects.Config) { o.Events = newDiary() }

// diary is a list of events, under revisions from 11 on: earlier ones are forgotten.
type diary struct {
	mu   sync.Mutex
	all  []hostapi.Event
	lost int64
	more chan struct{}
}

func newDiary() *diary {
	return &diary{lost: 10, more: make(chan struct{}), all: []hostapi.Event{
		happened("metal3", "a", hostapi.EventNormal, "PowerOn"), happened("metal3", "b", hostapi.EventNormal, "PowerOn"),
		happened("metal3", "a", hostapi.EventWarning, "InspectionError"),
		happened("other", "a", hostapi.EventNormal, "PowerOff"),
	}}
}

func (d *diary) write(e hostapi.Event) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.all = append(d.all, e)
	close(d.more)
	d.more = make(chan struct{})
}

func (d *diary) List() ([]hostapi.Event, int64) {
	all, newest, _, _ := d.Since(d.lost)
	return all, newest
}

func (d *diary) Since(revision int64) (all []hostapi.Event, newest int64, more <-chan struct{}, complete bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	newest = d.lost + int64(len(d.all))
	if complete = d.lost <= revision && revision <= newest; complete {
		all = slices.Clone(d.all[revision-d.lost:])
	}
	for i := range all {
		all[i].ResourceVersion = fmt.Sprint(newest - int64(len(all)-1-i))
	}
	return all, newest, d.more, complete
}

// TestEvents: events are selected by the fields that kubectl describe knows of a document, and by the selectors that
// users write.
func TestEvents(t *testing.T) {
	s := start(t, withEvents)
	for _, tc := range []struct{ path, selector, want string }{
		{"/api/v1/events", "", "a.PowerOn b.PowerOn a.InspectionError a.PowerOff"},
		{"/api/v1/namespaces/metal3/events", "", "a.PowerOn b.PowerOn a.InspectionError"},
		{"/api/v1/namespaces/metal3/events",
			"involvedObject.kind=BareMetalHost,involvedObject.name=a,involvedObject.namespace=metal3,involvedObject.uid=a-uid",
			"a.PowerOn a.InspectionError"},
		{"/api/v1/namespaces/metal3/events", "involvedObject.name=a,involvedObject.uid=another", ""},
		{"/api/v1/events", "type!=Normal", "a.InspectionError"},
		{"/api/v1/events", "reason==PowerOff", "a.PowerOff"},
		{"/api/v1/namespaces/nowhere/events", "", ""},
	} {
		var all struct{ Items []hostapi.Event }
		answer := s.ok(http.StatusOK, "GET "+tc.path+"?fieldSelector="+url.QueryEscape(tc.selector), "")
		if err := json.Unmarshal([]byte(answer), &all); err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, e := range all.Items {
			got = append(got, e.Name)
		}
		if strings.Join(got, " ") != tc.want {
			t.Errorf("%s, %q: %q, want %q", tc.path, tc.selector, got, tc.want)
		}
	}
	s.ok(http.StatusBadRequest, "GET /api/v1/events?fieldSelector=message%3Dx", "")
	s.ok(http.StatusMethodNotAllowed, "DELETE /api/v1/events", "")
}

func TestEventTable(t *testing.T) {
	s := start(t, withEvents)
	var got struct {
		Columns []struct{ Name string } `json:"columnDefinitions"`
		Rows    []struct{ Cells []any }
	}
	if err := json.Unmarshal([]byte(s.ok(http.StatusOK, "GET /api/v1/events?fieldSelector=type%3DWarning"+asTable, "")),
		&got); err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, c := range got.Columns {
		names = append(names, c.Name)
	}
	if diff := cmp.Diff([]string{"Last Seen", "Type", "Reason", "Object", "Message"}, names); diff != "" {
		t.Errorf("columns (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]any{"60s", "Warning", "InspectionError", "baremetalhost/a", "so it is"},
		got.Rows[0].Cells); diff != "" {
		t.Errorf("cells (-want +got):\n%s", diff)
	}
}

// TestEventWatch follows events, from a revision or from the present ones. A watcher that has missed some gets an
// error, at once or on the way.
func TestEventWatch(t *testing.T) {
	d := newDiary()
	s := start(t, func(o *kube.Options, _ *objects.Config) { o.Events = d })
	once := func(host, reason string) hostapi.Event {
		e := happened("metal3", host, hostapi.EventNormal, reason)
		e.Count = 1
		return e
	}
	all := s.watchAt(t, "/api/v1/events", "resourceVersion=13", nil)
	now := s.watchAt(t, "/api/v1/namespaces/metal3/events", "", nil)
	ofB := s.watchAt(t, "/api/v1/events", "resourceVersion=14&fieldSelector=involvedObject.name%3Db", nil)
	all.wants("MODIFIED a.PowerOff 14")
	now.wants("MODIFIED a.PowerOn 11", "MODIFIED b.PowerOn 12", "MODIFIED a.InspectionError 13")
	d.write(once("a", "Registered"))
	d.write(once("b", "Registered"))
	all.wants("ADDED a.Registered 15", "ADDED b.Registered 16")
	now.wants("ADDED a.Registered 15", "ADDED b.Registered 16")
	ofB.wants("ADDED b.Registered 16")
	for _, behind := range []string{"3", "99"} {
		s.ok(http.StatusGone, "GET /api/v1/events?watch=true&resourceVersion="+behind, "")
	}
	s.ok(http.StatusBadRequest, "GET /api/v1/events?watch=true&resourceVersion=x", "")
	ends := s.watchAt(t, "/api/v1/events", "timeoutSeconds=1&allowWatchBookmarks=true&resourceVersion=16", nil)
	ends.wants("BOOKMARK  16")
	if got, _, ok := ends.next(); ok {
		t.Errorf("more: %s", got)
	}
	d.mu.Lock()
	d.lost += 20 // without a message to any watcher
	d.mu.Unlock()
	d.write(once("a", "PowerOn"))
	all.wants("ERROR 410")
	if got, _, ok := all.next(); ok {
		t.Errorf("more: %s", got)
	}
}
