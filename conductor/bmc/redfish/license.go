package redfish

import (
	"errors"
	"fmt"
	"strings"

	"github.com/stmcginnis/gofish/schemas"
)

// licenseMessages are parts of the messages of BMCs without a license: iLO's LicenseKeyRequired, Supermicro's
// OemLicenseNotPassed, the License registry of Lenovo and DMTF, iDRAC's LIC.
var licenseMessages = []string{"license", ".lic5", ".lic9"}

// unlicensed replaces a refusal for lack of a license by an error that names the remedy.
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

// refusalText is the full text of a BMC's refusal.
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
