package jobs_test

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ferrite-metal/ferrite/conductor/engine/enginetest"
	"github.com/ferrite-metal/ferrite/conductor/extras/openstack/neutron"
	"github.com/ferrite-metal/ferrite/conductor/extras/openstack/neutron/neutrontest"
	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/conductor/plan"
)

// recorder is a world in front of a Neutron, and the requests that Neutron gets.
type recorder struct {
	w     *enginetest.World
	names map[string]string // by UUID
	made  map[string]int    // ports of ramdisks by network
	heard *meaning
	vifs  map[string]string // by name
	tell  func(method, path string, body neutrontest.Object) string
	node  node.Node
}

// Networks and groups, as they were for the record.
var recordedNetworks = map[string]string{"provisioning": "provisioning", "cleaning": "cleaning", "rescuing": "rescuing"}

func newRecorder(t *testing.T) *recorder {
	t.Helper()
	r := &recorder{w: enginetest.New(t, 1), names: map[string]string{}, made: map[string]int{}, vifs: map[string]string{},
		heard: &meaning{}}
	s := neutrontest.New()
	service, err := neutron.At("http://neutron:9696", within{s})
	r.w.Must(err)
	r.w.Networks = neutron.New(neutron.Config{Service: service, Networks: recordedNetworks,
		NodeNetworks: []string{"special"}, SecurityGroups: map[string][]string{"rescuing": {"ramdisks"}}})
	r.w.Settings.Neutron, r.w.Settings.NodeNetworks = true, []string{"special"}
	r.tell = func(method, path string, body neutrontest.Object) string {
		answer := httptest.NewRecorder()
		s.ServeHTTP(answer, httptest.NewRequest(method, "/v2.0/"+path, strings.NewReader(compact(body))))
		var is map[string]struct{ ID string }
		r.w.Must(json.Unmarshal(answer.Body.Bytes(), &is))
		return slices.Collect(maps.Values(is))[0].ID
	}
	for _, name := range []string{"provisioning", "cleaning", "rescuing", "tenant", "special"} {
		r.names[r.tell(http.MethodPost, "networks", neutrontest.Object{"network": neutrontest.Object{"name": name}})] = name
	}
	r.names[r.tell(http.MethodPost, "security-groups",
		neutrontest.Object{"security_group": neutrontest.Object{"name": "ramdisks"}})] = "GROUP"
	for _, name := range []string{"VIF", "VIF2", "VIFB"} {
		r.vifs[name] = r.tell(http.MethodPost, "ports",
			neutrontest.Object{"port": neutrontest.Object{"network_id": r.network("tenant")}})
		r.names[r.vifs[name]] = name
	}
	s.Heard = r.hear
	r.w.Pressed = func(p node.PowerState) { r.heard.power(strings.TrimPrefix(string(p), "power ")) }
	r.w.Start()
	return r
}

// network is the UUID of a network, or of another named object.
func (r *recorder) network(name string) string {
	for id, is := range r.names {
		if is == name {
			return id
		}
	}
	return ""
}

// hear adds a request to the recorded ones, in the record's form.
func (r *recorder) hear(said neutrontest.Request) {
	r.w.Mu.Lock()
	defer r.w.Mu.Unlock()
	r.heard.power(strings.TrimPrefix(string(r.w.Machine(r.node.UUID).Power), "power "))
	if network, _ := said.Body["network_id"].(string); network != "" {
		r.made[network]++
		r.names[said.ID] = fmt.Sprint(r.names[network], "-", r.made[network])
	}
	text := compact(said.Body)
	for id, name := range r.names {
		text = strings.ReplaceAll(text, id, name)
	}
	said.ID, said.Body = r.names[said.ID], nil
	r.w.Must(json.Unmarshal([]byte(text), &said.Body))
	r.heard.request(said)
}

// within answers requests without a network.
type within struct{ http.Handler }

func (w within) RoundTrip(r *http.Request) (*http.Response, error) {
	answer := httptest.NewRecorder()
	if r.Body == nil {
		r.Body = http.NoBody
	}
	w.ServeHTTP(answer, r)
	return answer.Result(), nil
}

// play does the actions of a part of the record, and returns their meaning.
func (r *recorder) play(part string) []string {
	w := r.w
	w.T.Helper()
	scene, verb, _ := strings.Cut(part, ": ")
	if r.node.Name != strings.ReplaceAll(scene, " ", "-") {
		r.enroll(strings.ReplaceAll(scene, " ", "-"))
	}
	w.Mu.Lock()
	r.heard = &meaning{was: strings.TrimPrefix(string(w.Machine(r.node.UUID).Power), "power ")}
	w.Mu.Unlock()
	r.do(strings.TrimSuffix(verb, ", again"))
	w.Mu.Lock()
	defer w.Mu.Unlock()
	return slices.Clone(r.heard.lines)
}

