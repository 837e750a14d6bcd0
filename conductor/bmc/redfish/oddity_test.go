package redfish_test

import (
	"fmt"
	"net/http"
	"slices"
	"testing"

	"github.com/ferrite-metal/ferrite/conductor/bmc/redfish"
	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/conductor/outbound/exchange"
)

// TestOdd: an odd property is reported once, and with each exchange, without its value.
func TestOdd(t *testing.T) {
	b := newBoard(t)
	b.extra = map[string]any{"SerialNumber": 4711, "AssetTag": 12,
		"MemorySummary": map[string]any{"TotalSystemMemoryGiB": "64"}}
	var told []string
	d := newDriver(t, redfish.Options{Odd: func(o redfish.Oddity) { told = append(told, o.String()) }})
	notes := map[string]int{}
	ctx := exchange.Watch(t.Context(), func(e exchange.Exchange) { notes[e.Path+": "+e.Note]++ })
	for range 2 {
		if v, err := d.Vitals(ctx, b.node()); err != nil || v.Power != node.PowerOff {
			t.Fatalf("%v, %+v", err, v)
		}
	}
	sys, err := d.System(ctx, b.node())
	if err != nil || sys.MemoryMB != 65536 || sys.Serial != "4711" {
		t.Errorf("%v, %+v", err, sys)
	}
	want := []string{"/redfish/v1/Systems/1 AssetTag is a number, read as text",
		"/redfish/v1/Systems/1 MemorySummary.TotalSystemMemoryGiB is text, read as a number",
		"/redfish/v1/Systems/1 SerialNumber is a number, read as text"}
	if !slices.Equal(told, want) {
		t.Errorf("told of %q", told)
	}
	if note := fmt.Sprintf("/redfish/v1/Systems/1: %s; %s; %s", want[0], want[1], want[2]); notes[note] != 3 {
		t.Errorf("the exchanges say %v", notes)
	}
}

// TestOddNumberAsTag: an ETag that is a number in the document is sent as text (iDRAC9: stmcginnis/gofish#545).
func TestOddNumberAsTag(t *testing.T) {
	b := newBoard(t)
	b.extra = map[string]any{"@odata.etag": 1}
	if err := newDriver(t, redfish.Options{}).SetBootDevice(t.Context(), b.node(), "pxe", false); err != nil {
		t.Error(err)
	}
}

// TestSystemFoundAgain: a system that was found is found again when it is gone; a system that driver_info names is not.
func TestSystemFoundAgain(t *testing.T) {
	b := newBoard(t)
	id := "1"
	b.hook = func(w http.ResponseWriter, r *http.Request, _ int) bool {
		switch r.URL.Path {
		case "/redfish/v1/Systems":
			reply(w, 200, map[string]any{"Members": []any{link("/redfish/v1/Systems/" + id)}})
		case "/redfish/v1/Systems/1", "/redfish/v1/Systems/2":
			if r.URL.Path != "/redfish/v1/Systems/"+id {
				refuse(w, 404, "ResourceMissingAtURI", "gone")
				return true
			}
			reply(w, 200, map[string]any{"PowerState": "On"})
		default:
			return false
		}
		return true
	}
	d := newDriver(t, redfish.Options{})
	for _, id = range []string{"1", "2", "1"} {
		if _, err := d.PowerState(t.Context(), b.node()); err != nil {
			t.Errorf("system %s: %v", id, err)
		}
	}
	_, err := d.PowerState(t.Context(), b.node("redfish_system_id", "/redfish/v1/Systems/2"))
	checkQuoted(t, err, "driver_info: redfish_system_id is /redfish/v1/Systems/2, which the BMC does not have")
}
