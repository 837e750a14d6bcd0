package node

import (
	"cmp"
	"slices"
	"time"
)

// The groups of sensors. The first four are Ironic's.
const (
	TemperatureSensor = "Temperature"
	FanSensor         = "Fan"
	PowerSensor       = "Power"
	DriveSensor       = "Drive"
	VoltageSensor     = "Voltage"
	MemorySensor      = "Memory"
	ProcessorSensor   = "Processor"
	OtherSensor       = "Other"
)

// Sensor is one value that a BMC measures, or the health of one part. The pair of Group and Name is its identity.
type Sensor struct {
	Group    string   `json:"group"`
	Name     string   `json:"name"`
	ID       string   `json:"id,omitempty"`      // the BMC's own
	Of       string   `json:"of,omitempty"`      // chassis, or system
	Context  string   `json:"context,omitempty"` // Redfish's PhysicalContext: CPU, Intake
	Reading  *float64 `json:"reading"`           // null: a health alone
	Unit     string   `json:"unit,omitempty"`    // Cel, RPM, %, W, V, A, J
	Critical *float64 `json:"upper_critical,omitempty"`
	State    string   `json:"state,omitempty"`  // Enabled, StandbyOffline
	Health   string   `json:"health,omitempty"` // OK, Warning, Critical
}

// SensorReport is a BMC's report of all sensors of a machine at one time.
type SensorReport struct {
	At         time.Time
	Source     string // Thermal and Power, MetricReports, Sensors, SDR
	Sensors    []Sensor
	Incomplete []string // the parts that could not be read, and the reasons
}

// MaxSensors bounds the sensors that are kept of one machine; large machines have some 500.
const MaxSensors = 1024

// Unwell lists the sensors with a health of that kind, in order.
func (r SensorReport) Unwell(health string) (all []Sensor) {
	for _, s := range r.Sensors {
		if s.Health == health {
			all = append(all, s)
		}
	}
	slices.SortFunc(all, func(a, b Sensor) int {
		return cmp.Or(cmp.Compare(a.Group, b.Group), cmp.Compare(a.Name, b.Name))
	})
	return all
}

// Sensed is a report with the names that its node had then; Instance is "" for none.
type Sensed struct {
	Node, Name, Instance string
	Report               SensorReport
}