func (r *recorder) do(verb string) {
	w, id := r.w, r.node.UUID
	ctx := context.Background()
	reaches := map[string]struct {
		plan.Request
		end node.State
	}{
		"provide": {plan.Request{Verb: node.Provide}, node.Available},
		"active":  {plan.Request{Verb: node.Deploy}, node.Active}, "rebuild": {plan.Request{Verb: node.Rebuild}, node.Active},
		"rescue":   {plan.Request{Verb: node.RescueIt, RescuePassword: "open, please"}, node.Rescue},
		"deleted":  {plan.Request{Verb: node.Delete}, node.Available},
		"unrescue": {plan.Request{Verb: node.Unrescue}, node.Active},
		"abort":    {plan.Request{Verb: node.Abort}, node.CleanFailed},
		"manage":   {plan.Request{Verb: node.Manage}, node.Manageable},
	}
	verb, how, _ := strings.Cut(verb, ", ")
	switch what, vif, _ := strings.Cut(verb, " "); {
	case how == "whose ramdisk never calls":
		w.Mute[id] = true
		w.Must(w.E.Provision(ctx, id, plan.Request{Verb: node.Provide}))
		time.Sleep(time.Minute)
	case what == "attach":
		w.Must(w.E.AttachVIF(ctx, id, node.VIF{ID: r.vifs[vif]}))
	case what == "detach":
		w.Must(w.E.DetachVIF(ctx, id, r.vifs[vif]))
	case strings.HasSuffix(verb, "set --address"):
		r.readdress(what == "portgroup")
	case verb == "maintenance":
		w.Must(w.E.SetMaintenance(ctx, id, true, "of the test"))
		w.Must(w.E.DeleteNode(ctx, id))
	default:
		if verb == "active" {
			r.instance()
		}
		is, ok := reaches[verb]
		if !ok {
			w.T.Fatalf("the record has the verb %q", verb)
		}
		reach(w, id, is.Request, is.end)
	}
}

// instance sets the instance of a deploy; the record has one with a UUID, and one without.
func (r *recorder) instance() {
	_, err := r.w.E.UpdateNode(r.w.Ctx, r.node.UUID, func(n *node.Node) error {
		if n.Name == "a-life" {
			n.InstanceUUID = "99999999-2222-4333-8444-555555555555"
			r.names[n.InstanceUUID] = "INSTANCE"
		}
		n.InstanceInfo = enginetest.Instance(0)
		return nil
	})
	r.w.Must(err)
}

// enroll makes the node of a scene, and its ports.
func (r *recorder) enroll(scene string) {
	w := r.w
	scenes := map[string]struct {
		uuid string // has the address of the first port
		macs []string
		info map[string]any
	}{
		"a-life": {"00000100-2222-4333-8444-555555555555", []string{"52:54:00:00:00:01", "52:54:00:00:00:02"}, nil},
		"a-bond": {"00000300-2222-4333-8444-555555555555", []string{"52:54:00:00:00:03", "52:54:00:00:00:04"}, nil},
		"an-abort": {"00000500-2222-4333-8444-555555555555", []string{"52:54:00:00:00:05"},
			map[string]any{"cleaning_network": "special"}},
	}
	is := scenes[scene]
	r.names[is.uuid] = "NODE"
	n, err := w.E.CreateNode(w.Ctx, node.Node{UUID: is.uuid, Name: scene, Driver: "redfish", DriverInfo: is.info,
		Interfaces: map[string]string{"deploy": "direct", "rescue": "agent", "network": "neutron"}})
	w.Must(err)
	r.node = n
	group := ""
	if scene == "a-bond" {
		g, err := w.E.Catalogs().Portgroups.Create(w.Ctx, node.Portgroup{NodeUUID: n.UUID, Name: "bond0",
			Address: is.macs[0], Mode: "802.3ad", StandalonePorts: true,
			Properties: map[string]any{"miimon": 100, "bond_xmit_hash_policy": "layer3+4"}})
		w.Must(err)
		group = g.UUID
		r.names[group] = "PORTGROUP"
	}
	for i, mac := range is.macs {
		_, err := w.E.CreatePort(w.Ctx, node.Port{NodeUUID: n.UUID, Address: mac, PXEEnabled: i == 0, PortgroupUUID: group,
			LocalLinkConnection: map[string]any{"switch_id": "02:00:00:00:00:01", "port_id": "e" + mac[len(mac)-1:]}})
		w.Must(err)
	}
	w.Ask(n.UUID, node.Manage, node.Manageable)
}

// readdress changes the address of the first port, or of the portgroup. On a machine in use this needs maintenance.
func (r *recorder) readdress(group bool) {
	w := r.w
	w.Must(w.E.SetMaintenance(w.Ctx, r.node.UUID, true, "of the test"))
	if group {
		_, err := w.E.Catalogs().Portgroups.Update(w.Ctx, "bond0", func(g *node.Portgroup) error {
			g.Address = "52:54:00:00:00:0a"
			return nil
		})
		w.Must(err)
	} else {
		ports, err := w.E.Ports(w.Ctx, node.PortQuery{NodeUUID: r.node.UUID})
		w.Must(err)
		_, err = w.E.UpdatePort(w.Ctx, ports[0].UUID, func(p *node.Port) error {
			if p.Address = "52:54:00:00:00:09"; p.Address == ports[0].Address {
				p.Address = "52:54:00:00:00:01"
			}
			return nil
		})
		w.Must(err)
	}
	w.Must(w.E.SetMaintenance(w.Ctx, r.node.UUID, false, ""))
}
