package plan

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/proto/agentapi"
)

// scene is one node under a script.
type scene struct {
	t       *testing.T
	n       node.Node
	f       Facts
	pending *node.Effect
	now     time.Time
	lines   []string
	power   PowerTally

	health string // the BMC's answer beside the power
}

func replay(t *testing.T, script string) string {
	s := &scene{t: t, now: time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC), f: Facts{Settings: DefaultSettings()}}
	s.f.Settings.BootRetries = 0 // but for the script of that name
	s.n = node.Node{
		UUID: "11111111-2222-4333-8444-555555555555", Driver: "redfish", ProvisionState: node.Enroll,
		Interfaces: map[string]string{"deploy": "direct", "inspect": "agent", "boot": "ipxe"},
		InstanceInfo: map[string]any{"image_source": "http://images/os.raw", "image_checksum": strings.Repeat("00ff",
			16)},
	}
	for line := range strings.SplitSeq(script, "\n") {
		switch {
		case strings.HasPrefix(line, "> "):
			s.lines = append(s.lines, line)
			s.do(strings.Fields(line[2:]))
		case strings.HasPrefix(line, "#"):
			s.lines = append(s.lines, line)
		}
	}
	return strings.Join(s.lines, "\n") + "\n"
}

func (s *scene) do(w []string) {
	rest := strings.Join(w[1:], " ")
	s.now = s.now.Add(time.Second)
	switch w[0] {
	case "set":
		k, v, _ := strings.Cut(rest, "=")
		s.set(k, v)
	case "ask":
		s.decide(s.request(rest))
	case "disks":
		s.f.Inventory = agentapi.Inventory{}
		s.parse(rest, &s.f.Inventory.Disks)
	case "child":
		var e ChildStep
		s.parse(rest, &e)
		s.decide(e)
	case "templates":
		s.f.Templates = nil
		s.parse(rest, &s.f.Templates)
	case "offers":
		s.f.Offers = nil
		s.parse(rest, &s.f.Offers)
	case "rules":
		s.f.Rules = nil
		s.parse(rest, &s.f.Rules)
	case "ports":
		for _, p := range s.f.Ports {
			s.say("has port %s %s pxe=%v network=%q%s", p.UUID, p.Address, p.PXEEnabled, p.PhysicalNetwork, linkOf(s.t, p))
		}
	case "lessee":
		s.say("lessee %q", s.n.Lessee)
	case "internal":
		s.say("driver_internal_info %v", s.n.DriverInternalInfo)
	case "look": // the fields that inspection rules change
		s.say("name %q, traits %v, properties %v, extra %v, ports %d", s.n.Name, s.n.Traits, s.n.Properties, s.n.Extra,
			len(s.f.Ports))
		s.say("last error: %s", s.n.LastError)
	case "attach":
		var r AttachRequest
		s.parse(rest, &r)
		s.decide(r)
	case "detach": // kinds of drive, none for all
		s.decide(DetachRequest{Devices: w[1:]})
	case "power":
		s.decide(PowerRequest{Target: node.PowerState(rest)})
	case "cut": // the power, at once
		s.decide(PowerRequest{Target: node.PowerOff, Once: true, Overtake: true})
	case "firmware": // a boot mode, and whether secure boot is on
		mode, secure, said := strings.Cut(rest, " ")
		e := FirmwareRead{Revision: s.n.Revision, BootMode: mode}
		if on := secure == "on"; said {
			e.SecureBoot = &on
		}
		s.decide(e)
	case "parts": // that are critical
		s.decide(SensorsRead{Critical: strings.FieldsFunc(rest, func(r rune) bool { return r == ',' })})
	case "boot": // mode
		s.decide(BootModeRequest{Mode: rest})
	case "secure": // on or off
		s.decide(SecureBootRequest{On: rest == "on"})
	case "console":
		s.decide(ConsoleRequest{On: rest == "on"})
	case "vendor": // method and arguments
		method, body, _ := strings.Cut(rest, " ")
		r := VendorRequest{Method: method}
		s.parse(body, &r.Args)
		s.decide(r)
	case "ok", "fails":
		if s.pending == nil {
			s.t.Fatalf("nothing is pending, after:\n%s", strings.Join(s.lines[max(0, len(s.lines)-8):], "\n"))
		}
		o := Outcome{Effect: *s.pending}
		if w[0] == "fails" {
			o.Failure = rest
		} else {
			o.Result = json.RawMessage(rest)
		}
		s.pending = nil
		s.decide(o)
	case "heartbeat":
		s.f.AgentSeen = s.now
		s.decide(AgentCalled{agentapi.Heartbeat{CallbackURL: rest, AgentToken: "t", AgentVersion: "1"}})
	case "later":
		d, err := time.ParseDuration(rest + "s")
		if err != nil {
			s.t.Fatal(err)
		}
		s.now = s.now.Add(d)
	case "read": // the power: a state, or "fails" and why
		s.read(rest)
	case "stale": // a reading that began before the last save
		s.decide(PowerRead{PowerTally: PowerTally{Differs: confirmations}, Revision: s.n.Revision - 1,
			State: node.PowerState(rest)})
	case "show": // the fields that PUT states/power and the power sync change
		s.say("power %q, target %q, maintenance %v %q", s.n.PowerState, s.n.TargetPowerState, s.n.Maintenance,
			s.n.Fault)
		s.say("maintenance reason: %s", s.n.MaintenanceReason)
		s.say("last error: %s", s.n.LastError)
	case "raid": // the RAID fields after steps
		for name, m := range map[string]map[string]any{"raid_config": s.n.RAIDConfig, "properties": s.n.Properties} {
			raw, err := json.Marshal(m)
			if err != nil {
				s.t.Fatal(err)
			}
			s.say("%s %s", name, raw)
		}
		slices.Sort(s.lines[len(s.lines)-2:])
	case "progress": // of the agent's step, which memory alone takes note of
		s.f.Progressed, s.f.Progress = s.now, rest
	case "chores": // the fields that requests outside of runs change
		secure := "unknown"
		if s.n.SecureBoot != nil {
			secure = fmt.Sprint(*s.n.SecureBoot)
		}
		s.say("boot mode %q, secure boot %s, console %v, agent %q", s.n.BootMode, secure, s.n.ConsoleEnabled,
			s.n.Agent.URL)
		s.say("last error: %s", s.n.LastError)
	case "beat": // a heartbeat that memory alone takes note of
		s.f.AgentSeen = s.now
	case "data":
		s.decide(Inspected{Data: inspection(s.t, rest), Raw: json.RawMessage(rest)})
	case "stage":
		stage, _, _ := strings.Cut(rest, " at ")
		s.f.BootStage, s.f.Boot = rest, Boot{Stage: stage, At: s.now}
	case "logged":
		s.f.LastWords = strings.Split(rest, "; ")
	case "expire":
		s.now = s.n.Deadline
		s.decide(Expired{})
	case "restart":
		s.f.AgentSeen = time.Time{}
		s.decide(Restarted{})
	default:
		s.t.Fatalf("script: unknown word %q", w[0])
	}
}

