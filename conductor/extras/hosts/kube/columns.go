package kube

import (
	"slices"
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
		return []column{
			textColumn("Host", "The bound host, with its namespace", func(c *hostapi.HostClaim) string {
				if b := c.Status.BareMetalHost; b != nil {
					return b.Namespace + "/" + b.Name
				}
				return ""
			}),
			textColumn("Ready", "Whether the machine runs the claim's workload", func(c *hostapi.HostClaim) string {
				return conditionOf(c.Status.Conditions, hostapi.ConditionReady).Status
			}),
			textColumn("Reason", "Its reason", func(c *hostapi.HostClaim) string {
				return conditionOf(c.Status.Conditions, hostapi.ConditionReady).Reason
			}),
		}
	case hostapi.KindSubscription:
		return []column{textColumn("Error", "The most recent failure",
			func(s *hostapi.BMCEventSubscription) string { return s.Status.Error })}
	case hostapi.KindPreprovisioningImage:
		return []column{
			textColumn("Ready", "Whether the ramdisk can be fetched", func(p *hostapi.PreprovisioningImage) string {
				return conditionOf(p.Status.Conditions, hostapi.ConditionReady).Status
			}),
			textColumn("Reason", "Its reason", func(p *hostapi.PreprovisioningImage) string {
				return conditionOf(p.Status.Conditions, hostapi.ConditionReady).Reason
			}),
		}
	case hostapi.KindNetworkAttachment:
		return []column{
			textColumn("Mode", "Mode of the switch port", func(a *hostapi.HostNetworkAttachment) string { return a.Spec.Mode }),
			textColumn("Native VLAN", "VLAN of packets without a tag", func(a *hostapi.HostNetworkAttachment) string {
				return strconv.Itoa(a.Spec.NativeVLAN)
			}),
		}
	case hostapi.KindSwitch:
		return []column{
			textColumn("Driver", "Driver of the switch", func(s *hostapi.BareMetalSwitch) string { return s.Spec.Driver }),
			textColumn("Device Type", "Type of the device", func(s *hostapi.BareMetalSwitch) string { return s.Spec.DeviceType }),
			textColumn("Address", "Address of the switch", func(s *hostapi.BareMetalSwitch) string { return s.Spec.Address }),
			textColumn("Valid", "Whether the switch is configured", func(s *hostapi.BareMetalSwitch) string {
				return conditionOf(s.Status.Conditions, hostapi.ConditionValid).Status
			}),
		}
	}
	return nil
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

// conditionOf is a condition of this type; zero for none.
func conditionOf(all []hostapi.Condition, kind string) (c hostapi.Condition) {
	if i := slices.IndexFunc(all, func(c hostapi.Condition) bool { return c.Type == kind }); i >= 0 {
		c = all[i]
	}
	return c
}
