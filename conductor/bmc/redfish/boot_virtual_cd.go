package redfish

import (
	"net/http"
	"strings"

	"github.com/stmcginnis/gofish/schemas"
)

// The attributes of an iDRAC that choose the first boot device, and whether for the next boot alone.
const (
	firstBootDevice = "ServerBoot.1.FirstBootDevice"
	bootOnce        = "ServerBoot.1.BootOnce"
	virtualCD       = "VCD-DVD"
)

// bootVirtualCD has an iDRAC boot its virtual CD, once or until further notice. Before firmware 6.00.00.00 it has no
// boot source for it: with Cd it boots a drive of the machine, or the disk where there is none.
func (s *session) bootVirtualCD(sys *schemas.ComputerSystem, persistent bool) error {
	var l systemLinks
	if err := s.reread(sys, &l); err != nil {
		return err
	}
	if len(l.Links.ManagedBy) == 0 {
		return broken("%s does not say which manager is its BMC: update the BMC's firmware", sys.ODataID)
	}
	at := strings.TrimRight(l.Links.ManagedBy[0].Path, "/") + "/Attributes"
	once := map[bool]string{true: "Disabled", false: "Enabled"}[persistent]
	err := s.patch(at, map[string]any{"Attributes": map[string]any{bootOnce: once, firstBootDevice: virtualCD}})
	if refusesValue(err) || status(err) == http.StatusNotFound {
		return broken("the BMC boots a drive of the machine from Cd, and takes no attribute %s for its virtual CD (%s): "+
			"update it to iDRAC firmware 6.00.00.00 or newer, or boot over the network", firstBootDevice, describe(err))
	}
	if err != nil {
		return err
	}
	var now struct{ Attributes map[string]any }
	if _, err := s.get(at, &now); err != nil {
		return err
	}
	if got := now.Attributes[firstBootDevice]; got != virtualCD {
		return broken("the BMC accepts %s %s and shows %v: look into its log", firstBootDevice, virtualCD, got)
	}
	return nil
}
