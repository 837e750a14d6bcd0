package ipmi

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/bougou/go-ipmi/pkg/types"

	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// sensorCommand is the reading of all sensors: the repository of their descriptions (SDR), and a few commands for each.
var sensorCommand = types.Command{Name: "Read Sensors"}

// sensorPatience is by how much the reading of all sensors may take longer than one command: large machines have some
// 150.
const sensorPatience = 120

// Sensors reads the sensors that the BMC describes (IPMI 2.0, 33 and 35).
func (d *Driver) Sensors(ctx context.Context, n node.Node) (out node.SensorReport, err error) {
	err = d.call(ctx, n, "read the sensors", func(ctx context.Context, s *session) error {
		patient := *s
		patient.timeout *= sensorPatience
		patient.tries = 1
		out, err = ask(ctx, &patient, sensorCommand, patient.sensors)
		if slices.Contains(absent, code(err)) {
			return nil
		}
		return err
	})
	if err != nil {
		return node.SensorReport{}, err
	}
	out.Source = "SDR"
	return out, nil
}

// absent are the answers of a BMC that describes no sensors.
var absent = []types.CompletionCode{types.CodeRequestedDataNotPresent, types.CodeInvalidCommand}

func (s *session) sensors(ctx context.Context) (out node.SensorReport, err error) {
	names := map[string]bool{}
	for r := range s.client.GetSensorsStream(ctx) {
		switch {
		case r.Err != nil && len(out.Sensors) == 0:
			return out, r.Err
		case r.Err != nil:
			out.Incomplete = append(out.Incomplete, nodeapi.Printable(r.Err.Error()))
			return out, nil
		case len(out.Sensors) >= node.MaxSensors:
			return out, nil
		}
		found, is := sensorOf(r.Ok)
		if !is {
			continue
		}
		for base, i := found.Name, 2; names[found.Group+found.Name]; i++ {
			found.Name = fmt.Sprintf("%s-%d", base, i)
		}
		names[found.Group+found.Name] = true
		out.Sensors = append(out.Sensors, found)
	}
	return out, errors.Join(ctx.Err())
}

// groups are the groups of IPMI's types of sensors (42.2).
var groups = map[types.SensorType]string{
	types.SensorTypeTemperature: node.TemperatureSensor, types.SensorTypeFan: node.FanSensor,
	types.SensorTypeVoltage: node.VoltageSensor, types.SensorTypePowerSupply: node.PowerSensor,
	types.SensorTypeCurrent: node.PowerSensor, types.SensorTypeProcessor: node.ProcessorSensor,
	types.SensorTypeMemory: node.MemorySensor, types.SensorTypeDriveSlot: node.DriveSensor,
}

// units are Redfish's words for IPMI's units (43.17).
var units = map[types.SensorUnitType]string{types.SensorUnitType_DegreesC: "Cel", types.SensorUnitType_RPM: "RPM",
	types.SensorUnitType_Volts: "V", types.SensorUnitType_Amps: "A", types.SensorUnitType_Watts: "W"}

// healths are Redfish's words for the state of a threshold.
var healths = map[types.SensorThresholdStatus]string{types.SensorThresholdStatus_OK: "OK",
	types.SensorThresholdStatus_LNC: "Warning", types.SensorThresholdStatus_UNC: "Warning",
	types.SensorThresholdStatus_LCR: "Critical", types.SensorThresholdStatus_UCR: "Critical",
	types.SensorThresholdStatus_LNR: "Critical", types.SensorThresholdStatus_UNR: "Critical"}

// sensorOf is a sensor with a reading against thresholds. The bits of a discrete one mean another thing for each type:
// it says nothing that could be compared.
func sensorOf(s *types.Sensor) (node.Sensor, bool) {
	if s == nil || s.NotPresent || s.ScanningDisabled || !s.IsThreshold() || !s.IsReadingValid() {
		return node.Sensor{}, false
	}
	out := node.Sensor{Group: groups[s.SensorType], Name: nodeapi.Printable(strings.TrimSpace(s.Name)),
		ID: fmt.Sprintf("0x%x", s.Number), State: "Enabled",
		Unit: units[s.SensorUnit.BaseUnit], Health: healths[s.Threshold.ThresholdStatus]}
	if out.Group == "" {
		out.Group = node.OtherSensor
	}
	if out.Name == "" {
		out.Name = "sensor " + out.ID
	}
	if s.SensorUnit.Percentage && out.Unit == "" {
		out.Unit = "%"
	}
	if v := s.Value; v-v == 0 {
		out.Reading = &v
	}
	if s.IsThresholdReadable(types.SensorThresholdType_UCR) {
		if v := s.ConvertReading(s.SensorThreshold(types.SensorThresholdType_UCR).Raw); v-v == 0 {
			out.Critical = &v
		}
	}
	return out, true
}
