package ramdisk

import (
	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/proto/agentapi"
)

// keepInspectionLogs keeps the logs that a ramdisk sent with the data of a failed inspection. (Ironic's
// always_store_ramdisk_logs is for successful ones.) Such a machine makes no further look-up, so that its log cannot
// come another way. raw stands for its boot, which has no token.
func (e *Ramdisks) keepInspectionLogs(n node.Node, data agentapi.Inspection, raw []byte) {
	if e.BootLogs == nil || !e.Settings.CollectLogs || n.ProvisionState != node.InspectFailed || data.Logs == "" {
		return
	}
	if kept, err := e.BootLogs.Collect(n.UUID, node.BootName(string(raw)), data.Logs); err != nil {
		e.Log.Info("the logs of a failed inspection are not kept", "node", n.UUID, "err", err)
	} else {
		e.Log.Info("the logs of a failed inspection are kept", "node", n.UUID, "logs", kept)
	}
}
