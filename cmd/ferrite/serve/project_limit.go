package serve

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/ferrite-metal/ferrite/conductor/api"
	"github.com/ferrite-metal/ferrite/conductor/imagestore"
	"github.com/ferrite-metal/ferrite/conductor/node"
)

// defaultProjectLimits are the limits of a project that no setting changes.
var defaultProjectLimits = []string{"nodes=10000", "ports=100000", "portgroups=20000", "volume_connectors=20000",
	"volume_targets=20000", "allocations=10000", "runbooks=1000", "images=1000", "bytes=1G"}

// projectLimits reads --project-limit: those that it names replace defaults, and 0 is no limit.
func (c *Config) projectLimits() (node.Usage, error) {
	limits := node.Usage{}
	for i, limit := range slices.Concat(defaultProjectLimits, c.ProjectLimit) {
		kind, text, _ := strings.Cut(limit, "=")
		most, err := imagestore.ParseSize(text)
		if err != nil {
			return nil, fmt.Errorf("--project-limit %s: expected a number, as %s=1000: %w", limit, kind, err)
		}
		if _, known := limits[kind]; !known && i >= len(defaultProjectLimits) {
			return nil, fmt.Errorf("--project-limit %s: expected one of %s", limit, strings.Join(defaultProjectLimits, ", "))
		}
		limits[kind] = most
	}
	maps.DeleteFunc(limits, func(_ string, most int64) bool { return most == 0 })
	return limits, nil
}

// limits bound the projects of a database. The settings were checked.
func (c *Config) limits(db Database) *api.ProjectLimits {
	most, _ := c.projectLimits()
	return &api.ProjectLimits{Most: most, Usage: db.Usage}
}
