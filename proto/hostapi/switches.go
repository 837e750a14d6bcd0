package hostapi

import (
	"fmt"
	"strconv"
	"strings"
)

// HostNetworkAttachment is the setting of a switch port that the networkInterfaces of hosts name.
type HostNetworkAttachment struct {
	TypeMeta
	ObjectMeta `json:"metadata" doc:"Metadata that all documents share."`

	Spec   HostNetworkAttachmentSpec `json:"spec" doc:"The wanted setting."`
	Status SwitchStatus              `json:"status,omitzero" doc:"Whether it is made, written by the conductor."`
}

// HostNetworkAttachmentSpec is the wanted setting of a switch port.
type HostNetworkAttachmentSpec struct {
	Mode         string   `json:"mode" rule:"required,enum=access/trunk/hybrid" doc:"Whether the port has one VLAN (access), several (trunk), or both; access when left out."`
	NativeVLAN   int      `json:"nativeVLAN" rule:"required,min=1,max=4094" doc:"VLAN of packets without a tag."`
	AllowedVLANs []string `json:"allowedVLANs,omitempty" doc:"VLANs of packets with a tag, each a number or a range like 100-200."`
	MTU          *int     `json:"mtu,omitempty" rule:"min=68,max=9216" doc:"Longest packet, in bytes."`
}

// SetDefaults is the schema's default of Metal3.
func (a *HostNetworkAttachment) SetDefaults() {
	if a.Spec.Mode == "" {
		a.Spec.Mode = "access"
	}
}

// SwitchStatus is the state of a document about switches.
type SwitchStatus struct {
	Conditions []Condition `json:"conditions,omitempty" doc:"Whether the document is acted upon (Valid), and why not."`
}

// BareMetalSwitch is a switch that machines are attached to.
type BareMetalSwitch struct {
	TypeMeta
	ObjectMeta `json:"metadata" doc:"Metadata that all documents share."`

	Spec   BareMetalSwitchSpec `json:"spec" doc:"Access to the switch."`
	Status SwitchStatus        `json:"status,omitzero" doc:"Whether it is configured, written by the conductor."`
}

// BareMetalSwitchSpec is the access to a switch.
type BareMetalSwitchSpec struct {
	Address                        string           `json:"address" rule:"required" doc:"Address or name of the switch."`
	MACAddress                     string           `json:"macAddress" rule:"required,form=mac" doc:"MAC address of its management port, as LLDP reports it."`
	Driver                         string           `json:"driver,omitempty" rule:"enum=generic-switch" doc:"Its driver; generic-switch when left out."`
	DeviceType                     string           `json:"deviceType" rule:"required" doc:"Type of the device, in the words of networking-generic-switch, as netmiko_cisco_ios."`
	Credentials                    *SecretReference `json:"credentials,omitempty" doc:"Secret with username, and password or ssh-privatekey."`
	Port                           *int             `json:"port,omitempty" rule:"min=1,max=65535" doc:"Port of its management; the driver's own when left out."`
	DisableCertificateVerification bool             `json:"disableCertificateVerification,omitempty" doc:"Whether the certificate of the switch is not checked."`
}

// SetDefaults is the schema's default of Metal3.
func (s *BareMetalSwitch) SetDefaults() {
	if s.Spec.Driver == "" {
		s.Spec.Driver = "generic-switch"
	}
}

// checkNetworkAttachment has the rules of Metal3's webhook.
func checkNetworkAttachment(a *HostNetworkAttachment, add report) {
	if a.Spec.Mode == "access" && len(a.Spec.AllowedVLANs) > 0 {
		add(Problem{Path: "spec.allowedVLANs", Forbidden: true,
			Reason: "a port of the mode access has the native VLAN alone"})
	}
	for i, entry := range a.Spec.AllowedVLANs {
		first, last, isRange := strings.Cut(entry, "-")
		from, okFrom := vlan(first)
		to, okTo := vlan(last)
		if !okFrom || isRange && (!okTo || from >= to) {
			add(Problem{Path: fmt.Sprintf("spec.allowedVLANs[%d]", i), Value: entry,
				Reason: "expected a VLAN from 1 to 4094, or a range like 100-200"})
		}
	}
}

func vlan(text string) (id int, ok bool) {
	id, err := strconv.Atoi(text)
	return id, err == nil && id >= 1 && id <= 4094
}

// SwitchStatus is the status, for code that handles both kinds.
func (a *HostNetworkAttachment) SwitchStatus() *SwitchStatus { return &a.Status }

// SwitchStatus is the status, for code that handles both kinds.
func (s *BareMetalSwitch) SwitchStatus() *SwitchStatus { return &s.Status }
