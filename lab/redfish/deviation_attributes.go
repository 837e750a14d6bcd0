package redfish

import (
	"net/http"

	"github.com/ferrite-metal/ferrite/lab/qemu"
)

// attributesPath is where iDRACs have the attributes of their own.
const attributesPath = managerPath + "/Attributes"

// bootAttributes are the attributes that choose the first boot device.
type bootAttributes struct {
	Once   string `json:"ServerBoot.1.BootOnce"`
	Device string `json:"ServerBoot.1.FirstBootDevice"`
}

// lifetimes are the values of BootOnce.
var lifetimes = map[qemu.Enabled]string{qemu.Once: "Enabled", qemu.Continuous: "Disabled"}

func (s *Server) getAttributes(*http.Request) (reply, error) {
	a := bootAttributes{"Disabled", "Normal"}
	if b := s.machine.Boot(); b.Target == qemu.TargetCd {
		a = bootAttributes{lifetimes[b.Enabled], "VCD-DVD"}
	}
	return ok(map[string]any{"@odata.id": attributesPath, "Attributes": a})
}

// patchAttributes takes the virtual CD, and nothing else.
func (s *Server) patchAttributes(r *http.Request) (reply, error) {
	var p struct{ Attributes bootAttributes }
	if err := decode(r, &p); err != nil {
		return reply{}, err
	}
	if p.Attributes.Device != "VCD-DVD" {
		return reply{}, problem(valueNotInList, p.Attributes.Device, "ServerBoot.1.FirstBootDevice")
	}
	boot := s.machine.Boot()
	boot.Target, boot.Enabled = qemu.TargetCd, qemu.Continuous
	if p.Attributes.Once == lifetimes[qemu.Once] {
		boot.Enabled = qemu.Once
	}
	if err := s.machine.SetBoot(boot); err != nil {
		return reply{}, err
	}
	return noContent()
}
