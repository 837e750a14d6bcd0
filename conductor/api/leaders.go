package api

import "strings"

// Leaders knows the leaders of the conductor groups.
type Leaders interface {
	// Leader is the conductor that leads a group, "" while there is none.
	Leader(group string) string
	// Known reports whether some conductor of a group is alive.
	Known(group string) bool
	// Led is the group that a conductor leads, nil for all groups. The case of the conductor's name does not matter.
	Led(host string) (group *string, leads bool)
}

// onlyLeader is a conductor without a cluster: it has the nodes of all groups, and takes new ones of the default group.
type onlyLeader struct {
	conductor interface{ ConductorName() string }
}

// Leader is this conductor.
func (o onlyLeader) Leader(string) string { return o.conductor.ConductorName() }

// Known is true for the default group.
func (o onlyLeader) Known(group string) bool { return group == "" }

// Led is all groups, of this conductor.
func (o onlyLeader) Led(host string) (*string, bool) {
	return nil, strings.EqualFold(host, o.conductor.ConductorName())
}
