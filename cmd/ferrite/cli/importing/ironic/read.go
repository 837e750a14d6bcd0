package ironic

import (
	"context"
	"errors"
	"net/http"
	"net/url"

	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// Everything is all records of an Ironic.
type Everything struct {
	Nodes, Ports, Portgroups, Connectors, Targets, Allocations []Record
	Chassis, DeployTemplates, Runbooks                         []Record
}

// Collection is a list of records.
type Collection struct {
	Path, Key string
	More      url.Values
	Into      *[]Record
}

// Collections is THE table of the lists to read. Lists that are newer than the microversion are left out.
func (e *Everything) Collections(minor int) (all []Collection) {
	detail := url.Values{"detail": {"True"}}
	nodes := url.Values{"detail": {"True"}}
	if minor >= includeChildren {
		nodes.Set("include_children", "True")
	}
	for _, list := range []struct {
		path, key string
		since     int
		more      url.Values
		into      *[]Record
	}{
		{"nodes", "nodes", 1, nodes, &e.Nodes},
		{"ports", "ports", 1, detail, &e.Ports},
		{"portgroups", "portgroups", 23, detail, &e.Portgroups},
		{"volume/connectors", "connectors", 32, detail, &e.Connectors},
		{"volume/targets", "targets", 32, detail, &e.Targets},
		{"allocations", "allocations", 52, nil, &e.Allocations},
		{"chassis", "chassis", 1, detail, &e.Chassis},
		{"deploy_templates", "deploy_templates", 55, detail, &e.DeployTemplates},
		{"runbooks", "runbooks", 92, detail, &e.Runbooks},
	} {
		if list.since <= minor {
			all = append(all, Collection{list.path, list.key, list.more, list.into})
		}
	}
	return all
}

// includeChildren is the microversion from which on a list leaves children out unless it is asked for them.
const includeChildren = 83

// ReadAll reads all records.
func (c *Client) ReadAll(ctx context.Context) (*Everything, error) {
	e := &Everything{}
	for _, list := range e.Collections(c.minor) {
		q := url.Values{}
		for key, values := range list.More {
			q[key] = values
		}
		var err error
		if *list.Into, err = c.List(ctx, list.Path, list.Key, q); err != nil {
			return nil, err
		}
	}
	return e, nil
}

// inventories is the microversion that added the inventory of an inspection.
const inventories = 81

// Inventory is the inventory from a node's last inspection; nil for none.
func (c *Client) Inventory(ctx context.Context, uuid string) (*nodeapi.ImportInventory, error) {
	if c.minor < inventories {
		return nil, nil //nolint:nilnil // older Ironics keep none
	}
	var found nodeapi.ImportInventory
	err := c.Get(ctx, "/v1/nodes/"+url.PathEscape(uuid)+"/inventory", &found)
	var fault *nodeapi.Fault
	if errors.As(err, &fault) && fault.Status == http.StatusNotFound {
		return nil, nil //nolint:nilnil // it was never inspected
	}
	return &found, err
}
