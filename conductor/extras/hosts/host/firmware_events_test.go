package host

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ferrite-metal/ferrite/conductor/extras/hosts/firmware"
	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/proto/hostapi"
)

// An invalid wish for firmware is reported once, and again when it changes.
func TestFirmwareEvents(t *testing.T) {
	wanted := func(edits ...edit) firmware.Documents {
		return newFacts(hostapi.StateAvailable, node.Manageable, append([]edit{reportsSmall}, edits...)...).Firmware
	}
	turbo, sonic := wanted(settingsWanted("Speed=Turbo")), wanted(settingsWanted("Speed=Sonic"))
	nobody := wanted(updatesWanted(nil, "cpu=http://images/cpu"))
	const speed = "HostFirmwareSettings Warning ValidationFailed: spec.settings[Speed]: "
	for name, tc := range map[string]struct {
		was, is firmware.Documents
		want    []string
	}{
		"nothing": {firmware.Documents{}, firmware.Documents{}, nil},
		"fine":    {firmware.Documents{}, wanted(settingsWanted("Speed=Fast")), nil},
		"wrong": {
			wanted(settingsWanted("Speed=Fast")), turbo, []string{speed + `"Turbo": expected one of Slow, Fast`},
		},
		"wrong still":   {turbo, turbo, nil},
		"another wrong": {turbo, sonic, []string{speed + `"Sonic": expected one of Slow, Fast`}},
		"mended":        {turbo, wanted(settingsWanted("Speed=Fast")), nil},
		"no such part": {
			firmware.Documents{}, nobody,
			[]string{
				"HostFirmwareComponents Warning ValidationFailed: spec.updates[0].component: \"cpu\": expected bios, bmc, or " +
					"nic: with a card's id",
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			var got []string
			for _, e := range firmware.Events(tc.was, tc.is) {
				kind := "HostFirmwareComponents"
				if _, ok := e.Of.(*hostapi.HostFirmwareSettings); ok {
					kind = "HostFirmwareSettings"
				}
				got = append(got, kind+" "+e.Event.Type+" "+e.Event.Reason+": "+e.Event.Message)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}
