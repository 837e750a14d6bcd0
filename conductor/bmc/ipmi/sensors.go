package ipmi

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/bougou/go-ipmi/pkg/client"
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

// lastRecord is the id that ends the repository (IPMI 2.0, 33.12).
const lastRecord = 0xffff

// sensors walks the repository itself: go-ipmi's own walk ends at the first record or sensor that cannot be read. A
// record that a BMC cannot show is reported as incomplete, and the walk goes on.
func (s *session) sensors(ctx context.Context) (out node.SensorReport, err error) {
	names, seen := map[string]bool{}, map[uint16]bool{}
	for id := uint16(0); id != lastRecord && !seen[id] && len(out.Sensors) < node.MaxSensors; {
		seen[id] = true
		found, next, err := s.sensor(ctx, id)
		if err != nil {
			if ctx.Err() != nil || !answered(err) && len(out.Sensors) == 0 || len(seen) == 1 && next == 0 {
				return out, err
			}
			out.Incomplete = append(out.Incomplete, nodeapi.Printable(fmt.Sprintf("record %#04x: %v", id, err)))
			if !answered(err) || next == 0 {
				return out, nil
			}
		}
		id = next
		if found == nil {
			continue
		}
		for base, i := found.Name, 2; names[found.Group+found.Name]; i++ {
			found.Name = fmt.Sprintf("%s-%d", base, i)
		}
		names[found.Group+found.Name] = true
		out.Sensors = append(out.Sensors, *found)
	}
	return out, ctx.Err()
}

// answered reports an error of a BMC that does answer: with a completion code, or with a garbled answer.
func answered(err error) bool {
	var garbled *garbledError
	_, refused := types.IsResponseError(err)
	return refused || errors.As(err, &garbled)
}

// sensor reads a record of the repository and the sensor that it describes, nil for none to show; next is the record
// after it, 0 where that is not known.
func (s *session) sensor(ctx context.Context, id uint16) (found *node.Sensor, next uint16, err error) {
	defer func() {
		if p := recover(); p != nil { // go-ipmi's parsers have not been written for hostile answers
			err = &garbledError{sensorCommand.Name, p}
		}
	}()
	record, err := s.client.GetSDRParsed(ctx, id)
	if err != nil {
		_, after, silent := s.client.GetSDRHeader(ctx, id)
		if silent != nil {
			return nil, 0, err
		}
		return nil, after, &garbledError{sensorCommand.Name, err} // the BMC answers, and not with this record
	}
	next = record.NextRecordID
	sensor := described(record)
	if sensor == nil {
		return nil, next, nil
	}
	of := (&client.CommandContext{}).WithResponderAddr(uint8(sensor.GeneratorID.OwnerID())).
		WithResponderLUN(uint8(sensor.GeneratorID.LUN()))
	if err := s.measure(client.WithCommandContext(ctx, of), sensor); err != nil {
		return nil, next, fmt.Errorf("sensor %s: %w", sensor.Name, err)
	}
	if out, is := sensorOf(sensor); is {
		found = &out
	}
	return found, next, nil
}

// described is the sensor of a record; nil for a record of another kind.
func described(r *types.SDR) *types.Sensor {
	switch {
	case r.Full != nil:
		f := r.Full
		out := &types.Sensor{SDRRecordType: types.SDRRecordTypeFullSensor, HasAnalogReading: r.HasAnalogReading(),
			GeneratorID: f.GeneratorID, Number: uint8(f.SensorNumber), Name: string(f.IDStringBytes),
			SensorUnit: f.SensorUnit, SensorType: f.SensorType, EventReadingType: f.SensorEventReadingType}
		out.Threshold.LinearizationFunc, out.Threshold.ReadingFactors = f.LinearizationFunc, f.ReadingFactors
		return out
	case r.Compact != nil:
		c := r.Compact
		return &types.Sensor{SDRRecordType: types.SDRRecordTypeCompactSensor, HasAnalogReading: r.HasAnalogReading(),
			GeneratorID: c.GeneratorID, Number: uint8(c.SensorNumber), Name: string(c.IDStringBytes),
			SensorUnit: c.SensorUnit, SensorType: c.SensorType, EventReadingType: c.SensorEventReadingType}
	}
	return nil
}

// measure reads the value of a sensor against thresholds, and its upper critical threshold where it has one.
func (s *session) measure(ctx context.Context, sensor *types.Sensor) error {
	if !sensor.IsThreshold() {
		return nil
	}
	reading, err := s.client.GetSensorReading(ctx, sensor.Number)
	if refusal, is := types.IsResponseError(err); is && slices.Contains(absent, refusal.CompletionCode()) {
		sensor.NotPresent = true
		return nil
	}
	if err != nil {
		return err
	}
	if sensor.Threshold.LinearizationFunc.IsNonLinear() {
		factors, err := s.client.GetSensorReadingFactors(ctx, sensor.Number, reading.Reading)
		if err != nil {
			return err
		}
		sensor.Threshold.ReadingFactors = factors.ReadingFactors
	}
	sensor.Raw, sensor.Value = reading.Reading, sensor.ConvertReading(reading.Reading)
	sensor.ScanningDisabled, sensor.ReadingAvailable = reading.SensorScanningDisabled, !reading.ReadingUnavailable
	sensor.Threshold.ThresholdStatus = reading.ThresholdStatus()
	if sensor.SDRRecordType != types.SDRRecordTypeFullSensor {
		return nil
	}
	thresholds, err := s.client.GetSensorThresholds(ctx, sensor.Number)
	if err == nil {
		sensor.Threshold.Mask.UCR.Readable, sensor.Threshold.UCR_Raw = thresholds.UCR_Readable, thresholds.UCR_Raw
	} else if _, refused := types.IsResponseError(err); !refused {
		return err
	}
	return nil
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

// sensorOf is a sensor with a reading against thresholds. The bits of a discrete sensor mean another thing for each
// type, so that they cannot be compared.
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
