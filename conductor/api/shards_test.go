package api_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestShards(t *testing.T) {
	c := newConductor(t)
	if r := c.must(http.StatusOK, 82, "GET", "/v1/shards", ""); r.body != `{"shards":[]}` {
		t.Errorf("without nodes: %s", r.body)
	}
	for _, shard := range []string{`"b"`, "null", `"a"`, `"b"`} {
		c.must(http.StatusCreated, 82, "POST", "/v1/nodes", `{"driver":"fake-hardware","shard":`+shard+`}`)
	}
	want := `{"shards":[{"name":"None","count":1},{"name":"a","count":1},{"name":"b","count":2}]}`
	if diff := cmp.Diff(want, c.must(http.StatusOK, 82, "GET", "/v1/shards", "").body); diff != "" {
		t.Error(diff)
	}
	c.must(http.StatusNotFound, 81, "GET", "/v1/shards", "")
	c.must(http.StatusNotFound, 82, "GET", "/v1/shards/a", "")
}

func TestEvents(t *testing.T) {
	c := newConductor(t)
	const id = "11111111-0000-4000-8000-000000000001"
	event := func(with string) string {
		return `{"events":[{"event":"network.bind_port","port_id":"` + id +
			`","mac_address":"de:ad:ca:fe:ba:be","status":"ACTIVE"` + with + `}]}`
	}
	for body, want := range map[string]string{
		event(""): "",
		event(`,"device_id":null,"binding:host_id":"` + id + `","binding:vnic_type":null`): "",
		``:                          "'events' is a required property",
		`{"events":[]}`:             "[] is too short",
		`{"events":{}}`:             "{} is not of type 'array'",
		`{"events":[1]}`:            "1 is not of type 'object'",
		`{"events":[{}]}`:           "'event' is a required property",
		`{"events":[],"more":1}`:    "Additional properties are not allowed ('more' was unexpected)",
		event(`,"more":1`):          "Additional properties are not allowed ('more' was unexpected)",
		event(`,"port_id":null`):    "None is not of type 'string'",
		event(`,"port_id":"p"`):     "Expected UUID for port_id: p",
		event(`,"device_id":"d"`):   "Expected UUID for device_id: d",
		event(`,"mac_address":"m"`): "Expected valid MAC address for mac_address: m",
		event(`,"mac_address":1`):   "1 is not of type 'string'",
		event(`,"status":null`):     "None is not of type 'string'",
		event(`,"event":"network.unplug_everything"`): "'network.unplug_everything' is not one of ['network.bind_port', " +
			"'network.unbind_port', 'network.delete_port']",
	} {
		status := http.StatusNoContent
		if want != "" {
			status, want = http.StatusBadRequest, "Schema error for evts: "+want
		}
		if r := c.must(status, 54, "POST", "/v1/events", body); want != "" && !strings.HasPrefix(r.text(), want) {
			t.Errorf("%s: %q, want %q", body, r.text(), want)
		}
	}
	c.must(http.StatusNotFound, 53, "POST", "/v1/events", event(""))
}
