package redfish

import (
	"net/http"
	"strings"

	"github.com/stmcginnis/gofish/schemas"
)

// bootVirtualCD has an iDRAC boot its virtual CD, once or until further notice. Before firmware 6.00.00.00 it has no
// boot source for it: with Cd it boots a drive of the machine, or the disk where there is none.
func (s *session) bootVirtualCD(sys *schemas.ComputerSystem, persistent bool) error {
	const device, cd = "ServerBoot.1.FirstBootDevice", "VCD-DVD"
	var l systemLinks
	if err := s.reread(sys, &l); err != nil || len(l.Links.ManagedBy) == 0 {
		return broken("%s does not say which manager is its BMC: update the BMC's firmware", sys.ODataID)
	}
	at := strings.TrimRight(l.Links.ManagedBy[0].Path, "/") + "/Attributes"
	once := map[bool]string{true: "Disabled", false: "Enabled"}[persistent]
	err := s.patch(at, map[string]any{"Attributes": map[string]any{"ServerBoot.1.BootOnce": once, device: cd}})
	if refusesValue(err) || status(err) == http.StatusNotFound {
		return broken("the BMC boots a drive of the machine from Cd, and takes no attribute %s for its virtual CD (%s): "+
			"update it to iDRAC firmware 6.00.00.00 or newer, or boot over the network", device, describe(err))
	}
	var now struct{ Attributes map[string]any }
	if err == nil {
		_, err = s.get(at, &now)
	}
	if err == nil && now.Attributes[device] != cd {
		return broken("the BMC accepts %s %s and shows %v: look into its log", device, cd, now.Attributes[device])
	}
	return err
}
