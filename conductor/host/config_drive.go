package host

import (
	"maps"

	"github.com/ferrite-metal/ferrite/proto/hostapi"
)

// configDrive is what the machine is told about itself: user_data, network_data
// and meta_data, in Ironic's form. A live ISO gets none: many BMCs have one
// virtual drive alone.
func (d *decision) configDrive() (map[string]any, error) {
	if liveISO(d.h.Spec.Image) {
		return nil, nil
	}
	drive := map[string]any{}
	user, err := d.text("spec.userData", d.h.Spec.UserData, "userData", false)
	if err != nil {
		return nil, err
	}
	if user != "" {
		drive["user_data"] = user
	}
	network, err := d.networkData()
	if err != nil {
		return nil, err
	}
	if network != nil {
		drive["network_data"] = network
	}
	meta := map[string]any{
		"uuid": d.h.UID, "metal3-namespace": d.h.Namespace, "metal3-name": d.h.Name,
		"local-hostname": d.h.Name, "local_hostname": d.h.Name, "name": d.h.Name,
	}
	text, err := d.text("spec.metaData", d.h.Spec.MetaData, "metaData", false)
	if err != nil {
		return nil, err
	}
	said, err := object("spec.metaData", text)
	if err != nil {
		return nil, err
	}
	maps.Copy(meta, said)
	drive["meta_data"] = meta
	return drive, nil
}

// networkData is that of the instance or, where nothing is said of it, that of
// the ramdisk.
func (d *decision) networkData() (map[string]any, error) {
	field, ref := "spec.networkData", d.h.Spec.NetworkData
	if ref == nil {
		field, ref = "spec.preprovisioningNetworkDataName", &hostapi.SecretReference{Name: d.h.Spec.PreprovisioningNetworkDataName}
	}
	text, err := d.text(field, ref, "networkData", true)
	if err != nil {
		return nil, err
	}
	return object(field, text)
}
