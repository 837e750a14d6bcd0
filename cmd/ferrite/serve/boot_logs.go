package serve

import (
	"path/filepath"

	"github.com/ferrite-metal/ferrite/conductor/agents/bootlog"
)

// logs keep what machines log: in the database of a cluster, else in the data folder.
func (c Config) logs(p parts) (*bootlog.Keeper, error) {
	if p.logs != nil {
		return bootlog.New(p.logs, bootlog.Limits{}), nil
	}
	return bootlog.Open(filepath.Join(c.DataDir, "logs"), bootlog.Limits{})
}
