package kube

import (
	"strconv"
	"time"

	"github.com/ferrite-metal/ferrite/proto/hostapi"
)

// unaged are the kinds that Metal3 shows without their age.
var unaged = map[string]bool{hostapi.KindSwitch: true}

// furtherColumns are the columns between name and age: Metal3's, and for claims, which have none there, the bound host.
func furtherColumns(kind string) []column {
	switch kind {
	case hostapi.KindClaim:
		return append([]column{textColumn("Host", "The bound host, with its namespace", func(c *hostapi.HostClaim) string {
			if b := c.Status.BareMetalHost; b != nil {
				return b.Namespace + "/" + b.Name
			}
			return ""
		})}, readyColumns("Whether the machine runs the claim's workload",
			func(c *hostapi.HostClaim) []hostapi.Condition { return c.Status.Conditions })...)
	case hostapi.KindSubscription:
		return []column{textColumn("Error", "The most recent failure",
			func(s *hostapi.BMCEventSubscription) string { return s.Status.Error })}
	case hostapi.KindPreprovisioningImage:
		return readyColumns("Whether the ramdisk can be fetched",
			func(p *hostapi.PreprovisioningImage) []hostapi.Condition { return p.Status.Conditions })
	case hostapi.KindNetworkAttachment:
		type attachment = hostapi.HostNetworkAttachment
		return []column{
			textColumn("Mode", "Mode of the switch port", func(a *attachment) string { return a.Spec.Mode }),
			textColumn("Native VLAN", "VLAN of packets without a tag",
				func(a *attachment) string { return strconv.Itoa(a.Spec.NativeVLAN) }),
		}
	case hostapi.KindSwitch:
		type device = hostapi.BareMetalSwitch
		return []column{
			textColumn("Driver", "Driver of the switch", func(s *device) string { return s.Spec.Driver }),
			textColumn("Device Type", "Type of the device", func(s *device) string { return s.Spec.DeviceType }),
			textColumn("Address", "Address of the switch", func(s *device) string { return s.Spec.Address }),
			textColumn("Valid", "Whether the switch is configured", func(s *device) string {
				return hostapi.ConditionOf(s.Status.Conditions, hostapi.ConditionValid).Status
			}),
		}
	}
	return nil
}

// readyColumns are the status and the reason of the condition Ready.
func readyColumns[T any](doc string, conditions func(*T) []hostapi.Condition) []column {
	ready := func(d *T) hostapi.Condition { return hostapi.ConditionOf(conditions(d), hostapi.ConditionReady) }
	return []column{
		textColumn("Ready", doc, func(d *T) string { return ready(d).Status }),
		textColumn("Reason", "Its reason", func(d *T) string { return ready(d).Reason }),
	}
}

// textColumn is a column of the documents of type T.
func textColumn[T any](name, doc string, cell func(*T) string) column {
	return column{Name: name, Type: "string", Description: doc, cell: func(d hostapi.Document, _ time.Time) any {
		if v, ok := d.(any).(*T); ok {
			return cell(v)
		}
		return ""
	}}
}
