package ipmi_test

import (
	"fmt"
	"strings"
	"testing"

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

// TestSensors reads what a BMC describes, in the words of Redfish.
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
