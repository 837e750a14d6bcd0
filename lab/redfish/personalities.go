package redfish

import "slices"

// Personalities is the table of all personalities. Names of products and versions are those that the vendors'
// controllers show.
func Personalities() []Personality {
	return slices.Concat([]Personality{Personality{}.complete()}, dellPersonalities(), hpePersonalities(),
		supermicroPersonalities(), otherPersonalities())
}

func dellPersonalities() []Personality {
	const vendor, product, manufacturer = "Dell", "Integrated Dell Remote Access Controller", "Dell Inc."
	return []Personality{
		{Name: "idrac8", Manufacturer: manufacturer, Model: "PowerEdge R730", ManagerModel: "13G Monolithic",
			Vendor: vendor, Product: product, BIOSVersion: "2.17.0", FirmwareVersion: "2.83.83.83", RedfishVersion: "1.4.0",
			Deviations: []Deviation{ModeByJob, BiosByJob, SlowEject, NotReady, AlreadyThereRefused, SlowAnswers, LegacyTLS}},
		{Name: "idrac9", Manufacturer: manufacturer, Model: "PowerEdge R750", ManagerModel: "15G Monolithic",
			Vendor: vendor, Product: product, BIOSVersion: "1.8.2", FirmwareVersion: "5.10.50.00", RedfishVersion: "1.11.0",
			Deviations: []Deviation{ModeByJob, BiosByJob, SlowEject, NotReady, AlreadyThereRefused, CdByAttribute, MemberMissing,
				KindsMixed}},
		{Name: "idrac10", Manufacturer: manufacturer, Model: "PowerEdge R770", ManagerModel: "17G Monolithic",
			Vendor: vendor, Product: product, BIOSVersion: "1.2.6", FirmwareVersion: "1.20.50.50", RedfishVersion: "1.20.1",
			Deviations: []Deviation{ModeByJob, BiosByJob, SlowEject, NotReady, AlreadyThereRefused, BusyAfterPowerOff,
				ContinuousRefused, ETagsNotForActions}},
	}
}

func hpePersonalities() []Personality {
	ilo := []Deviation{ModeRefusedAlong, BootLockedInPOST, BusyAfterReset, AlreadyThereRefused, EjectWantsBody,
		GzipWeakensETags, ETagsWeakRefused, IdentityRefused}
	return []Personality{
		{Name: "ilo5", Manufacturer: "HPE", Model: "ProLiant DL385 Gen10 Plus v2", ManagerModel: "iLO 5",
			Vendor: "HPE", Product: "ProLiant DL385 Gen10 Plus v2", BIOSVersion: "A42 v2.60 (08/11/2022)",
			FirmwareVersion: "iLO 5 v2.72", RedfishVersion: "1.13.0", Deviations: ilo},
		{Name: "ilo6", Manufacturer: "HPE", Model: "ProLiant DL380a Gen11", ManagerModel: "iLO 6",
			Vendor: "HPE", Product: "ProLiant DL380a Gen11", BIOSVersion: "U58 v2.44 (01/17/2025)",
			FirmwareVersion: "iLO 6 v1.66", RedfishVersion: "1.20.0",
			Deviations: slices.Concat(ilo, []Deviation{NoContinuous, PowerInSteps})},
		{Name: "ilo7", Manufacturer: "HPE", Model: "ProLiant Compute DL380 Gen12", ManagerModel: "iLO 7",
			Vendor: "HPE", Product: "ProLiant Compute DL380 Gen12", BIOSVersion: "U68 v1.30 (04/22/2025)",
			FirmwareVersion: "iLO 7 v1.14.00", RedfishVersion: "1.20.0",
			Deviations: slices.Concat(ilo, []Deviation{NoContinuous, PowerInSteps})},
	}
}

func supermicroPersonalities() []Personality {
	all := []Deviation{ModeFallsBack, MediaWantsProtocol}
	return []Personality{
		{Name: "supermicro-x11", Manufacturer: "Supermicro", Model: "SYS-1029P-WTR", ManagerModel: "ASPEED",
			BIOSVersion: "3.4", FirmwareVersion: "01.74.09", RedfishVersion: "1.8.0",
			Deviations: slices.Concat(all, []Deviation{CdIsADrive, MediaRefusesFlags, ETagsNeverMatch, ExpandFalse,
				CoresAsText})},
		{Name: "supermicro-x12", Manufacturer: "Supermicro", Model: "SYS-120U-TNR", ManagerModel: "X12DPU-6",
			BIOSVersion: "1.4b", FirmwareVersion: "01.04.19", RedfishVersion: "1.9.0",
			Deviations: slices.Concat(all, []Deviation{CdIsADrive, MediaRefusesFlags, MemberMissing})},
		{Name: "supermicro-x13", Manufacturer: "Supermicro", Model: "SYS-121H-TNR", ManagerModel: "X13DEM",
			Vendor: "Supermicro", BIOSVersion: "2.1", FirmwareVersion: "01.03.16", RedfishVersion: "1.14.0",
			Deviations: slices.Concat(all, []Deviation{UsbCd, PowerInSteps})},
	}
}

func otherPersonalities() []Personality {
	return []Personality{
		{Name: "xcc", Manufacturer: "Lenovo", Model: "ThinkSystem SR650 V2", ManagerModel: "Lenovo XClarity Controller",
			Vendor: "Lenovo", BIOSVersion: "AFE120G-1.40", FirmwareVersion: "AFBT30P 3.92", RedfishVersion: "1.15.0",
			Deviations: []Deviation{ETagsWeak, ETagsWeakRefused, ETagsRequired, MediaByPatch, BusyAtTimes}},
		{Name: "ami", Manufacturer: "American Megatrends International, LLC.", Model: "MegaRAC SP-X",
			ManagerModel: "MegaRAC SP-X", Vendor: "AMI", Product: "AMI Redfish Server", BIOSVersion: "5.27",
			FirmwareVersion: "13.6.1", RedfishVersion: "1.15.1",
			Deviations: []Deviation{FullBootRequest, BootInSettings, ETagsUnquoted, ETagsQuotedRefused, MediaWantsProtocol,
				MediaWantsCredentials, ResetByTask}},
		{Name: "openbmc", ManagerModel: "OpenBmc", FirmwareVersion: "2.16.0", RedfishVersion: "1.17.0",
			Deviations: []Deviation{VendorEmpty, ProcessorsMissing, TwoSystems, PowerInSteps, GzipWeakensETags}},
	}
}
