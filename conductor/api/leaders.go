package api

import "strings"

// Leaders knows who leads the conductor groups.
type Leaders interface {
	// Leader is the conductor that leads a group, "" while there is none. known says that some conductor is of it.
	Leader(group string) (host string, known bool)
	// Led is the group that a conductor leads, whatever the case of its name; nil for all groups.
	Led(host string) (group *string, leads bool)
}

// onlyLeader is a conductor without a cluster: it has the nodes of all groups, and takes new ones of the default group.
type onlyLeader struct {
	conductor interface{ ConductorName() string }
}

// Leader is this conductor.
func (o onlyLeader) Leader(group string) (string, bool) {
	return o.conductor.ConductorName(), group == ""
}

// Led is all groups, of this conductor.
func (o onlyLeader) Led(host string) (*string, bool) {
	return nil, strings.EqualFold(host, o.conductor.ConductorName())
}
