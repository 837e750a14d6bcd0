package api

import (
	"net/http"
	"slices"

	"github.com/ferrite-metal/ferrite/conductor/api/rest"
	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// driverResource is the hardware types.
type driverResource struct{ access }

// routes serves the enabled hardware types.
func (h *driverResource) routes() []rest.Route {
	return []rest.Route{
		{Method: http.MethodGet, Path: "/v1/drivers", Doc: "the enabled hardware types", Handle: h.listDrivers,
			Wire: rest.Returns(rest.PageForm("drivers", driverForm()), "type", "detail", "fields")},
		{Method: http.MethodGet, Path: "/v1/drivers/:driver", Doc: "one hardware type with its interfaces",
			Handle: h.showDriver, Wire: rest.Returns(driverForm())},
		{Method: http.MethodGet, Path: "/v1/drivers/:driver/properties", Doc: "the keys its driver_info can have",
			Handle: h.driverProperties, Wire: rest.Returns(rest.FormOf(map[string]string{}))},
	}
}

// interfaceSince is the first microversion of each kind of interface. 1.30 introduced hardware types, with most kinds.
func interfaceSince(kind string) int {
	switch kind {
	case "storage":
		return 33
	case "rescue":
		return 38
	case "bios":
		return 40
	case "firmware":
		return 86
	}
	return 30
}

func (h *driverResource) listDrivers(c *rest.Call) error {
	q := c.QueryParams()
	if err := rest.Unexpected(rest.SortedKeys(q), []string{"type", "detail", "fields"}); err != nil {
		return err
	}
	if (q.Has("type") || q.Has("detail")) && c.Minor < 30 {
		return rest.NotAcceptable()
	}
	kind, detail := q.Get("type"), false
	if kind != "" && kind != "dynamic" && kind != "classic" {
		return rest.BadRequest(`The type %q is not valid: it is classic or dynamic`, kind)
	}
	if q.Has("detail") {
		var err error
		if detail, err = rest.ParseBool("detail", q.Get("detail")); err != nil {
			return err
		}
	}
	drivers := []map[string]any{}
	for _, hw := range h.conductor.HardwareTypes() {
		if kind != "classic" { // there are none of that kind any more
			drivers = append(drivers, h.driver(c, hw, detail))
		}
	}
	return c.Marshal(http.StatusOK, map[string]any{"drivers": drivers})
}

// driver is one hardware type as JSON.
func (h *driverResource) driver(c *rest.Call, hw node.HardwareType, detail bool) map[string]any {
	d := map[string]any{"name": hw.Name, "hosts": []string{h.conductor.ConductorName()},
		"links": c.Links("drivers/" + hw.Name)}
	if c.Minor >= 14 {
		d["properties"] = c.Links("drivers/" + hw.Name + "/properties")
	}
	if c.Minor < 30 {
		return d
	}
	d["type"] = "dynamic"
	if !detail {
		return d
	}
	for kind, names := range hw.Interfaces {
		if interfaceSince(kind) <= c.Minor {
			d["default_"+kind+"_interface"], d["enabled_"+kind+"_interfaces"] = rest.Nullable(hw.Default(kind)), names
		}
	}
	return d
}

func (h *driverResource) showDriver(c *rest.Call) error {
	hw, err := hardwareType(c, h.conductor.HardwareTypes())
	if err != nil {
		return err
	}
	return c.Marshal(http.StatusOK, h.driver(c, hw, true))
}

func (h *driverResource) driverProperties(c *rest.Call) error {
	hw, err := hardwareType(c, h.conductor.HardwareTypes())
	if err != nil {
		return err
	}
	properties := map[string]string{}
	for _, p := range driverInfoKeys() {
		if slices.Contains(p.drivers, node.BaseType(hw.Name)) {
			properties[p.key] = p.meaning
		}
	}
	return c.Marshal(http.StatusOK, properties)
}

// driverInfoKey is one key that driver_info can have.
type driverInfoKey struct {
	key     string
	drivers []string
	meaning string
}

func driverInfoKeys() []driverInfoKey {
	redfish, ipmi, all := []string{"redfish"}, []string{"ipmi"},
		[]string{"fake-hardware", "ipmi", "manual-management", "redfish"}
	return []driverInfoKey{
		{"redfish_address", redfish, "URL of the Redfish service; https unless it says otherwise. Required."},
		{"redfish_system_id", redfish,
			"Path of the ComputerSystem, like /redfish/v1/Systems/1. Required when the service has more than one."},
		{"redfish_username", redfish, "User name for the Redfish service. Optional."},
		{"redfish_password", redfish, "Password for the Redfish service. Optional."},
		{"redfish_verify_ca", redfish,
			"Whether the service's certificate is checked: true, false, the authorities as PEM, or the path of a file or " +
				"folder of them in --ca-folder. Optional."},
		{"redfish_ssh_host_key", redfish,
			"SSH host key of the BMC's serial console: SHA256:..., or the key itself. Without " +
				"it the key of the first console is believed from then on. Optional."},
		{"redfish_auth_type", redfish, "basic, session or auto (the default). Optional."},
		{"redfish_root_prefix", redfish,
			"Path of the service root, /redfish/v1 by default, unless redfish_address ends with it. Optional."},
		{"redfish_tls_minimum_version", redfish,
			"Oldest version of TLS: 1.1, 1.2 or 1.3; --bmc-tls-minimum-version by default. Optional."},
		{"redfish_tls_ciphers", redfish,
			"Cipher suites of TLS 1.2, by OpenSSL's names with colons between; --bmc-tls-ciphers by default. Optional."},
		{"firmware_update_unresponsive_bmc_wait", redfish,
			"Seconds to wait after an update of firmware that has no wait of its own. Optional."},
		{"ipmi_address", ipmi, "IP address or host name of the BMC. Required."},
		{"ipmi_username", ipmi, "User name on the BMC. Optional."},
		{"ipmi_password", ipmi, "Password on the BMC. Optional."},
		{"ipmi_port", ipmi, "UDP port of the BMC, 623 by default. Optional."},
		{"ipmi_priv_level", ipmi, "Privilege level: ADMINISTRATOR (the default), OPERATOR, USER or CALLBACK. Optional."},
		{"ipmi_cipher_suite", ipmi, "RMCP+ cipher suite, 17 or 3; the better one that the BMC takes by default. Optional."},
		{"ipmi_protocol_version", ipmi, "2.0, the only one spoken. Optional."},
		{"ipmi_disable_boot_timeout", ipmi,
			"Whether the BMC is kept from forgetting a boot device after a minute, true by default. Optional."},
		{"ipmi_force_boot_device", ipmi,
			"Must be false: a boot device is set when it is needed, and not again at every start. Optional."},
		{"ipmi_bridging", ipmi, "Must be no: single and dual bridging are not supported. Optional."},
		{"ipmi_hex_kg_key", ipmi, "Must not be set: BMC keys (Kg) are not supported. Optional."},
		{"image_pull_secret", all,
			"Secret for images in the container registries of image_pull_registry: user:password, or base64 of it. Optional."},
		{"image_pull_registry", all,
			"Registries that image_pull_secret is for, each as host[:port], separated by commas. Required if there is one."},
		{"agent_verify_ca", all,
			"Whether the certificate of an agent that announces none is checked: true, false, the authorities as PEM, or the " +
				"path of a file or folder of them in --ca-folder. Optional."},
		{"deploy_kernel", all, "URL of another kernel for the ramdisk than the conductor's own. Optional."},
		{"deploy_ramdisk", all, "URL of another ramdisk than the conductor's own. Optional."},
		{"kernel_append_params", all, "Additional words for the ramdisk's kernel command line. Optional."},
	}
}

// hardwareType finds the one a path names.
func hardwareType(c *rest.Call, all []node.HardwareType) (node.HardwareType, error) {
	name := c.Param("driver")
	i := slices.IndexFunc(all, func(hw node.HardwareType) bool { return hw.Name == name })
	if i < 0 {
		return node.HardwareType{}, nodeapi.NewFault(http.StatusNotFound,
			"Could not find the following driver(s) or hardware type(s): %s.", name)
	}
	return all[i], nil
}
