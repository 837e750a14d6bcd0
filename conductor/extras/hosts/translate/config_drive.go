package translate

import (
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"strings"
	"unicode/utf8"

	"github.com/ferrite-metal/ferrite/proto/hostapi"
	"github.com/ferrite-metal/ferrite/proto/netconfig"
)

// ConfigDrive is the content of the machine's config drive: user_data, network_data
// and meta_data, in Ironic's form. A live ISO gets none: many BMCs have one
// virtual drive alone.
func (s Source) ConfigDrive() (map[string]any, error) {
	if LiveISO(s.Host.Spec.Image) {
		return nil, nil
	}
	drive := map[string]any{}
	user, err := s.text("spec.userData", s.Host.Spec.UserData, "userData", false)
	if err == nil {
		user, err = plainUserData(user)
	}
	if err != nil {
		return nil, err
	}
	if user != "" {
		drive["user_data"] = user
	}
	network, err := s.networkData()
	if err != nil {
		return nil, err
	}
	if network != nil {
		drive["network_data"] = network
	}
	meta := map[string]any{
		"uuid": s.Host.UID, "metal3-namespace": s.Host.Namespace, "metal3-name": s.Host.Name,
		"local-hostname": s.Host.Name, "local_hostname": s.Host.Name, "name": s.Host.Name,
	}
	text, err := s.text("spec.metaData", s.Host.Spec.MetaData, "metaData", false)
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

// plainUserData is user data as text: the drive's documents are JSON, which has no bytes that are not UTF-8. cloud-init
// takes gzip, which Terraform's base64gzip makes, and unpacks it before anything else.
func plainUserData(user string) (string, error) {
	if strings.HasPrefix(user, "\x1f\x8b") {
		z, err := gzip.NewReader(strings.NewReader(user))
		if err != nil {
			return "", fmt.Errorf("spec.userData begins as gzip and is none: %w", err)
		}
		text, err := io.ReadAll(io.LimitReader(z, maxUserData+1))
		if err != nil {
			return "", fmt.Errorf("spec.userData is damaged gzip: %w", err)
		}
		if len(text) > maxUserData {
			return "", fmt.Errorf("spec.userData is gzip of more than %d bytes", maxUserData)
		}
		user = string(text)
	}
	if !utf8.ValidString(user) {
		return "", errors.New("spec.userData is no UTF-8 text: expected cloud-config, a script, MIME or Ignition's JSON, " +
			"or gzip of one")
	}
	return user, nil
}

// maxUserData bounds the unpacked size of gzip data, in bytes: a config drive has 64 MiB.
const maxUserData = 16 << 20

// networkData is the instance's network data or, where the document has none, the ramdisk's.
func (s Source) networkData() (map[string]any, error) {
	field, ref := "spec.networkData", s.Host.Spec.NetworkData
	if ref == nil {
		text, err := s.PrebootNetworkText()
		if err != nil {
			return nil, err
		}
		return ParsePrebootNetwork(text)
	}
	text, err := s.text(field, ref, "networkData", true)
	if err != nil {
		return nil, err
	}
	return object(field, text)
}

const prebootField = "spec.preprovisioningNetworkDataName"

// PrebootNetworkText is the network data of the ramdisk, as its secret has it: under the key
// networkData, value or nmstate.
func (s Source) PrebootNetworkText() (string, error) {
	ref := &hostapi.SecretReference{Name: s.Host.Spec.PreprovisioningNetworkDataName}
	text, err := s.text(prebootField, ref, "networkData", true)
	if err != nil || text != "" {
		return text, err
	}
	return s.text(prebootField, ref, "nmstate", true)
}

// ParsePrebootNetwork reads the network data of the ramdisk, in OpenStack's form or as nmstate,
// which has interfaces where the other has links; nil for empty text. Text that a ramdisk cannot
// follow is an error, which names the member.
func ParsePrebootNetwork(text string) (map[string]any, error) {
	data, err := object(prebootField, text)
	if err != nil || data == nil {
		return nil, err
	}
	plain, err := json.Marshal(data)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", prebootField, err)
	}
	if _, is := data["interfaces"]; is {
		if plain, err = netconfig.NMState(plain); err != nil {
			return nil, fmt.Errorf("%s: %w", prebootField, err)
		}
		return object(prebootField, string(plain))
	}
	if _, err := netconfig.NetworkData(plain); err != nil {
		return nil, fmt.Errorf("%s: %w", prebootField, err)
	}
	return data, nil
}
