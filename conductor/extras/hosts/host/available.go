package host

import (
	"reflect"

	"github.com/ferrite-metal/ferrite/conductor/extras/hosts/translate"
	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/proto/hostapi"
)

// handleAvailable waits for work, on or off as the document has it.
func (d *decision) handleAvailable() {
	if image := d.h.Spec.Image; image == nil || image.URL == "" {
		d.h.Status.ProvisioningFailCount, d.h.Status.LastAttemptedImage = 0, nil
	}
	switch {
	case d.h.Spec.ExternallyProvisioned && d.facts.Node.ProvisionState == node.Available: // where it could be given away
		d.do(verb(node.Manage), hostapi.ProvisionedRegistrationError)
	case d.h.Spec.ExternallyProvisioned:
		d.clearSettings()
		d.fire(External)
	case d.holdForeign():
	case d.inspectAsked():
		d.fire(InspectAsked)
	case d.settingsDiffer(d.wantedSettings()), d.firmwareToPrepare().Asked():
		d.fire(SettingsDiffer)
	case d.imageWanted():
		if !reflect.DeepEqual(d.h.Spec.Image, d.h.Status.LastAttemptedImage) {
			d.h.Status.ProvisioningFailCount = 0
		}
		d.clearError()
		d.fire(ImageWanted)
	default:
		d.managePower()
	}
}

// imageWanted: there is something to be put onto a machine that is to be on.
func (d *decision) imageWanted() bool {
	spec, is := d.h.Spec, d.h.Status.Provisioning
	image := spec.Image != nil && spec.Image.URL != "" && (is.Image == nil || is.Image.URL == "")
	custom := translate.CustomMethod(spec.CustomDeploy) != "" &&
		translate.CustomMethod(is.CustomDeploy) != translate.CustomMethod(spec.CustomDeploy)
	return spec.Online && (image || custom)
}

// cancelled reports whether the spec no longer wants the workload that the machine runs or is given. Another URL or
// another method counts as another workload; another checksum does not.
func (d *decision) cancelled() bool {
	spec, is := d.h.Spec, d.h.Status.Provisioning
	wanted, runs := translate.ImageURL(spec.Image), translate.ImageURL(is.Image)
	if method := translate.CustomMethod(spec.CustomDeploy); method != "" {
		before := translate.CustomMethod(is.CustomDeploy)
		return before != "" && before != method || runs != "" && runs != wanted
	}
	return translate.CustomMethod(is.CustomDeploy) != "" || wanted == "" || runs != "" && runs != wanted
}
