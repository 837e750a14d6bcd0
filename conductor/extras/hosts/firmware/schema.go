package firmware

import (
	"crypto/sha256"
	"fmt"
	"slices"
	"strconv"

	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/proto/hostapi"
)

// SchemaName is the name of the schema for BIOS settings. All machines with the same possible settings share it. Metal3
// computes the same name, so that hosts that move from there find their schema.
func SchemaName(reported []node.BIOSSetting) string {
	var words []string
	for _, is := range reported {
		s := schemaOf(is)
		words = append(append(words, is.Name, s.AttributeType), s.AllowableValues...)
		for _, n := range []*int64{s.LowerBound, s.UpperBound, s.MinLength, s.MaxLength} {
			if n != nil {
				words = append(words, strconv.FormatInt(*n, 10))
			}
		}
		if s.ReadOnly != nil {
			words = append(words, strconv.FormatBool(*s.ReadOnly))
		}
	}
	slices.Sort(words)
	return fmt.Sprintf("schema-%x", sha256.Sum256(fmt.Append(nil, words)))[:len("schema-")+8]
}

// schemaOf returns the possible values of a setting.
func schemaOf(s node.BIOSSetting) hostapi.SettingSchema {
	return hostapi.SettingSchema{
		AttributeType: s.AttributeType, AllowableValues: s.AllowableValues, LowerBound: s.LowerBound,
		UpperBound: s.UpperBound,
		MinLength:  s.MinLength, MaxLength: s.MaxLength, ReadOnly: s.ReadOnly, Unique: s.Unique,
	}
}

// described is schemaOf for a document, which leaves out types that Redfish does not have.
func described(is node.BIOSSetting) hostapi.SettingSchema {
	s := schemaOf(is)
	switch s.AttributeType {
	case hostapi.SettingEnumeration, hostapi.SettingString, hostapi.SettingInteger, hostapi.SettingBoolean:
	default:
		s.AttributeType = ""
	}
	return s
}

// maxOwners bounds the owners of a schema: a list of a thousand hosts would be read and written for each of them.
// Should the schema be deleted with the last listed owner, another host makes it again.
const maxOwners = 16

// held reports whether a schema stays for the sake of a HostFirmwareSettings, or of
// enough others.
func held(s hostapi.FirmwareSchema, by string) bool {
	return len(s.OwnerReferences) >= maxOwners ||
		slices.ContainsFunc(s.OwnerReferences, func(o hostapi.OwnerReference) bool { return o.UID == by })
}

// Schema derives the schema of a host's BIOS settings. It is made after the inspection, which reports the vendor. The
// HostFirmwareSettings that name it own it. changed is false when it is up to date, or when there is nothing to
// describe.
func Schema(facts Facts) (next hostapi.FirmwareSchema, changed bool) {
	owner, was := facts.Documents.Settings, facts.Documents.Schema
	if !KeepsFirmware(facts) || facts.Documents.Described || owner == nil || len(facts.Report.BIOS) == 0 ||
		facts.Host.Status.Provisioning.State == hostapi.StateInspecting {
		return next, false
	}
	if was != nil {
		if held(*was, owner.UID) {
			return next, false
		}
		next = *was
	} else {
		next.Name, next.Namespace = SchemaName(facts.Report.BIOS), facts.Host.Namespace
		next.Spec.Schema = map[string]hostapi.SettingSchema{}
		for _, is := range facts.Report.BIOS {
			if !hostapi.SecretSetting(is.Name) && is.AttributeType != hostapi.SettingPassword {
				next.Spec.Schema[is.Name] = described(is)
			}
		}
		if h := facts.Host.Status.Hardware; h != nil {
			next.Spec.HardwareVendor, next.Spec.HardwareModel = h.SystemVendor.Manufacturer, h.SystemVendor.ProductName
		}
	}
	next.OwnerReferences = hostapi.WithOwner(next.OwnerReferences, hostapi.KindFirmwareSettings, owner.ObjectMeta)
	return next, true
}
