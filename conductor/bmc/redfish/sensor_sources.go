package redfish

import (
	"cmp"
	"math"
	"path"
	"strconv"
	"strings"

	"github.com/ferrite-metal/ferrite/conductor/node"
)

// reading is an entry of Thermal or Power. Temperatures, fans and voltages call their value by another name each.
type reading struct {
	MemberID                             string `json:"MemberId"`
	Name, FanName                        string
	ReadingCelsius, Reading              *float64
	ReadingVolts                         *float64
	PowerConsumedWatts, PowerOutputWatts *float64
	PowerInputWatts                      *float64
	LastPowerOutput                      *float64 `json:"LastPowerOutputWatts"`
	UpperThresholdCritical               *float64
	ReadingUnits, PhysicalContext        string
	Status                               resourceStatus
}

// thermalAndPower reads the older resources (DSP0268: deprecated; most BMCs still have only these).
func (r *sensors) thermalAndPower(chassis []string) error {
	for _, at := range chassis {
		var c struct{ Thermal, Power reference }
		if _, err := r.get(at, &c); err != nil {
			r.missed("chassis", err)
			continue
		}
		of := label(path.Base(at))
		if c.Thermal.Path != "" {
			var t struct{ Temperatures, Fans []reading }
			if _, err := r.get(c.Thermal.Path, &t); err != nil {
				r.missed("temperatures and fans", err)
			}
			for _, x := range t.Temperatures {
				r.add(x.sensor(node.TemperatureSensor, of, x.ReadingCelsius, "Cel"))
			}
			for _, x := range t.Fans {
				r.add(x.sensor(node.FanSensor, of, x.Reading, cmp.Or(fanUnit(x.ReadingUnits), "RPM")))
			}
		}
		if c.Power.Path != "" {
			r.power(c.Power.Path, of)
		}
	}
	return nil
}

func (r *sensors) power(at, of string) {
	var p struct{ PowerControl, PowerSupplies, Voltages []reading }
	if _, err := r.get(at, &p); err != nil {
		r.missed("power", err)
	}
	for _, x := range p.PowerControl {
		x.Name = cmp.Or(x.Name, "Power")
		r.add(x.sensor(node.PowerSensor, of, x.PowerConsumedWatts, "W"))
	}
	for _, x := range p.PowerSupplies {
		watts := x.PowerOutputWatts
		for _, other := range []*float64{x.LastPowerOutput, x.PowerInputWatts} {
			if watts == nil {
				watts = other
			}
		}
		r.add(x.sensor(node.PowerSensor, of, watts, "W"))
	}
	for _, x := range p.Voltages {
		r.add(x.sensor(node.VoltageSensor, of, x.ReadingVolts, "V"))
	}
}

// fanUnit is RPM, or % for a fan that is measured in parts of its most, as HPE's.
func fanUnit(t string) string {
	if t == "Percent" {
		return "%"
	}
	return tidy(t)
}

func (x reading) sensor(group, of string, value *float64, unit string) node.Sensor {
	return node.Sensor{Group: group, Name: tidy(cmp.Or(x.Name, x.FanName)), ID: tidy(x.MemberID), Of: of,
		Context: tidy(x.PhysicalContext), Reading: value, Unit: unit, Critical: x.UpperThresholdCritical,
		State: label(x.Status.State), Health: knownHealth(x.Status.Health)}
}

// sensorDoc is Sensor (since 2019).
type sensorDoc struct {
	Path            string `json:"@odata.id"`
	ID              string `json:"Id"`
	Name            string
	Reading         *float64
	ReadingType     string
	ReadingUnits    string
	PhysicalContext string
	Status          resourceStatus
	Thresholds      struct{ UpperCritical struct{ Reading *float64 } }
}

// groups are the groups of Sensor's ReadingType and, for metric reports, of units.
var groups = map[string]string{"Temperature": node.TemperatureSensor, "Rotational": node.FanSensor,
	"Power":   node.PowerSensor,
	"Voltage": node.VoltageSensor}

