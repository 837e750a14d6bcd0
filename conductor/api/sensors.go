package api

import (
	"net/http"
	"time"

	"github.com/ferrite-metal/ferrite/conductor/api/rest"
	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// sensorResource shows the sensor readings of BMCs.
type sensorResource struct{ access }

// routes serves readings that Ironic sends only by notifications.
func (h *sensorResource) routes() []rest.Route {
	return []rest.Route{
		{Method: http.MethodGet, Path: nodeapi.FerriteRoot + "/nodes/:node/sensors",
			Doc: "the last reading of a machine's sensors; format=ironic: as Ironic's notification " +
				"hardware.redfish.metrics has them", Handle: h.show,
			Wire: rest.Wire{Status: http.StatusOK, Query: rest.ArgumentsNamed([]string{"format"}),
				Gives: rest.FormOf(nodeapi.Sensors{})}},
	}
}

func (h *sensorResource) show(c *rest.Call) error {
	args, err := c.Args(nodeapi.BodyLimit, "format")
	if err != nil {
		return err
	}
	format, _ := args["format"].(string)
	if format != "" && format != "ironic" {
		return rest.BadRequest("format is %.40q: expected ironic, or none", format)
	}
	n, err := h.node(c)
	if err != nil {
		return err
	}
	report, has := h.conductor.SensorReport(n.UUID)
	if !has {
		return nodeapi.NewFault(http.StatusNotFound,
			"The sensors of node %s have not been read since the conductor started: "+
				"they are in a turn for its power, while it rests outside enroll and is not in maintenance; see --sensor-interval",
			n.UUID)
	}
	if format == "ironic" {
		return c.Marshal(http.StatusOK, ironicSensors(report))
	}
	w := nodeapi.Sensors{Node: n.UUID, At: report.At.UTC().Format(time.RFC3339), Source: report.Source,
		Sensors: make([]nodeapi.Sensor, len(report.Sensors)), Incomplete: report.Incomplete}
	for i, s := range report.Sensors {
		w.Sensors[i] = nodeapi.Sensor{Group: s.Group, Name: s.Name, ID: s.ID, Of: s.Of, Context: s.Context,
			Reading: s.Reading,
			Unit:    s.Unit, UpperCritical: s.Critical, State: s.State, Health: s.Health}
	}
	return c.Marshal(http.StatusOK, w)
}

// ironicReading is the name that Ironic has for the value of a group (ironic redfish/management.py, get_sensors_data).
var ironicReading = map[string]string{node.TemperatureSensor: "reading_celsius", node.FanSensor: "reading",
	node.PowerSensor: "last_power_output_watts", node.VoltageSensor: "reading_volts"}

// ironicSensors is a report in the form of Ironic's get_sensors_data: by group, then by the sensor's name and
// component.
func ironicSensors(r node.SensorReport) map[string]map[string]map[string]any {
	out := map[string]map[string]map[string]any{}
	for _, s := range r.Sensors {
		of := s.Of
		if of == "" {
			of = "System"
		}
		one := map[string]any{"identity": s.ID, "name": s.Name, "physical_context": nullable(s.Context),
			"state": nullable(s.State), "health": nullable(s.Health)}
		if reading := ironicReading[s.Group]; reading != "" {
			one[reading] = s.Reading
		}
		if s.Group == node.FanSensor {
			one["reading_units"] = nullable(s.Unit)
		}
		if out[s.Group] == nil {
			out[s.Group] = map[string]map[string]any{}
		}
		out[s.Group][s.Name+"@"+of] = one
	}
	return out
}

func nullable(text string) any {
	if text == "" {
		return nil
	}
	return text
}
