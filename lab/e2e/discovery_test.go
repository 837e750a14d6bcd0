package e2e

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/ferrite-metal/ferrite/lab"
	"github.com/ferrite-metal/ferrite/lab/qemu"
	"github.com/ferrite-metal/ferrite/lab/site"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// discovered switches on a machine that is not enrolled. It turns up as a node with its port and its disks. Once the
// BMC's address is set, an operator takes it on.
func discovered(ctx context.Context, b *bed) (err error) {
	spec := machine("metal-1", qemu.BIOS)
	spec.NICs = append(spec.NICs, qemu.NIC{}) // wired, and not booted from
	s, done, err := b.site(ctx, []qemu.Spec{spec}, "--discovery", "redfish")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, done()) }()
	m := s.Machines[0]
	if err := m.Reset(ctx, qemu.ResetOn); err != nil {
		return err
	}
	n, err := turnsUp(ctx, s)
	if err != nil {
		return err
	}
	if n.ProvisionState != "enroll" || n.Properties["cpu_arch"] != "x86_64" {
		return fmt.Errorf("the discovered node is %+v", n)
	}
	if err := hasPorts(ctx, s, n, m); err != nil {
		return err
	}
	if err := m.Reset(ctx, qemu.ResetForceOff); err != nil {
		return err
	}
	if err := b.commands(ctx, s,
		"node root-device "+n.UUID+" --dry-run",
		"node set "+n.UUID+" --name "+m.Name+" --inspect-interface agent --driver-info redfish_address="+m.URL+
			" --driver-info redfish_username="+m.Username+" --driver-info redfish_password="+m.Password,
		"node manage "+m.Name+" --wait", "node inspect "+m.Name+" --wait",
	); err != nil {
		return err
	}
	if n, err = turnsUp(ctx, s); err == nil && n.ProvisionState != "manageable" {
		err = fmt.Errorf("the discovered node is %q after its inspection", n.ProvisionState)
	}
	return err
}

// turnsUp waits until there is a node, and wants it to be the only one: by the end the ramdisk has sent its inventory
// more than once.
func turnsUp(ctx context.Context, s *site.Site) (n nodeapi.Node, err error) {
	for {
		var list nodeapi.NodeList
		if err := s.Call(ctx, http.MethodGet, "/v1/nodes/detail", nil, &list); err != nil {
			return n, err
		}
		switch len(list.Nodes) {
		case 0:
		case 1:
			return list.Nodes[0], nil
		default:
			return n, fmt.Errorf("one machine has become %d nodes", len(list.Nodes))
		}
		select {
		case <-ctx.Done():
			return n, fmt.Errorf("the unknown machine has not turned up: %w", ctx.Err())
		case <-time.After(100 * time.Millisecond):
		}
	}
}

// hasPorts wants a port of each card, and only the first to boot.
func hasPorts(ctx context.Context, s *site.Site, n nodeapi.Node, m *lab.Machine) error {
	var answer struct {
		Ports []struct {
			Address string `json:"address"`
			PXE     bool   `json:"pxe_enabled"`
		} `json:"ports"`
	}
	if err := s.Call(ctx, http.MethodGet, "/v1/nodes/"+n.UUID+"/ports/detail", nil, &answer); err != nil {
		return err
	}
	boots := map[string]bool{}
	for _, p := range answer.Ports {
		boots[p.Address] = p.PXE
	}
	for i, nic := range m.Spec().NICs {
		if pxe, there := boots[nic.MAC]; !there || pxe != (i == 0) {
			return fmt.Errorf("the ports of the discovered node (and whether they boot) are %v, card %d is %s",
				boots, i, nic.MAC)
		}
	}
	if len(boots) != len(m.Spec().NICs) {
		return fmt.Errorf("the discovered node has ports %v, the machine %d cards", boots, len(m.Spec().NICs))
	}
	return nil
}
