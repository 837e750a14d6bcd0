package host

import (
	"cmp"
	"errors"
	"fmt"
	"net"
	"net/url"
	"slices"
	"strings"

	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli/internal/output"
	"github.com/ferrite-metal/ferrite/proto/hostapi"
)

// importedBMC is how a driver's settings are said in the address of a BMC.
type importedBMC struct {
	driver     string
	user, pass string // keys of driver_info
	known      []string
	address    func(*importing) (address string, insecure bool, err error)
}

// importedBMCs is every driver that has an address.
func importedBMCs() []importedBMC {
	return []importedBMC{
		{"redfish", "redfish_username", "redfish_password",
			[]string{"redfish_address", "redfish_system_id", "redfish_verify_ca"}, (*importing).redfish},
		{"idrac", "redfish_username", "redfish_password",
			[]string{"redfish_address", "redfish_system_id", "redfish_verify_ca"}, (*importing).redfish},
		{"ipmi", "ipmi_username", "ipmi_password", []string{"ipmi_address", "ipmi_port", "ipmi_priv_level"},
			(*importing).ipmi},
		{"fake-hardware", "fake_username", "fake_password", nil, (*importing).fake},
	}
}

// bmc returns the access to the machine's BMC, and the secret with its credentials.
func (i *importing) bmc(name string) (b hostapi.BMC, secret *hostapi.Secret, err error) {
	all := importedBMCs()
	n := slices.IndexFunc(all, func(k importedBMC) bool { return k.driver == i.node.Driver })
	if n < 0 {
		return b, nil, fmt.Errorf("its driver %s has no BMC address that a host could have", i.node.Driver)
	}
	k := all[n]
	if b.Address, b.DisableCertificateVerification, err = k.address(i); err != nil {
		return b, nil, err
	}
	b.CredentialsName = name + "-bmc"
	secret = &hostapi.Secret{
		TypeMeta:   hostapi.TypeMeta{Kind: hostapi.KindSecret, APIVersion: hostapi.CoreVersion},
		ObjectMeta: hostapi.ObjectMeta{Name: b.CredentialsName},
		Type:       hostapi.SecretOpaque,
		StringData: map[string]string{
			"username": textOf(i.node.DriverInfo[k.user]), "password": textOf(i.node.DriverInfo[k.pass]),
		},
	}
	for _, key := range []string{"username", "password"} {
		if value := secret.StringData[key]; value == "" || value == placeholder {
			secret.StringData[key] = placeholder
			i.note("the API does not show the BMC's %s: write it into stringData.%s of Secret %s before you apply it", key, key,
				b.CredentialsName)
		}
	}
	i.leftBehind(append(slices.Clone(k.known), k.user, k.pass))
	return b, secret, nil
}

// leftBehind notes settings of the driver that have no place in a document. The node keeps
// them when it becomes a host's.
func (i *importing) leftBehind(known []string) {
	var left []string
	for _, key := range output.Sorted(i.node.DriverInfo) {
		if !slices.Contains(known, key) {
			left = append(left, key)
		}
	}
	if len(left) > 0 {
		i.note("driver_info has settings that no document has: %s", strings.Join(left, ", "))
	}
}

// redfish says by the scheme how the machine gets its ramdisk.
func (i *importing) redfish() (string, bool, error) {
	u, err := url.Parse(textOf(i.node.DriverInfo["redfish_address"]))
	if err != nil || u.Host == "" { // it may be a host alone
		if u, err = url.Parse("https://" + textOf(i.node.DriverInfo["redfish_address"])); err != nil || u.Host == "" {
			return "", false, fmt.Errorf("driver_info/redfish_address %q is no address of a BMC",
				textOf(i.node.DriverInfo["redfish_address"]))
		}
	}
	scheme := "redfish"
	switch boot := i.node.BootInterface; {
	case strings.HasSuffix(boot, "virtual-media"):
		scheme = "redfish-virtualmedia"
	case boot == "http", boot == "redfish-https":
		scheme = "redfish-uefihttp"
	}
	if i.node.Driver == "idrac" {
		scheme = cmp.Or(map[string]string{"redfish": "idrac-redfish", "redfish-virtualmedia": "idrac-virtualmedia"}[scheme],
			scheme)
	}
	verify, given := i.node.DriverInfo["redfish_verify_ca"]
	if path, isPath := verify.(string); isPath && path != "" &&
		!slices.Contains([]string{"true", "false", "True", "False"}, path) {
		if strings.Contains(path, "-----BEGIN ") {
			path = "PEM text"
		}
		i.note("driver_info/redfish_verify_ca is %s, which no document says: the system's own authorities are trusted", path)
	}
	insecure := given && strings.EqualFold(fmt.Sprint(verify), "false")
	return scheme + "+" + u.Scheme + "://" + u.Host + textOf(i.node.DriverInfo["redfish_system_id"]), insecure, nil
}

func (i *importing) ipmi() (string, bool, error) {
	host := textOf(i.node.DriverInfo["ipmi_address"])
	if host == "" {
		return "", false,
			errors.New("driver_info/ipmi_address is missing: there is no address that the host's document could have")
	}
	const standard = "623"
	if port := output.Cell(i.node.DriverInfo["ipmi_port"]); port != "" && port != standard {
		host = net.JoinHostPort(host, port)
	} else if strings.Contains(host, ":") {
		host = "[" + host + "]"
	}
	address := "ipmi://" + host
	if level := textOf(i.node.DriverInfo["ipmi_priv_level"]); level != "" && level != "ADMINISTRATOR" {
		address += "?privilegelevel=" + url.QueryEscape(level)
	}
	return address, false, nil
}

// fake has no controller; the name keeps it apart from others.
func (i *importing) fake() (string, bool, error) { return "fake://" + i.node.UUID, false, nil }
