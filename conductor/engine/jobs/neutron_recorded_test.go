package jobs_test

import (
	"encoding/json"
	"maps"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/ferrite-metal/ferrite/conductor/extras/openstack/neutron/neutrontest"
)

// departure is where our conductor does something else than Ironic, on purpose: lines of one part of the record, and
// ours in their place; without any, ours come first.
type departure struct {
	part         string
	ironic, ours []string
	why          string
}

// departures are all of them. In addition, in every part, we make a port of a ramdisk by one request instead of two.
// Ironic makes it as the user, which may not bind it, and binds it as the service user; here the service user asks for
// both.
var departures = []departure{
	{part: "a life: deleted", ironic: []string{"unbind VIF", "address of VIF: null", "unbind VIF", "address of VIF: null"},
		ours: []string{"unbind VIF", "address of VIF: null"},
		why:  "Ironic unbinds a VIF with the tear-down, and again as it takes it off the record; once is enough"},
	{part: "a bond: deleted", ironic: []string{"unbind VIFB", "address of VIFB: null", "unbind VIFB",
		"address of VIFB: null"}, ours: []string{"unbind VIFB", "address of VIFB: null"}, why: "as above"},
	{part: "a life: port set --address, in maintenance", ironic: []string{`address of VIF: "52:54:00:00:00:09"`},
		ours: []string{"unbind VIF", `address of VIF: "52:54:00:00:00:09"`, "bind VIF " + lifeAsBefore},
		why: "Neutron changes no address of a port that is bound to a switch. Ironic means to unbind it, and looks for the " +
			"binding in a field that its client library has under another name; no switch was bound, so it passed"},
	{part: "a bond: portgroup set --address, in maintenance", ironic: []string{`address of VIFB: "52:54:00:00:00:0a"`},
		ours: []string{"unbind VIFB", `address of VIFB: "52:54:00:00:00:0a"`, "bind VIFB " + bondAsBefore},
		why:  "as above"},
	{part: "a life: attach VIF2", ironic: []string{`address of VIF2: "52:54:00:00:00:02"`}, ours: nil,
		why: "the binding that follows has the address, too"},
	{part: "a life: active", ironic: []string{"unbind VIF"}, ours: nil, why: "it is bound to nothing yet"},
	{part: "a bond: active", ironic: []string{"unbind VIFB"}, ours: nil, why: "as above"},
	{part: "a life: unrescue", ironic: []string{"power off", "bind VIF " + lifeBound, "power on"},
		ours: []string{"power off", "power on"}, why: "it is bound so since the rescue; no switch is told twice"},
	{part: "an abort: abort", ironic: []string{"power off", "delete special-1"}, ours: nil,
		why: "an aborted machine stays as it is, for a look at it"},
	{part: "an abort: manage", ironic: nil, ours: []string{"delete special-1"},
		why: "the look is over"},
	{part: "an abort: provide, whose ramdisk never calls, again", ironic: nil, ours: []string{"power off"},
		why: "it was on since the abort"},
	{part: "an abort: maintenance, and the node is deleted", ironic: nil, ours: []string{"delete special-2"},
		why: "nobody else would ever remove it"},
}

const (
	link1        = `{"local_link_information":[{"port_id":"e1","switch_id":"02:00:00:00:00:01"}]}`
	lifeAsBefore = `{"binding:host_id":"NODE","binding:profile":` + link1 + `}`
	lifeBound    = `{"binding:host_id":"NODE","binding:profile":` + link1 + `,"binding:vnic_type":"baremetal",` +
		`"mac_address":"52:54:00:00:00:01"}`
	bondAsBefore = `{"binding:host_id":"NODE","binding:profile":{"local_group_information":{"bond_mode":"802.3ad",` +
		`"bond_properties":{"bond_miimon":100,"bond_xmit_hash_policy":"layer3+4"},"id":"PORTGROUP","name":"bond0"},` +
		`"local_link_information":[{"port_id":"e3","switch_id":"02:00:00:00:00:01"},` +
		`{"port_id":"e4","switch_id":"02:00:00:00:00:01"}]}}`
)

