package serve

import (
	"context"
	"net/http"
	"strings"

	"github.com/ferrite-metal/ferrite/conductor/cluster"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// membersOf are the conductors of a cluster, as the API shows them.
type membersOf struct {
	*member
	cluster *cluster.Cluster
}

// Members lists the conductors by name.
func (m membersOf) Members(ctx context.Context) ([]nodeapi.Conductor, error) {
	view, err := m.cluster.Look(ctx)
	if err != nil {
		return nil, err
	}
	all := []nodeapi.Conductor{}
	for _, one := range view.Members {
		leads := view.Leads(one)
		all = append(all, nodeapi.Conductor{Name: one.Name, Group: one.Group, Leader: leads, Alive: one.Alive,
			Drained: one.Drained, Address: one.Address, HardwareTypes: append([]string{}, one.HardwareTypes...),
			CreatedAt: one.Created, SeenAt: one.Seen})
	}
	return all, nil
}

// Leader is the conductor that leads a group.
func (m membersOf) Leader(group string) string { return m.cluster.LeaderOf(group) }

// Known reports whether a conductor of a group is alive.
func (m membersOf) Known(group string) bool { return m.cluster.Knows(context.Background(), group) }

// Led is the group that a conductor leads.
func (m membersOf) Led(host string) (*string, bool) {
	view := m.cluster.View()
	for _, one := range view.Members {
		if strings.EqualFold(one.Name, host) {
			return &one.Group, view.Leads(one)
		}
	}
	return nil, false
}

// Drain sets whether a conductor may lead. It refuses to drain the last one of a group.
func (m membersOf) Drain(ctx context.Context, name string, drained bool) error {
	view, err := m.cluster.Look(ctx) // a change that another member just made counts
	if err != nil {
		return err
	}
	group, known := view.GroupOf(name)
	switch {
	case !known:
		return nodeapi.NewFault(http.StatusNotFound, "Conductor %s could not be found.", name)
	case drained && !view.Candidates(group, name):
		return nodeapi.NewFault(http.StatusConflict, "No other conductor of the conductor group %q is alive and not "+
			"drained: it would have no leader. Start or undrain another one first.", group)
	}
	_, err = m.rows.Drain(ctx, name, drained)
	return err
}
