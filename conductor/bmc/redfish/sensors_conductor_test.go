package redfish_test

import (
	"strings"
	"testing"
	"time"

	"github.com/ferrite-metal/ferrite/conductor/plan"
	"github.com/ferrite-metal/ferrite/lab/recorded"
	"github.com/ferrite-metal/ferrite/lab/recorded/recordedtest"
)

// TestSensorsOfNode: the API shows the sensors that the power sync has read, and the history names a part that is
// critical.
func TestSensorsOfNode(t *testing.T) {
	docs := recordedtest.Small()
	docs[partsSystem+"/Storage/0/Drives/0"]["Status"] = document{"Health": "Critical", "State": "Enabled"}
	web := recordedtest.Serve(t, docs, recorded.Config{})
	c := newConductorWith(t, func(s *plan.Settings) { s.SyncPowerInterval = time.Second })
	c.do("POST", "", `{"driver":"redfish","name":"n1","driver_info":{"redfish_address":"`+web.URL+`"}}`)
	if status, text := c.get("/ferrite/v1/nodes/n1/sensors"); status != 404 ||
		!strings.Contains(text, "--sensor-interval") {
		t.Errorf("before: %d %s", status, text)
	}
	c.do("PUT", "/n1/states/provision", `{"target":"manage"}`)
	const want = `{"group":"Drive","name":"Bay 0","id":"0","reading":null,"state":"Enabled","health":"Critical"}`
	status, text := 0, ""
	for end := time.Now().Add(time.Minute); status != 200 && time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		status, text = c.get("/ferrite/v1/nodes/n1/sensors")
	}
	if !strings.Contains(text, want) {
		t.Errorf("%d %s, want %s", status, text, want)
	}
	if status, text := c.get("/ferrite/v1/nodes/n1/sensors?format=ironic"); status != 200 ||
		!strings.Contains(text, `"Drive":{"Bay 0@System":{"health":"Critical"`) {
		t.Errorf("as Ironic's: %d %s", status, text)
	}
	if status, text := c.get("/ferrite/v1/nodes/n1/sensors?format=xml"); status != 400 ||
		!strings.Contains(text, "expected ironic") {
		t.Errorf("another format: %d %s", status, text)
	}
	found := func() bool {
		history, err := c.engine.History(t.Context(), "n1")
		if err != nil {
			t.Fatal(err)
		}
		for _, h := range history {
			if strings.Contains(h.Event, "the health of Drive Bay 0 is critical") {
				return true
			}
		}
		return false
	}
	for end := time.Now().Add(time.Minute); !found(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("the history does not name the drive")
		}
	}
}