// request reads a verb and its parameters, which follow as JSON.
func (s *scene) request(rest string) Request {
	verb, more, _ := strings.Cut(rest, " {")
	r := Request{}
	if more != "" {
		s.parse("{"+more, &r)
	}
	r.Verb = node.Event(verb)
	return r
}

func (s *scene) parse(body string, into any) {
	s.t.Helper()
	if err := json.Unmarshal([]byte(body), into); err != nil {
		s.t.Fatalf("script: %v: %s", err, body)
	}
}

func (s *scene) read(answer string) {
	state, failure := node.PowerState(answer), ""
	if why, failed := strings.CutPrefix(answer, "fails "); failed {
		state, failure = "", why
	}
	s.decide(s.power.Count(s.n, node.Vitals{Power: state, Health: s.health}, failure, s.now))
}

func inspection(t *testing.T, body string) (i agentapi.Inspection) {
	odd, err := agentapi.Decode([]byte(body), &i)
	if err != nil {
		t.Fatal(err)
	}
	i.Odd = odd
	return i
}

func (s *scene) say(format string, args ...any) {
	s.lines = append(s.lines, "  "+fmt.Sprintf(format, args...))
}

func (s *scene) decide(e Event) {
	if s.f.EffectPending, s.f.ShutDown = s.pending != nil, nil; s.f.EffectPending && s.pending.Name == ShutDown {
		s.f.ShutDown = s.pending
	}
	c, err := Decide(s.n, s.f, e, s.now)
	var refused *node.Refusal
	switch {
	case errors.As(err, &refused):
		s.say("refused: %s", refused.Reason)
		return
	case err != nil:
		s.t.Fatal(err)
	case c == nil:
		s.say("nothing to write")
		return
	}
	if c.Finish != nil {
		s.say("nobody waits for %s any longer", c.Finish.Name)
	}
	before := s.n.ProvisionState
	s.n = *c.Save
	s.n.Revision++
	s.say("%s -> %s (target %q, power %q)", before, s.n.ProvisionState, s.n.TargetProvisionState, s.n.PowerState)
	for _, h := range c.History {
		s.say("history %s: %s", h.Severity, h.Event)
	}
	for _, p := range c.AddPorts {
		s.say("port %s pxe=%v%s", p.Address, p.PXEEnabled, linkOf(s.t, p))
	}
	for _, p := range c.SavePorts {
		s.say("saves port %s: %v", p.Address, p.InternalInfo)
		if i := slices.IndexFunc(s.f.Ports, func(old node.Port) bool { return old.UUID == p.UUID }); i >= 0 {
			s.f.Ports[i] = p
		}
	}
	for _, uuid := range c.DropPorts {
		s.say("deletes port %s", uuid)
		s.f.Ports = slices.DeleteFunc(s.f.Ports, func(p node.Port) bool { return p.UUID == uuid })
	}
	if c.Inspected != nil {
		s.say("inventory %s", c.Inspected.Inventory)
		s.sayHeard(c.Inspected.PluginData)
	}
	if c.HardwareReport != nil {
		s.sayHardware(*c.HardwareReport)
	}
	for _, ef := range c.Effects {
		when := ""
		if later := ef.RunAt.Sub(s.now); later > 0 {
			when = " in " + later.String()
		}
		s.say("enqueues %s %s%s", ef.Name, ef.Args, when)
		if err := argsFit(ef); err != nil {
			s.t.Error(err)
		}
		s.pending = &ef
	}
	if c.Hurry {
		s.say("the pending effect falls due at once")
	}
	if s.n.Child != nil {
		s.say("child %+v", *s.n.Child)
	}
	if r := s.n.Run; r != nil && r.Waiting != "" {
		s.say("waits for %s until %s", r.Waiting, s.n.Deadline.Format("15:04:05"))
	}
}

// sayHardware prints the new parts of a hardware report.
func (s *scene) sayHardware(now node.HardwareReport) {
	before := s.f.HardwareReport
	s.f.HardwareReport = now
	for _, fw := range requested {
		if list := now.AgentSteps[fw]; !reflect.DeepEqual(list, before.AgentSteps[fw]) {
			s.say("keeps %d %s steps of the agent", len(list.Steps), fw)
		}
	}
	before.AgentSteps, now.AgentSteps = nil, nil
	if reflect.DeepEqual(before, now) {
		return
	}
	result, err := json.Marshal(now)
	if err != nil {
		s.t.Fatal(err)
	}
	s.say("told %s", result)
}
