package redfish_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/ferrite-metal/ferrite/conductor/bmc/redfish"
	"github.com/ferrite-metal/ferrite/conductor/node"
	lab "github.com/ferrite-metal/ferrite/lab/redfish"
)

// TestDeviationsOfKeeping drives the lab's controller without a boot mode, and the controller that keeps only a target.
func TestDeviationsOfKeeping(t *testing.T) {
	d := newDriver(t, redfish.Options{Pause: time.Millisecond})
	b := newDeviant(t, lab.Personality{Name: "x10", Manufacturer: "Supermicro",
		Deviations: []lab.Deviation{lab.ModeMissing}})
	var lacks *node.Refusal
	if err := d.SetBootMode(t.Context(), b.node(), "uefi"); !errors.As(err, &lacks) || lacks.Kind != node.Lacking {
		t.Errorf("a mode that is missing: %v", err)
	}
	if err := d.SetBootDevice(t.Context(), b.node(), "pxe", false); err != nil {
		t.Errorf("without a mode: %v", err)
	}
	b = newDeviant(t, lab.Personality{Name: "kept", Deviations: []lab.Deviation{lab.TargetAloneKept}})
	if err := d.SetBootDevice(t.Context(), b.node(), "pxe", false); err == nil ||
		!strings.Contains(err.Error(), "does not keep it") {
		t.Errorf("the target alone is kept: %v", err)
	}
}

// TestAcceptedNotDone: an answer of 200 is not trusted where the requested state can be read.
func TestAcceptedNotDone(t *testing.T) {
	const drive = "/redfish/v1/Systems/1/VirtualMedia/1"
	docs := map[string]string{
		"/redfish/v1/Systems/1": `{"UUID": "u", "LocationIndicatorActive": false, "VirtualMedia": ` +
			`{"@odata.id": "/redfish/v1/Systems/1/VirtualMedia"}}`,
		"/redfish/v1/Systems/1/VirtualMedia": `{"Members": [{"@odata.id": "` + drive + `"}]}`,
		drive: `{"MediaTypes": ["CD"], "Inserted": false, "Image": null, "Actions": ` +
			`{"#VirtualMedia.InsertMedia": {"target": "/insert"}}}`,
	}
	b := newBoard(t)
	b.resources(docs, taken)
	d := newDriver(t, redfish.Options{Pause: time.Millisecond})
	n := b.node("redfish_system_id", "/redfish/v1/Systems/1")
	for what, err := range map[string]error{
		"accepted the image, and " + drive + " is empty": d.AttachMedium(t.Context(), n, node.Medium{Device: "cdrom",
			Image: "http://192.0.2.1/a.iso"}),
		`accepts the indicator "on" and does not show it: it shows "off"`: d.SetIndicatorState(t.Context(), n, "system", "u",
			"on"),
	} {
		if err == nil || !strings.Contains(err.Error(), what) {
			t.Errorf("got %v, want %q", err, what)
		}
	}
}
