package serve

import (
	"context"
	"path/filepath"

	"github.com/ferrite-metal/ferrite/conductor/agents/bootlog"
)

// openLogs opens the logs of machines: in the database of a cluster, else in the data folder.
func (w *work) openLogs(_ context.Context, p parts) (err error) {
	if p.logs != nil {
		w.logs = bootlog.New(p.logs, bootlog.Limits{})
		return nil
	}
	w.logs, err = bootlog.Open(filepath.Join(w.conf.DataDir, "logs"), bootlog.Limits{})
	return err
}
