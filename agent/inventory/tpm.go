package inventory

import (
	"io/fs"
	"strings"

	"github.com/ferrite-metal/ferrite/proto/agentapi"
)

// TPM is the machine's trusted platform module; nil without one.
func TPM(fsys fs.FS) *agentapi.TPM {
	const folder = "sys/class/tpm/tpm0"
	if !exists(fsys, folder) {
		return nil
	}
	switch major := text(fsys, folder, "tpm_version_major"); { // since Linux 5.6
	case major == "2", strings.Contains(text(fsys, folder, "device/description"), "2.0"):
		return &agentapi.TPM{Version: "2.0"}
	case major == "1", exists(fsys, folder, "device/caps"): // only 1.2's have capabilities there
		return &agentapi.TPM{Version: "1.2"}
	}
	return &agentapi.TPM{}
}
