package redfish

import (
	"cmp"
	"context"
	"path"
	"strings"
	"time"

	"github.com/stmcginnis/gofish/schemas"

	"github.com/ferrite-metal/ferrite/conductor/node"
)

// slowSensors is the time for one source. It is short, since all else that is asked of the BMC waits for it.
const slowSensors = 20 * time.Second

// maxChassis bounds the chassis that are asked; a GB300 has 28.
const maxChassis = 64

// Sensors reads temperatures, fans, power and voltages, and the health of drives, memory and
// processors. A source that the BMC lacks, or cannot show, is left out and named.
func (d *Driver) Sensors(ctx context.Context, n node.Node) (out node.SensorReport, err error) {
	err = d.call(ctx, n, "read the sensors", func(s *session) error {
		sys, err := s.read()
		if err != nil {
			return err
		}
		p := &parts{session: s, now: time.Now, within: slowSensors}
		if err := s.reread(sys, &p.links); err != nil {
			p.missed("links", err)
		}
		r := &sensors{parts: p, seen: map[string]bool{}}
		if err := r.readAll(sys); err != nil {
			return err
		}
		out = r.report
		out.Incomplete = p.out.Incomplete
		return nil
	})
	if err != nil {
		return node.SensorReport{}, err
	}
	return out, nil
}

// sensors is one reading of them.
type sensors struct {
	*parts
	report node.SensorReport
	seen   map[string]bool
	known  map[string]bool // groups that an earlier source has reported
}

// readAll goes through the sources until temperatures and power are known: Thermal and Power cost two requests a
// chassis, a metric report one, and Sensors one for each. A later source adds only the missing groups.
func (r *sensors) readAll(system *schemas.ComputerSystem) error {
	chassis := r.chassis()
	for _, source := range []struct {
		name string
		read func(chassis []string) error
	}{
		{"Thermal and Power", r.thermalAndPower},
		{"MetricReports", r.metricReports},
		{"Sensors", r.sensorCollections},
	} {
		r.begin()
		before := len(r.report.Sensors)
		if err := source.read(chassis); err != nil {
			if err := r.optional("sensors", err); err != nil {
				return err
			}
			r.missed(source.name, err)
		}
		if len(r.report.Sensors) > before {
			r.report.Source = strings.TrimPrefix(r.report.Source+", "+source.name, ", ")
		}
		r.known = r.groups()
		if r.known[node.TemperatureSensor] && r.known[node.PowerSensor] {
			break
		}
	}
	r.known = nil
	r.begin()
	return r.health(system)
}

// groups are those that have a reading.
func (r *sensors) groups() map[string]bool {
	known := map[string]bool{}
	for _, s := range r.report.Sensors {
		known[s.Group] = known[s.Group] || s.Reading != nil
	}
	return known
}

// chassis are those that the system names, else all of the BMC.
func (r *sensors) chassis() []string {
	all := paths(r.links.Links.Chassis)
	var root struct{ Chassis reference }
	if _, err := r.get(defaultRoot, &root); err == nil && len(all) == 0 {
		all, err = r.members(root.Chassis.Path)
		if err != nil {
			r.missed("chassis", err)
		}
	}
	return all[:min(len(all), maxChassis)]
}

// add takes a sensor. A sensor without a reading and without a health is left out. A sensor with a name that is taken
// gets another name.
func (r *sensors) add(s node.Sensor) {
	if r.known[s.Group] || s.State == "Absent" || s.Reading == nil && s.Health == "" ||
		len(r.report.Sensors) >= node.MaxSensors {
		return
	}
	s.Name = unique(cmp.Or(s.Name, s.ID, "sensor"), func(name string) bool { return r.seen[s.Group+"/"+name] })
	r.seen[s.Group+"/"+s.Name] = true
	r.report.Sensors = append(r.report.Sensors, s)
}

// health has the health of drives, and of memory and processors as sums; of a sum that is not OK, the parts.
func (r *sensors) health(system *schemas.ComputerSystem) error {
	var sums struct {
		MemorySummary, ProcessorSummary struct{ Status resourceStatus }
	}
	if err := r.reread(system, &sums); err != nil {
		r.missed("summaries", err)
	}
	if err := r.drives(); err != nil {
		return err
	}
	for _, sum := range []struct {
		group, path string
		status      resourceStatus
	}{
		{node.MemorySensor, r.links.Memory.Path, sums.MemorySummary.Status},
		{node.ProcessorSensor, r.links.Processors.Path, sums.ProcessorSummary.Status},
	} {
		health := sum.status.worst()
		r.add(node.Sensor{Group: sum.group, Name: "All", Health: health})
		if health == "" || health == "OK" {
			continue
		}
		members, err := r.members(sum.path)
		if err != nil {
			r.missed(sum.group, err)
			continue
		}
		err = each(r.parts, sum.group, members, func(at string, m struct {
			ID     string `json:"Id"`
			Status resourceStatus
		}) {
			r.add(node.Sensor{Group: sum.group, Name: cmp.Or(tidy(m.ID), path.Base(at)), State: label(m.Status.State),
				Health: knownHealth(m.Status.Health)})
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func (r *sensors) drives() error {
	controllers, err := r.members(r.links.Storage.Path)
	if err != nil {
		r.missed("storage", err)
		return nil
	}
	var all []string
	err = each(r.parts, "storage", controllers, func(_ string, s storageDoc) { all = append(all, paths(s.Drives)...) })
	if err != nil {
		return err
	}
	return each(r.parts, "drives", all, func(at string, d driveDoc) {
		r.add(node.Sensor{Group: node.DriveSensor, Name: cmp.Or(tidy(d.Name), tidy(d.ID), path.Base(at)), ID: tidy(d.ID),
			State: label(d.Status.State), Health: knownHealth(d.Status.Health)})
	})
}

// worst is the worse health of a resource and of its parts; "" where it is none of Redfish's words.
func (s resourceStatus) worst() string {
	for _, h := range []string{"Critical", "Warning", "OK"} {
		if s.Health == h || s.HealthRollup == h {
			return h
		}
	}
	return ""
}

// knownHealth is one of Redfish's words; "" for any other.
func knownHealth(h string) string { return resourceStatus{Health: h}.worst() }
