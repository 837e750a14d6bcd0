package redfish

import (
	"errors"
	"fmt"
	"strings"

	"github.com/stmcginnis/gofish/schemas"
)

// licenseMessages are what BMCs call a license that is missing: iLO's LicenseKeyRequired,
// Supermicro's OemLicenseNotPassed, Lenovo's and DMTF's of the License registry, iDRAC's LIC.
var licenseMessages = []string{"license", ".lic5", ".lic9"}

// unlicensed says of a refusal that it is about a license, and what to do then.
func unlicensed(err error) error {
	id := strings.ToLower(messageID(err))
	for _, name := range licenseMessages {
		if id != "" && strings.Contains(id, name) {
			return &stepError{fmt.Sprintf("the BMC has no license for virtual media: install one (iDRAC Enterprise, "+
				"iLO Advanced, "+
				"Supermicro SFT-OOB-LIC or the like), or boot the node from the network (%v)", describe(err))}
		}
	}
	return err
}

// refusalText is all that a BMC says in a refusal.
func refusalText(err error) string {
	var e *schemas.Error
	if !errors.As(err, &e) {
		return ""
	}
	said := e.Message
	for _, i := range e.ExtendedInfos {
		said += " " + i.Message + " " + strings.Join(i.MessageArgs, " ")
	}
	return said
}
