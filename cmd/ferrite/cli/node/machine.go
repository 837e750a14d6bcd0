package node

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/url"

	"golang.org/x/sync/errgroup"

	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli/internal/client"
	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli/internal/wait"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// machine is all that is known of a node for people.
type machine struct {
	record map[string]any
	status nodeapi.Status
	ports  []machinePort
	disks  []machineDisk
	ips    map[string]string // by MAC: of leases, else of the last inspection
}

type machinePort struct {
	Address string `json:"address"`
	Boots   bool   `json:"pxe_enabled"`
	Network string `json:"physical_network"`
}

type machineDisk struct {
	Name, Model, Serial string
	Size                int64
}

// inventory is the part of an inspection's result that is shown.
type inventory struct {
	Inventory struct {
		Disks      []machineDisk
		Interfaces []struct {
			MAC string `json:"mac_address"`
			IP  string `json:"ipv4_address"`
		}
	}
}

// readMachine reads the details beside the record. Parts that are missing, or that the caller may not read, stay empty:
// the record alone is a valid answer.
func readMachine(ctx context.Context, s *client.Session, record json.RawMessage) (m machine, err error) {
	if err := json.Unmarshal(record, &m.record); err != nil {
		return m, fmt.Errorf("the conductor's answer: %w", err)
	}
	uuid, _ := m.record["uuid"].(string)
	var found inventory
	var ports struct{ Ports []machinePort }
	var leases struct{ Leases []struct{ MAC, IP string } }
	var running errgroup.Group
	for _, part := range []struct {
		path string
		to   any
	}{
		{client.NodePath(uuid, "inventory"), &found},
		{nodeapi.Root + "/ports?fields=address,pxe_enabled,physical_network&node=" + url.QueryEscape(uuid), &ports},
		{nodeapi.FerriteRoot + "/leases", &leases},
	} {
		running.Go(func() error { return unlessHidden(s.Client.Do(ctx, "GET", part.path, nil, part.to)) })
	}
	running.Go(func() (err error) {
		m.status, err = wait.ReadStatus(ctx, s, uuid)
		m.status.Try = withAddress(ctx, s, m.status)
		return err
	})
	if err := running.Wait(); err != nil {
		return m, err
	}
	m.ports, m.disks, m.ips = ports.Ports, found.Inventory.Disks, map[string]string{}
	for _, i := range found.Inventory.Interfaces {
		m.ips[i.MAC] = i.IP
	}
	for _, l := range leases.Leases {
		m.ips[l.MAC] = cmp.Or(l.IP, m.ips[l.MAC])
	}
	return m, nil
}

// unlessHidden drops the error of a part that is not there, or not for the caller.
func unlessHidden(err error) error {
	if client.NotFound(err) || client.Forbidden(err) {
		return nil
	}
	return err
}