// TestRecordedNeutron: our conductor sends Neutron the same requests for a machine as the recorded Ironic: the same
// ports with the same fields, in the same order, also relative to the machine's power.
func TestRecordedNeutron(t *testing.T) {
	want, order := recordedNeutron(t)
	for _, d := range departures {
		at := index(want[d.part], d.ironic)
		if at < 0 || !slices.Contains(order, d.part) || d.why == "" {
			t.Fatalf("%s: the record has no %q, or there is no reason for something else", d.part, d.ironic)
		}
		want[d.part] = slices.Replace(slices.Clone(want[d.part]), at, at+len(d.ironic), d.ours...)
	}
	got := map[string][]string{}
	synctest.Test(t, func(t *testing.T) {
		r := newRecorder(t)
		defer r.w.Close()
		for _, part := range order {
			got[part] = r.play(part)
		}
	})
	for _, part := range order {
		if !slices.Equal(got[part], want[part]) {
			t.Errorf("%s\n got:\n\t%s\n want:\n\t%s", part, strings.Join(got[part], "\n\t"), strings.Join(want[part], "\n\t"))
		}
	}
}

// index is where part begins in all, -1 for nowhere.
func index(all, part []string) int {
	for i := range len(all) - len(part) + 1 {
		if slices.Equal(all[i:i+len(part)], part) {
			return i
		}
	}
	return -1
}

// recordedNeutron reads the record: the meaning of each of its parts, and their order.
func recordedNeutron(t *testing.T) (parts map[string][]string, order []string) {
	t.Helper()
	text, err := os.ReadFile("testdata/neutron/ironic.txt")
	if err != nil {
		t.Fatal(err)
	}
	parts = map[string][]string{}
	lines := map[string]*meaning{}
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSpace(line)
		name, isPart := strings.CutPrefix(line, "== ")
		switch words := strings.SplitN(line, " ", 3); {
		case line == "" || line[0] == '#':
		case isPart:
			order = append(order, name) // the same verb may come twice
			if lines[name] != nil {
				order[len(order)-1] = name + ", again"
			}
			lines[order[len(order)-1]] = &meaning{}
		case words[0] == "power":
			lines[order[len(order)-1]].power(words[1])
		case words[0] == "agent": // says when the owner logs in
		default:
			r := neutrontest.Request{Method: words[0], Kind: "ports", ID: strings.TrimPrefix(words[1], "ports/")}
			if len(words) > 2 {
				if err := json.Unmarshal([]byte(words[2]), &r.Body); err != nil {
					t.Fatalf("%s: %v", line, err)
				}
			}
			lines[order[len(order)-1]].request(r)
		}
	}
	for name, m := range lines {
		parts[name] = m.lines
	}
	return parts, order
}

// meaning describes requests and power changes, a line each.
type meaning struct {
	lines []string
	was   string             // the power
	made  neutrontest.Object // by the request before
}

func (m *meaning) power(is string) {
	if m.was != is {
		m.lines = append(m.lines, "power "+is)
	}
	m.was, m.made = is, nil
}

// request adds a line. A port that is made, and then bound, is one.
func (m *meaning) request(r neutrontest.Request) {
	_, unbinds := r.Body["binding:host_id"]
	unbinds = unbinds && r.Body["binding:host_id"] == ""
	made := m.made
	m.made = nil
	switch mac, addressed := r.Body["mac_address"]; {
	case r.Method == http.MethodDelete:
		m.lines = append(m.lines, "delete "+r.ID)
	case r.Method == http.MethodPost:
		m.made = maps.Clone(r.Body)
		m.lines = append(m.lines, "create "+compact(m.made))
	case made != nil:
		maps.Copy(made, r.Body)
		m.lines[len(m.lines)-1] = "create " + compact(made)
	case unbinds && len(r.Body) == 2 && len(r.Body["binding:profile"].(neutrontest.Object)) == 0:
		m.lines = append(m.lines, "unbind "+r.ID)
	case addressed && len(r.Body) == 1:
		m.lines = append(m.lines, "address of "+r.ID+": "+compact(mac))
	default:
		m.lines = append(m.lines, "bind "+r.ID+" "+compact(r.Body))
	}
}

// compact is a value as JSON, with its keys in order.
func compact(v any) string {
	text, _ := json.Marshal(v) // it came out of JSON
	return string(text)
}
