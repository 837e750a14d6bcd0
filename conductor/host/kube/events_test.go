package kube_test

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ferrite-metal/ferrite/conductor/host/kube"
	"github.com/ferrite-metal/ferrite/conductor/host/objects"
	"github.com/ferrite-metal/ferrite/proto/hostapi"
)

// happened is an event of a host.
func happened(namespace, host, kind, reason string) hostapi.Event {
	at := hostapi.At(time.Date(2026, 11, 22, 13, 29, 0, 0, time.UTC))
	return hostapi.Event{
		TypeMeta:       hostapi.TypeMeta{Kind: hostapi.KindEvent, APIVersion: hostapi.CoreVersion},
		ObjectMeta:     hostapi.ObjectMeta{Name: host + "." + reason, Namespace: namespace, UID: "u", CreationTimestamp: at},
		InvolvedObject: hostapi.ObjectReference{Kind: hostapi.KindHost, APIVersion: hostapi.APIVersion, Namespace: namespace, Name: host, UID: host + "-uid"},
		Type:           kind, Reason: reason, Message: "so it is", Count: 2, FirstTimestamp: at, LastTimestamp: at, Source: hostapi.EventSource{Component: "c"},
	}
}

func withEvents(o *kube.Options, _ *objects.Config) {
	o.Events = func() []hostapi.Event {
		return []hostapi.Event{
			happened("metal3", "a", hostapi.EventNormal, "PowerOn"), happened("metal3", "b", hostapi.EventNormal, "PowerOn"),
			happened("metal3", "a", hostapi.EventWarning, "InspectionError"), happened("other", "a", hostapi.EventNormal, "PowerOff"),
		}
	}
}

// TestEvents: events are selected by what kubectl describe knows of a document,
// and by what people ask for.
func TestEvents(t *testing.T) {
	s := start(t, withEvents)
	for _, tc := range []struct{ path, selector, want string }{
		{"/api/v1/events", "", "a.PowerOn b.PowerOn a.InspectionError a.PowerOff"},
		{"/api/v1/namespaces/metal3/events", "", "a.PowerOn b.PowerOn a.InspectionError"},
		{"/api/v1/namespaces/metal3/events", "involvedObject.kind=BareMetalHost,involvedObject.name=a,involvedObject.namespace=metal3,involvedObject.uid=a-uid", "a.PowerOn a.InspectionError"},
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
	s.ok(http.StatusMethodNotAllowed, "GET /api/v1/events?watch=true", "")
}

func TestEventTable(t *testing.T) {
	s := start(t, withEvents)
	var got struct {
		Columns []struct{ Name string } `json:"columnDefinitions"`
		Rows    []struct{ Cells []any }
	}
	if err := json.Unmarshal([]byte(s.ok(http.StatusOK, "GET /api/v1/events?fieldSelector=type%3DWarning"+asTable, "")), &got); err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, c := range got.Columns {
		names = append(names, c.Name)
	}
	if diff := cmp.Diff([]string{"Last Seen", "Type", "Reason", "Object", "Message"}, names); diff != "" {
		t.Errorf("columns (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]any{"60s", "Warning", "InspectionError", "baremetalhost/a", "so it is"}, got.Rows[0].Cells); diff != "" {
		t.Errorf("cells (-want +got):\n%s", diff)
	}
}
