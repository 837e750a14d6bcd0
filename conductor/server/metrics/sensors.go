package metrics

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/ferrite-metal/ferrite/conductor/node"
)

// Sensors has the last readings of machines.
type Sensors interface {
	// EachSensorReport calls visit with the readings there are, until it returns false.
	EachSensorReport(visit func(s node.Sensed) bool)
	// SensorReports is how many there are.
	SensorReports() int
}

// sensors shows readings under the names of ironic-prometheus-exporter (parsers/redfish.py), for the dashboards that
// there are for it. As there, instance_uuid is the node's UUID where the node has no instance.
type sensors struct {
	source Sensors
	most   int // series in one scrape
}

// contexts are the places that temperatures are counted under (Redfish's PhysicalContext); another is "other".
var contexts = map[string]bool{"room": true, "intake": true, "exhaust": true, "front": true, "back": true,
	"upper": true,
	"lower": true, "cpu": true, "gpu": true, "backplane": true, "systemboard": true, "powersupply": true,
	"voltageregulator": true, "storagedevice": true, "networkingdevice": true, "computebay": true, "storagebay": true,
	"networkbay": true, "expansionbay": true, "powersupplybay": true, "memory": true, "chassis": true, "fan": true}

var (
	sensorLabels = []string{"node_name", "node_uuid", "instance_uuid", "entity_id", "sensor_id"}
	fanDesc      = prometheus.NewDesc("baremetal_fan_status", "Health of a fan: 0 is OK, 1 is not.", sensorLabels, nil)
	driveDesc    = prometheus.NewDesc("baremetal_drive_status", "Health of a drive: 0 is OK, 1 is not.", sensorLabels, nil)
	supplyDesc   = prometheus.NewDesc("baremetal_power_status", "Health of a power supply: 0 is OK, 1 is not.",
		sensorLabels, nil)
	payloadDesc = prometheus.NewDesc("baremetal_last_payload_timestamp_seconds",
		"When the sensors of a machine were last read.", sensorLabels[:3], nil)
	leftOutDesc = prometheus.NewDesc("ferrite_sensors_left_out_nodes",
		"Nodes whose sensors are not in this answer: see --metrics-sensor-series.", nil, nil)
	temperatures = temperatureDescs()
)

func temperatureDescs() map[string]*prometheus.Desc {
	all := map[string]*prometheus.Desc{}
	for _, context := range append(slices.Collect(maps.Keys(contexts)), "other") {
		all[context] = prometheus.NewDesc("baremetal_temp_"+context+"_celsius", "Temperature in Celsius, of the "+context+".",
			sensorLabels, nil)
	}
	return all
}

// Describe names no metric: which there are depends on the machines.
func (s *sensors) Describe(chan<- *prometheus.Desc) {}

// Collect shows the readings, up to the most there may be.
func (s *sensors) Collect(out chan<- prometheus.Metric) {
	var all []prometheus.Metric
	shown := 0
	s.source.EachSensorReport(func(one node.Sensed) bool {
		series := seriesOf(one)
		if len(all)+len(series) > s.most {
			return false
		}
		all, shown = append(all, series...), shown+1
		return true
	})
	for _, m := range all {
		out <- m
	}
	out <- prometheus.MustNewConstMetric(leftOutDesc, prometheus.GaugeValue, float64(max(0,
		s.source.SensorReports()-shown)))
}

// seriesOf are the series of one machine. Two sensors that a BMC gives the same name are one: the first.
func seriesOf(one node.Sensed) []prometheus.Metric {
	machine := []string{clean(one.Name), one.Node, cmp.Or(one.Instance, one.Node)}
	all := []prometheus.Metric{prometheus.MustNewConstMetric(payloadDesc, prometheus.GaugeValue,
		float64(one.Report.At.Unix()), machine...)}
	type identity struct {
		desc *prometheus.Desc
		e, s string
	}
	seen := map[identity]bool{}
	for _, sensor := range one.Report.Sensors {
		desc, entity, value, ok := shape(sensor)
		id := identity{desc, clean(entity), clean(sensorID(sensor))}
		if !ok || seen[id] {
			continue
		}
		seen[id] = true
		all = append(all, prometheus.MustNewConstMetric(desc, prometheus.GaugeValue, value,
			machine[0], machine[1], machine[2], id.e, id.s))
	}
	return all
}

// shape is the metric of a sensor, its label entity_id, and its value; false where the exporter has none.
func shape(s node.Sensor) (desc *prometheus.Desc, entity string, value float64, ok bool) {
	switch s.Group {
	case node.TemperatureSensor:
		if s.Reading == nil {
			return nil, "", 0, false
		}
		context := strings.ToLower(s.Context)
		if !contexts[context] {
			context = "other"
		}
		return temperatures[context], s.Context, *s.Reading, true
	case node.FanSensor:
		desc, entity = fanDesc, s.Context
	case node.PowerSensor:
		desc, entity = supplyDesc, "PSU"
	case node.DriveSensor:
		desc, entity = driveDesc, "HDD"
	default:
		return nil, "", 0, false
	}
	if s.Health == "" {
		return nil, "", 0, false // nothing is known of it, which is not a failure
	}
	if s.Health != "OK" {
		value = 1
	}
	return desc, entity, value, true
}

// sensorID is unique among the sensors of one machine.
func sensorID(s node.Sensor) string {
	if s.ID != "" && s.Group == node.TemperatureSensor {
		return s.ID
	}
	return s.Name + "@" + cmp.Or(s.Of, "System")
}
