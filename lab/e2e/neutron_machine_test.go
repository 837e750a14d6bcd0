package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/netip"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/ferrite-metal/ferrite/lab"
	"github.com/ferrite-metal/ferrite/lab/network"
	netswitch "github.com/ferrite-metal/ferrite/lab/network/switch"
	"github.com/ferrite-metal/ferrite/lab/openstack"
	"github.com/ferrite-metal/ferrite/lab/qemu"
	"github.com/ferrite-metal/ferrite/lab/site"
)

// The networks of a machine that Neutron puts into them, by their VLANs.
const (
	provisioningVLAN = 101
	cleaningVLAN     = 102
	tenantVLAN       = 103
)

var neutronVLANs = []struct {
	name string
	vlan int
}{{"provisioning", provisioningVLAN}, {"cleaning", cleaningVLAN}, {"tenant", tenantVLAN}}

// The machine's port of the switch, and Neutron's port on the lab's bridge.
const (
	machinePort = "Ethernet1"
	neutronPort = 9696
)

// stay is a VLAN that the machine's port was in, and whether the machine was heard there.
type stay struct {
	vlan  int
	heard bool
}

// neutronRoom is a machine at a switch that follows a Neutron.
type neutronRoom struct {
	*bed
	site    *site.Site
	neutron string // its URL, in the lab's network
	nets    map[string]netip.Prefix
	mu      sync.Mutex
	stays   []stay
}

// neutronMachine takes a machine through its life. It is cleaned in the VLAN of cleanings, deployed in the VLAN of
// deploys, and runs in its owner's. Its port of the switch follows our conductor's requests to Debian's Neutron.
func neutronMachine(ctx context.Context, b *bed) (err error) {
	spec := machine("metal-1", qemu.UEFI)
	wire := filepath.Join(b.dir, "wire0")
	spec.NICs[0].Wire = wire
	plan, err := network.NewPlan(b.labID())
	if err != nil {
		return err
	}
	r := &neutronRoom{bed: b, nets: map[string]netip.Prefix{}, neutron: fmt.Sprintf("http://%s:%d", plan.Gateway,
		neutronPort)}
	var subnets []string
	for _, n := range neutronVLANs {
		p, err := network.NewPlan(b.labID() + "-" + n.name[:4])
		if err != nil {
			return err
		}
		r.nets[n.name] = netip.PrefixFrom(p.Gateway, p.Subnet.Bits())
		if n.vlan != tenantVLAN {
			subnets = append(subnets, "--boot-subnets", fmt.Sprintf("%s router=%s", p.Subnet, p.Gateway))
		}
	}
	s, done, err := b.site(ctx, []qemu.Spec{spec}, append(subnets, "--neutron-networks",
		"provisioning=provisioning,cleaning=cleaning", "--neutron-url", r.neutron)...)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, done()) }()
	r.site = s
	stop, err := r.build(ctx, wire)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, stop()) }()
	b.lap("Neutron")
	return r.life(ctx)
}

// build makes the networks: the switch and its router, which relays DHCP of the ramdisks' networks and serves it in the
// owner's, and the Neutron that the switch follows.
func (r *neutronRoom) build(ctx context.Context, wire string) (stop func() error, err error) {
	router, err := r.site.Network.AddHost("rack", onLab(r.site))
	if err != nil {
		return nil, err
	}
	running, end, err := r.plug(ctx, wire, router)
	if err != nil {
		return nil, err
	}
	if err := r.route(router); err != nil {
		end()
		return nil, err
	}
	neutron, err := openstack.StartNeutron(ctx, r.site.Network, filepath.Join(r.dir, "neutron"), nil)
	if err != nil {
		end()
		return nil, err
	}
	follower, err := openstack.NewFollower(r.site.Network, neutron.URL, func(port string, vlan int) error {
		heard, err := running.SetAccess(port, vlan)
		r.moved(vlan, heard)
		return err
	})
	if err != nil {
		end()
		return nil, errors.Join(err, neutron.Stop())
	}
	listener, err := r.site.Network.Listen("tcp", fmt.Sprintf("%s:%d", r.site.Network.Gateway, neutronPort))
	if err != nil {
		end()
		return nil, errors.Join(err, neutron.Stop())
	}
	server := &http.Server{Handler: follower, ReadHeaderTimeout: time.Minute}
	served := make(chan error, 1)
	go func() { served <- server.Serve(listener) }()
	return func() error {
		err := server.Close()
		<-served
		end()
		return errors.Join(err, neutron.Stop())
	}, nil
}