func groupOf(kind string) string { return cmp.Or(groups[kind], node.OtherSensor) }

// sensorCollections reads the Sensors of each chassis: whole, where the BMC expands the list, else one by one.
func (r *sensors) sensorCollections(chassis []string) error {
	for _, at := range chassis {
		var c struct{ Sensors reference }
		if _, err := r.get(at, &c); err != nil || c.Sensors.Path == "" {
			continue
		}
		of := label(path.Base(at))
		take := func(_ string, s sensorDoc) {
			r.add(node.Sensor{Group: groupOf(s.ReadingType), Name: tidy(s.Name), ID: tidy(s.ID), Of: of,
				Context: tidy(s.PhysicalContext), Reading: s.Reading, Unit: tidy(s.ReadingUnits),
				Critical: s.Thresholds.UpperCritical.Reading, State: label(s.Status.State),
				Health: knownHealth(s.Status.Health)})
		}
		if all := r.expanded(c.Sensors.Path); len(all) > 0 {
			for _, s := range all {
				take("", s)
			}
			continue
		}
		members, err := r.members(c.Sensors.Path)
		if err != nil {
			r.missed("sensors", err)
			continue
		}
		if err := each(r.parts, "sensors", members, take); err != nil {
			return err
		}
	}
	return nil
}

// expanded is the members of a list, where the BMC sends them with it (DSP0266, 7.3.2). Some BMCs claim that and send
// links, and some refuse the request: then there are none.
func (r *sensors) expanded(list string) []sensorDoc {
	var c struct {
		Members []sensorDoc
		Next    string `json:"Members@odata.nextLink"`
	}
	if _, err := r.get(list+"?$expand=.($levels=1)", &c); err != nil || c.Next != "" {
		return nil
	}
	for _, s := range c.Members {
		if s.ID == "" {
			return nil
		}
	}
	return c.Members
}

// metricReports reads the reports that hold sensors' readings: one request for hundreds (NVIDIA's, Dell's).
func (r *sensors) metricReports([]string) error {
	var root struct{ TelemetryService reference }
	var service struct{ MetricReports reference }
	if _, err := r.get(defaultRoot, &root); err != nil || root.TelemetryService.Path == "" {
		return err
	}
	if _, err := r.get(root.TelemetryService.Path, &service); err != nil {
		return err
	}
	reports, err := r.members(service.MetricReports.Path)
	if err != nil {
		return err
	}
	return each(r.parts, "metric reports", reports, func(_ string, report struct {
		MetricValues []struct {
			MetricProperty string
			MetricValue    string
		}
	}) {
		for _, v := range report.MetricValues[:min(len(report.MetricValues), 4*node.MaxSensors)] {
			if s, is := metric(v.MetricProperty, v.MetricValue); is {
				r.add(s)
			}
		}
	})
}

// metric is the sensor that a metric is of, by the property it names: /redfish/v1/Chassis/C/Sensors/S#/Reading. Its
// group shows in its name alone.
func metric(property, said string) (node.Sensor, bool) {
	value, err := strconv.ParseFloat(said, 64) // DSP0268 has a text here
	before, name, is := strings.Cut(property, "/Sensors/")
	name, _, _ = strings.Cut(strings.TrimSuffix(name, "/Reading"), "#")
	if !is || name == "" || err != nil || math.IsInf(value, 0) || math.IsNaN(value) {
		return node.Sensor{}, false
	}
	group, unit := node.OtherSensor, ""
	for _, known := range []struct{ word, group, unit string }{
		{"Temp", node.TemperatureSensor, "Cel"}, {"Fan", node.FanSensor, "RPM"}, {"FAN", node.FanSensor, "RPM"},
		{"Volt", node.VoltageSensor, "V"}, {"Power", node.PowerSensor, "W"},
	} {
		if strings.Contains(name, known.word) {
			group, unit = known.group, known.unit
			break
		}
	}
	return node.Sensor{Group: group, Name: label(name), ID: label(name), Of: label(path.Base(before)),
		Reading: &value, Unit: unit}, true
}
