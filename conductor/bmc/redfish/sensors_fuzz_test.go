package redfish

import (
	"encoding/json"
	"math"
	"reflect"
	"testing"

	"github.com/ferrite-metal/ferrite/conductor/node"
)

// FuzzSensors: from any Thermal, Power, Sensor or metric report of a BMC, a sensor has a clean, unique name and a
// finite reading.
func FuzzSensors(f *testing.F) {
	f.Add([]byte(`{"Name":"a","ReadingCelsius":"1e999","Reading":5,"Status":{"Health":"Bad"},"ReadingType":7}`),
		"/c/Sensors/x", 3)
	f.Add([]byte(`{"FanName":"\u0000","Reading":"NaN","ReadingUnits":["x"],"Thresholds":{}}`), "/Sensors/", 1)
	f.Fuzz(func(t *testing.T, b []byte, property string, times int) {
		r := &sensors{parts: &parts{}, seen: map[string]bool{}}
		for range min(max(times, 1), 3) {
			var x reading
			var s sensorDoc
			mended, _, _ := mend(t.Context(), "", b, reflect.TypeOf(x), reflect.TypeOf(s))
			if json.Unmarshal(mended, &x) == nil {
				r.add(x.sensor(node.FanSensor, "1", x.Reading, fanUnit(x.ReadingUnits)))
				r.add(x.sensor(node.TemperatureSensor, "1", x.ReadingCelsius, "Cel"))
			}
			if json.Unmarshal(mended, &s) == nil {
				r.add(node.Sensor{Group: groupOf(s.ReadingType), Name: tidy(s.Name), Reading: s.Reading})
			}
			if s, is := metric(property, string(b)); is {
				r.add(s)
			}
		}
		seen := map[string]bool{}
		for _, s := range r.report.Sensors {
			checkPart(t, s.Name+s.Unit+s.Of+s.Context, 0)
			if key := s.Group + "/" + s.Name; s.Name == "" || seen[key] {
				t.Errorf("the name %q is empty or taken", s.Name)
			} else {
				seen[key] = true
			}
			if s.Reading != nil && (math.IsInf(*s.Reading, 0) || math.IsNaN(*s.Reading)) {
				t.Errorf("%s reads %v", s.Name, *s.Reading)
			}
		}
	})
}
