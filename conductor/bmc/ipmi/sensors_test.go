package ipmi_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/bougou/go-ipmi/pkg/types"
	"github.com/google/go-cmp/cmp"

	"github.com/ferrite-metal/ferrite/conductor/bmc/ipmi"
	"github.com/ferrite-metal/ferrite/conductor/node"
)

// simSensor is the lines of the simulator for a sensor: its description (a full sensor record, IPMI 2.0, 43.1), its
// value and its upper thresholds, which are 80, 90 and 100.
func simSensor(number, kind, unit int, name string, value int) string {
	record := fmt.Sprintf("%d 0 0x51 0x01 %d 0x20 0 %d 3 1 0x7f 0x47 %d 1 0 0 0 0 0x38 0 0 %d 0 0 1 0 0 0 0 0 0 0 "+
		"0 0 0xff 0 "+
		"100 90 80 0 0 0 0 0 0 0 0 %d", number, 43+len(name), number, kind, unit, 0xc0|len(name))
	for _, c := range []byte(name) {
		record += fmt.Sprintf(" %d", c)
	}
	return fmt.Sprintf("main_sdr_add 0x20 %s\nsensor_add 0x20 0 %d %d 1\nsensor_set_threshold 0x20 0 %d readable 111000 "+
		"100 90 80 0 0 0\nsensor_set_value 0x20 0 %d %d 0\n", record, number, kind, number, number, value)
}

// TestSensors reads the sensors that a BMC describes, in the words of Redfish.
func TestSensors(t *testing.T) {
	s := startSim(t, &sim{extra: simSensor(1, 1, 1, "CPU Temp", 45) + simSensor(2, 1, 1, "CPU Temp", 92) +
		simSensor(3, 4, 18, "FAN1", 70) + simSensor(4, 2, 4, "12V", 85)})
	d := newDriver(t, ipmi.Options{})
	r, err := d.Sensors(t.Context(), s.node())
	if err != nil {
		t.Fatal(err)
	}
	value := func(v float64) *float64 { return &v }
	want := []node.Sensor{
		{Group: "Temperature", Name: "CPU Temp", ID: "0x1", Reading: value(45), Unit: "Cel", Critical: value(90),
			Health: "OK",
			State:  "Enabled"},
		{Group: "Temperature", Name: "CPU Temp-2", ID: "0x2", Reading: value(92), Unit: "Cel", Critical: value(90),
			Health: "Critical", State: "Enabled"},
		{Group: "Fan", Name: "FAN1", ID: "0x3", Reading: value(70), Unit: "RPM", Critical: value(90), Health: "OK",
			State: "Enabled"},
		{Group: "Voltage", Name: "12V", ID: "0x4", Reading: value(85), Unit: "V", Critical: value(90), Health: "Warning",
			State: "Enabled"},
	}
	if diff := cmp.Diff(want, r.Sensors); diff != "" || r.Source != "SDR" {
		t.Errorf("%s, %v (-want +got):\n%s", r.Source, r.Incomplete, diff)
	}
}

// TestNoSensors: a BMC that describes none is no error.
func TestNoSensors(t *testing.T) {
	r, err := newDriver(t, ipmi.Options{}).Sensors(t.Context(), newSim(t).node())
	if err != nil || len(r.Sensors) > 0 {
		t.Errorf("%+v, %v", r, err)
	}
}

// TestBadRecord: a description that cannot be read is named, and costs no other.
func TestBadRecord(t *testing.T) {
	s := startSim(t, &sim{extra: simSensor(1, 1, 1, "CPU Temp", 45) + "main_sdr_add 0x20 2 0 0x51 0x01 4 1 2 3 4\n" +
		simSensor(3, 4, 18, "FAN1", 70)})
	r, err := newDriver(t, ipmi.Options{}).Sensors(t.Context(), s.node())
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, sensor := range r.Sensors {
		names = append(names, sensor.Name)
	}
	if diff := cmp.Diff([]string{"CPU Temp", "FAN1"}, names); diff != "" || len(r.Incomplete) != 1 ||
		!strings.HasPrefix(r.Incomplete[0], "record 0x0002: ") {
		t.Errorf("%v (-want +got):\n%s", r.Incomplete, diff)
	}
}

// TestSensorsSetAside: a sensor without a reading costs no other. Some BMCs say so by the flags of the answer
// (facebook/OpenBIC#296), some by a completion code (facebook/OpenBIC#90); names and types need not be unique or known
// (ateodorescu/home-assistant-ipmi#27, prometheus-community/ipmi_exporter#31).
func TestSensorsSetAside(t *testing.T) {
	records := [][]byte{record(1, 1, 1, "unavailable"), record(2, 1, 1, "not scanned"), record(3, 1, 1, "DIMM B"),
		record(4, 3, 1, "Current"), record(5, 3, 1, "Current"), record(6, 0xc0, 0x70, "CPU1 Temp"),
		record(7, 0xc0, 1, "OEM")}
	b := newBoard(t)
	hook := func(c types.Command, req []byte) ([]byte, types.CompletionCode, bool) {
		switch c.Name {
		case types.CommandGetSDR.Name:
			id := max(int(req[2]), 1)
			next := []byte{byte(id + 1), 0}
			if id == len(records) {
				next = []byte{0xff, 0xff}
			}
			r := records[id-1][req[4]:]
			return append(next, r[:min(len(r), int(req[5]))]...), types.CodeOK, true
		case types.CommandGetSensorReading.Name:
			switch req[0] {
			case 1:
				return []byte{0, 0xe0, 0xc0}, types.CodeOK, true
			case 2:
				return []byte{77, 0x80, 0xc0}, types.CodeOK, true
			case 3:
				return nil, types.CodeNodeBusy, true
			}
			return []byte{40 + req[0], 0xc0, 0xc0}, types.CodeOK, true
		}
		return nil, 0, false
	}
	b.set(func() { b.hook = hook })
	r, err := newDriver(t, ipmi.Options{}).Sensors(t.Context(), b.node())
	var names []string
	for _, s := range r.Sensors {
		names = append(names, s.Group+" "+s.Name)
	}
	if err != nil || !slices.Equal(names, []string{"Power Current", "Power Current-2", "Other OEM"}) ||
		len(r.Incomplete) != 1 || !strings.Contains(r.Incomplete[0], "DIMM B") {
		t.Errorf("%v, %q, %q", err, names, r.Incomplete)
	}
}

// record is a full sensor record (IPMI 2.0, 43.1) of a number, a type and a type of readings.
func record(number, kind, reading byte, name string) []byte {
	r := append([]byte{number, 0, 0x51, 1, 0, 0x20, 0, number, 3, 1, 0x7f, 0x47, kind, reading}, make([]byte, 34)...)
	r[24], r[47] = 1, 0xc0|byte(len(name)) // M is 1, the name is in Latin-1
	r = append(r, name...)
	r[4] = byte(len(r) - 5)
	return r
}
