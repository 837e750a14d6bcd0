package hostapi

// Document is any document, for code that handles all kinds.
type Document interface {
	About() *TypeMeta
	Meta() *ObjectMeta
}

// Kind describes a kind of documents: its names and its abilities.
type Kind struct {
	Kind       string
	Group      string // "" for Kubernetes' core
	Version    string
	Plural     string // as in paths
	Singular   string
	Short      []string
	Categories []string
	Namespaced bool
	Status     bool   // its status is written apart from the rest
	Doc        string // purpose, as in kubectl explain
	New        func() Document
}

// Kinds is every kind there is.
func Kinds() []Kind { return append(oneMachine(), furtherKinds()...) }

// oneMachine are the kinds about one machine, and Kubernetes' own.
func oneMachine() []Kind {
	return []Kind{
		{
			Kind: KindNamespace, Version: CoreVersion, Plural: "namespaces", Singular: "namespace",
			Short: []string{"ns"}, New: func() Document { return &Namespace{} },
			Doc: "Documents in a namespace have names of their own.",
		},
		{
			Kind: KindSecret, Version: CoreVersion, Plural: "secrets", Singular: "secret",
			Namespaced: true, New: func() Document { return &Secret{} },
			Doc: "Credentials, user data or network data, kept encrypted.",
		},
		{
			Kind: KindHost, Group: Group, Version: Version, Plural: "baremetalhosts", Singular: "baremetalhost",
			Short: []string{"bmh", "bmhost"}, Categories: []string{"metal3"}, Namespaced: true, Status: true,
			New: func() Document { return &Host{} },
			Doc: "A machine: its wanted state, and its actual state.",
		},
		{
			Kind: KindHardwareData, Group: Group, Version: Version, Plural: "hardwaredata", Singular: "hardwaredata",
			Short: []string{"hd"}, Categories: []string{"metal3"}, Namespaced: true,
			New: func() Document { return &HardwareData{} },
			Doc: "The result of the inspection of the host of the same name.",
		},
		{
			Kind: KindDataImage, Group: Group, Version: Version, Plural: "dataimages", Singular: "dataimage",
			Namespaced: true, Status: true, New: func() Document { return &DataImage{} },
			Doc: "An image for the virtual CD drive of the host of the same name.",
		},
		{
			Kind: KindFirmwareSettings, Group: Group, Version: Version, Plural: "hostfirmwaresettings",
			Singular: "hostfirmwaresettings",
			Short:    []string{"hfs"}, Namespaced: true, Status: true, New: func() Document { return &HostFirmwareSettings{} },
			Doc: "The BIOS settings of the host of the same name.",
		},
		{
			Kind: KindFirmwareSchema, Group: Group, Version: Version, Plural: "firmwareschemas", Singular: "firmwareschema",
			Namespaced: true, New: func() Document { return &FirmwareSchema{} },
			Doc: "The possible BIOS settings of one make of machines.",
		},
		{
			Kind: KindFirmwareComponents, Group: Group, Version: Version, Plural: "hostfirmwarecomponents",
			Singular:   "hostfirmwarecomponents",
			Namespaced: true, Status: true, New: func() Document { return &HostFirmwareComponents{} },
			Doc: "The firmware of the parts of the host of the same name.",
		},
		{
			Kind: KindUpdatePolicy, Group: Group, Version: Version, Plural: "hostupdatepolicies", Singular: "hostupdatepolicy",
			Namespaced: true, New: func() Document { return &HostUpdatePolicy{} },
			Doc: "When the firmware of the host of the same name is changed.",
		},
	}
}

// furtherKinds are the kinds with followers of their own.
func furtherKinds() []Kind {
	return []Kind{
		{
			Kind: KindClaim, Group: Group, Version: Version, Plural: "hostclaims", Singular: "hostclaim",
			Namespaced: true, Status: true, New: func() Document { return &HostClaim{} },
			Doc: "Requests a machine of a pool, and has its workload.",
		},
		{
			Kind: KindDeployPolicy, Group: Group, Version: Version, Plural: "hostdeploypolicies",
			Singular: "hostdeploypolicy", Namespaced: true, Status: true,
			New: func() Document { return &HostDeployPolicy{} },
			Doc: "Which namespaces may claim the hosts of its own.",
		},
		{
			Kind: KindSubscription, Group: Group, Version: Version, Plural: "bmceventsubscriptions",
			Singular: "bmceventsubscription", Short: []string{"bes", "bmcevent"}, Namespaced: true, Status: true,
			New: func() Document { return &BMCEventSubscription{} },
			Doc: "Has the BMC of a host send its events to a web server.",
		},
		{
			Kind: KindPreprovisioningImage, Group: Group, Version: Version, Plural: "preprovisioningimages",
			Singular: "preprovisioningimage", Short: []string{"ppimg"}, Namespaced: true, Status: true,
			New: func() Document { return &PreprovisioningImage{} },
			Doc: "Where the ramdisk is that machines of an architecture are installed with.",
		},
		{
			Kind: KindNetworkAttachment, Group: Group, Version: Version, Plural: "hostnetworkattachments",
			Singular: "hostnetworkattachment", Namespaced: true, Status: true,
			New: func() Document { return &HostNetworkAttachment{} },
			Doc: "The setting of a switch port. Kept: this conductor configures no switches.",
		},
		{
			Kind: KindSwitch, Group: Group, Version: Version, Plural: "baremetalswitches", Singular: "baremetalswitch",
			Short: []string{"bms"}, Namespaced: true, Status: true, New: func() Document { return &BareMetalSwitch{} },
			Doc: "A switch that machines are attached to. Kept: this conductor configures no switches.",
		},
	}
}

// KindOf finds a kind by its name; false when there is none.
func KindOf(name string) (Kind, bool) {
	for _, k := range Kinds() {
		if k.Kind == name {
			return k, true
		}
	}
	return Kind{}, false
}

// APIVersion is the apiVersion of documents of the kind.
func (k Kind) APIVersion() string {
	if k.Group == "" {
		return k.Version
	}
	return k.Group + "/" + k.Version
}