// plug runs the switch between the machine and the router, which has a port in each VLAN. The machine's is in none yet.
func (r *neutronRoom) plug(ctx context.Context, wire string, router *network.Namespace) (*netswitch.Running, func(),
	error) {
	ports := []netswitch.Port{{Name: machinePort}}
	wires, err := wiresTo([]string{wire})
	if err != nil {
		return nil, nil, err
	}
	for _, n := range neutronVLANs {
		ports = append(ports, netswitch.Port{Name: n.name, Access: n.vlan})
		var uplink io.ReadWriteCloser
		err := router.Do(func() (err error) {
			uplink, err = netswitch.Tap(n.name)
			return err
		})
		if err != nil {
			return nil, nil, err
		}
		wires = append(wires, uplink)
	}
	core, err := netswitch.New(ports)
	if err != nil {
		return nil, nil, err
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	running := netswitch.Run(ctx, core, wires, slog.New(slog.DiscardHandler))
	return running, func() {
		cancel()
		running.Wait()
	}, nil
}

// route gives the router its addresses, and has it forward and relay.
func (r *neutronRoom) route(router *network.Namespace) error {
	settings, err := "", router.Forwards()
	for _, n := range neutronVLANs {
		at := r.nets[n.name]
		err = errors.Join(err, router.Address(n.name, at), r.site.Network.Route(at.Masked(), onLab(r.site).Addr()))
		if n.vlan != tenantVLAN {
			settings += fmt.Sprintf("dhcp-relay=%s,%s\n", at.Addr(), r.site.Network.Gateway)
			continue
		}
		first := at.Addr().As4()
		settings += fmt.Sprintf("no-ping\ndhcp-range=%d.%d.%d.100,%[1]d.%[2]d.%[3]d.110,1h\ndhcp-leasefile=%s\n",
			first[0], first[1], first[2], filepath.Join(r.dir, "tenant.leases"))
	}
	return errors.Join(err, r.dnsmasq(r.site, router, settings))
}

// moved notes that the machine's port leaves a VLAN for another one.
func (r *neutronRoom) moved(vlan int, heard bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if n := len(r.stays); n > 0 {
		r.stays[n-1].heard = heard
	}
	r.stays = append(r.stays, stay{vlan: vlan})
}

// life is a machine's: enrolled, cleaned, deployed, undeployed.
func (r *neutronRoom) life(ctx context.Context) error {
	tenant := ""
	for _, n := range neutronVLANs {
		id, err := r.ask(ctx, "network", map[string]any{"name": n.name, "provider:network_type": "vlan",
			"provider:physical_network": "physnet1", "provider:segmentation_id": n.vlan})
		if err != nil {
			return err
		}
		tenant = id // the last one
	}
	vif, err := r.ask(ctx, "port", map[string]any{"network_id": tenant})
	if err != nil {
		return err
	}
	m := r.site.Machines[0]
	if err := r.enroll(ctx, m, vif); err != nil {
		return err
	}
	r.lap("cleaned")
	i := image(r.site, r.tiny, r.tiny.Qcow2)
	i.Format = "qcow2"
	asked := time.Now()
	if err := deploy(ctx, r.site, m, i, "first", m.Name); err != nil {
		return fmt.Errorf("%w; the switch: %v", err, r.stays)
	}
	report, err := r.site.WaitPhoneHome(ctx, func(p lab.Report) bool { return p.Time.After(asked) })
	if err != nil {
		return err
	}
	if from, err := netip.ParseAddrPort(report.Remote); err != nil || !r.nets["tenant"].Contains(from.Addr()) {
		return fmt.Errorf("the machine's system reports from %s, expected an address of %s", report.Remote, r.nets["tenant"])
	}
	r.lap("deployed")
	if _, err := r.site.Ask(ctx, m.Name, "deleted", "available"); err != nil {
		return fmt.Errorf("undeploy: %w; the switch: %v", err, r.stays)
	}
	r.lap("undeployed")
	return r.check()
}

// enroll makes the node, cleans its machine, and attaches the VIF.
func (r *neutronRoom) enroll(ctx context.Context, m *lab.Machine, vif string) error {
	if _, err := r.site.Enroll(ctx, m, map[string]any{"network_interface": "neutron"}); err != nil {
		return fmt.Errorf("enroll: %w", err)
	}
	var found struct {
		Ports []struct{ UUID string } `json:"ports"`
	}
	err := r.site.Call(ctx, http.MethodGet, "/v1/ports?address="+m.Spec().NICs[0].MAC, nil, &found)
	if err == nil && len(found.Ports) != 1 {
		err = fmt.Errorf("%d ports have the address of the machine's card", len(found.Ports))
	}
	if err == nil {
		err = r.commands(ctx, r.site, "port set "+found.Ports[0].UUID+" --local-link-connection "+
			"switch_id=02:46:65:00:00:01 --local-link-connection port_id="+machinePort)
	}
	if err == nil {
		_, err = r.site.Ask(ctx, m.Name, "manage", "manageable")
	}
	if err == nil {
		_, err = r.site.Ask(ctx, m.Name, "provide", "available")
	}
	if err != nil {
		return fmt.Errorf("%w; the switch: %v; the console's last lines:\n%s", err, r.stays, lastLines(m))
	}
	return r.site.Call(ctx, http.MethodPost, "/v1/nodes/"+m.Name+"/vifs", map[string]any{"id": vif}, nil)
}

// check: the machine's port was in the VLANs in their order, and the machine was heard in each of them.
func (r *neutronRoom) check() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	want := []stay{{cleaningVLAN, true}, {0, false}, {provisioningVLAN, true}, {0, false}, {tenantVLAN, true}, {0, false},
		{cleaningVLAN, true}, {0, false}}
	if !slices.Equal(r.stays, want) {
		return fmt.Errorf("the machine's port of the switch was in %v, expected %v", r.stays, want)
	}
	fmt.Printf("neutron-machine: ok cleaned in VLAN %d, deployed in %d, ran in %d\n", cleaningVLAN, provisioningVLAN,
		tenantVLAN)
	return nil
}

// ask has the Neutron make something, and returns its UUID.
func (r *neutronRoom) ask(ctx context.Context, what string, body map[string]any) (string, error) {
	text, err := json.Marshal(map[string]any{what: body})
	if err != nil {
		return "", err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, r.neutron+"/v2.0/"+what+"s", bytes.NewReader(text))
	if err != nil {
		return "", err
	}
	req.Header.Set("Content-Type", "application/json")
	resp, err := r.site.HTTPClient().Do(req)
	if err != nil {
		return "", err
	}
	defer resp.Body.Close()
	var made map[string]struct {
		ID string `json:"id"`
	}
	if err := json.NewDecoder(resp.Body).Decode(&made); err != nil || resp.StatusCode != http.StatusCreated {
		return "", fmt.Errorf("make a %s in Neutron: %s, %w", what, resp.Status, err)
	}
	return made[what].ID, nil
}
