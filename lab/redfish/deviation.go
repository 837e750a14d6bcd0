package redfish

// Deviation is one way in which a controller differs from the well-behaved one.
type Deviation string

// Deviations of the boot override.
const (
	ModeFallsBack     Deviation = "mode-falls-back"
	FullBootRequest   Deviation = "full-boot-request"
	ModeRefusedAlong  Deviation = "mode-refused-along"
	NoContinuous      Deviation = "no-continuous"
	ContinuousRefused Deviation = "continuous-refused"
	UsbCd             Deviation = "usb-cd"
	CdIsADrive        Deviation = "cd-is-a-drive"
	CdByAttribute     Deviation = "cd-by-attribute"
	BootInSettings    Deviation = "boot-in-settings"
	ModeByJob         Deviation = "mode-by-job"
	ModeMissing       Deviation = "mode-missing"
	TargetAloneKept   Deviation = "target-alone-kept"
	BiosByJob         Deviation = "bios-by-job"
)

// Deviations of ETags.
const (
	ETagsWeak          Deviation = "etags-weak"
	ETagsWeakRefused   Deviation = "etags-weak-refused"
	ETagsUnquoted      Deviation = "etags-unquoted"
	ETagsQuotedRefused Deviation = "etags-quoted-refused"
	ETagsNeverMatch    Deviation = "etags-never-match"
	ETagsRequired      Deviation = "etags-required"
	ETagsNotForActions Deviation = "etags-not-for-actions"
	GzipWeakensETags   Deviation = "gzip-weakens-etags"
	IdentityRefused    Deviation = "identity-refused"
)

// Deviations of virtual media.
const (
	MediaWantsCredentials Deviation = "media-wants-credentials"
	MediaWantsProtocol    Deviation = "media-wants-protocol"
	MediaRefusesFlags     Deviation = "media-refuses-flags"
	MediaByPatch          Deviation = "media-by-patch"
	SlowEject             Deviation = "slow-eject"
	EjectWantsBody        Deviation = "eject-wants-body"
)

// Deviations of power.
const (
	BusyAfterPowerOff   Deviation = "busy-after-power-off"
	BootLockedInPOST    Deviation = "boot-locked-in-post"
	BusyAfterReset      Deviation = "busy-after-reset"
	NotReady            Deviation = "not-ready"
	AlreadyThereRefused Deviation = "already-there-refused"
	PowerInSteps        Deviation = "power-in-steps"
	ResetByTask         Deviation = "reset-by-task"
)

// Deviations of the connection.
const (
	SlowAnswers Deviation = "slow-answers"
	BusyAtTimes Deviation = "busy-at-times"
	CutAtTimes  Deviation = "cut-at-times"
	LegacyTLS   Deviation = "legacy-tls"
)

// Deviations of documents.
const (
	ExpandFalse       Deviation = "expand-false"
	CoresAsText       Deviation = "cores-as-text"
	KindsMixed        Deviation = "kinds-mixed"
	ProcessorsMissing Deviation = "processors-missing"
	MemberMissing     Deviation = "member-missing"
	VendorEmpty       Deviation = "vendor-empty"
	TwoSystems        Deviation = "two-systems"
)

// DeviationRow describes a deviation: its effect on a client, the controllers it was seen on, and the public place that
// says so.
type DeviationRow struct {
	Name    Deviation
	Meaning string
	Seen    string
	Source  string
}

// Deviations is the table of all deviations.
func Deviations() []DeviationRow {
	var all []DeviationRow
	for _, part := range [][]DeviationRow{bootDeviations, etagDeviations, mediaDeviations, powerDeviations, wireDeviations,
		documentDeviations} {
		all = append(all, part...)
	}
	return all
}

var bootDeviations = []DeviationRow{
	{ModeFallsBack, "A change of the boot override that does not name the boot mode sets the mode to Legacy.",
		"Supermicro", "DMTF Redfishtool #106; ironcore-dev metal-operator #607; Ironic story 2008712"},
	{FullBootRequest, "A change of the boot override without mode, target and lifetime together is refused with 400.",
		"AMI MegaRAC, ASRock Rack", "Ironic redfish/management.py, VENDORS_REQUIRING_FULL_BOOT_REQUEST"},
	{ModeRefusedAlong, "A boot mode that is sent together with a boot target is refused with 400.",
		"HPE iLO", "ansible community.general #3509"},
	{ModeMissing, "There is no boot mode: BootSourceOverrideMode is not shown, and refused with 400.",
		"Supermicro X10, HPE Gen9", "ironcore-dev metal-operator #982; Ironic conductor/utils.py, node_set_boot_mode"},
	{TargetAloneKept, "A change of the boot override is answered 204, and its target alone is kept.",
		"Supermicro AS-1015CS", "bmc-toolbox bmclib #459"},
	{NoContinuous, "A boot override lasts for one boot: Continuous is not in the list and refused with 400.",
		"iLO 6 and later", "libredfish #76; Ironic redfish/management.py, _set_boot_device"},
	{ContinuousRefused, "Continuous is in the list, or there is no list, and it is refused with 400 all the same.",
		"iDRAC 10", "Ironic redfish/management.py, _set_boot_device"},
	{UsbCd, "The virtual CD is booted as UsbCd; the boot target Cd does not exist.",
		"Supermicro X13", "sushy system.py, set_system_boot_options"},
	{CdIsADrive, "The virtual CD is booted as UsbCd; Cd is offered too, for a drive of the machine that is empty.",
		"Supermicro X11, X12", "sushy system.py, set_system_boot_options"},
	{CdByAttribute, "The virtual CD is booted by an attribute of the BMC; Cd is a drive of the machine that is empty.",
		"iDRAC before 6.00.00.00", "ansible community.general #3423; dell iDRAC-Redfish-Scripting #90"},
	{BootInSettings, "The boot override is written to the settings object; the system itself answers 405.",
		"AMI MegaRAC, NVIDIA", "sushy system.py, set_system_boot_options; gofish ComputerSystem.SetBoot"},
	{ModeByJob,
		"A boot mode is changed by a job. The next start carries it out in a POST of its own, which also uses up " +
			"a boot override for once.", "Dell iDRAC", "Ironic redfish/management.py, _wait_for_boot_mode"},
	{BiosByJob, "BIOS settings are changed by a job. The next start carries it out and restarts the machine.",
		"Dell iDRAC", "Ironic redfish/bios.py; sushy settings.py"},
}

var etagDeviations = []DeviationRow{
	{ETagsWeak, `ETags are weak: W/"...".`, "Lenovo XCC, Gigabyte", "ansible community.general #6434, #11261"},
	{ETagsWeakRefused, "If-Match with a weak ETag is answered 412; the strong form of the same tag is accepted.",
		"Lenovo XCC, Gigabyte", "sushy connector.py, _etag_handler; ansible community.general #11270"},
	{ETagsUnquoted, "ETags have no quotes.", "not named", "gofish entity.go, StripEtagQuotes"},
	{ETagsQuotedRefused, "If-Match with quotes is answered 412; the bare tag is accepted.",
		"not named", "gofish entity.go, StripEtagQuotes; ansible community.general #3268"},
	{ETagsNeverMatch, "Every If-Match is answered 412, with any value.",
		"not named", "ansible community.general #3268; sushy connector.py, _etag_handler (the last attempt)"},
	{ETagsRequired, "A PATCH without If-Match is answered 428.", "Lenovo XCC, Huawei iBMC",
		"ansible #56150, #60031; RFC 6585"},
	{ETagsNotForActions, "An action with If-Match is answered 412.", "iDRAC 10", "gofish #510"},
	{GzipWeakensETags, "Answers are compressed where the client allows it, and their ETags are then weak.",
		"not named", "sushy connector.py, Accept-Encoding"},
	{IdentityRefused, "A request that allows the identity encoding alone is answered 406.",
		"HPE Gen10 Plus", "sushy connector.py, NotAcceptableError"},
}

var mediaDeviations = []DeviationRow{
	{MediaWantsCredentials, "An image is inserted only with UserName and Password, needed or not.",
		"NVIDIA DGX", "sushy virtual_media.py, is_credentials_required; Launchpad 2071945"},
	{MediaWantsProtocol, "An image is inserted only with TransferProtocolType.",
		"Supermicro, AMI MegaRAC", "sushy virtual_media.py, is_transfer_protocol_required"},
	{MediaRefusesFlags, "Inserted and WriteProtected are read only: an image with them is refused with 400.",
		"Supermicro X11, X12", "sushy virtual_media.py, insert_media"},
	{MediaByPatch, "There are no actions: an image is inserted and ejected by PATCH.",
		"Lenovo XCC (SD530)", "sushy release note fix-virtual-media-fallback"},
	{SlowEject, "An ejected image is still shown for a while, and another is refused with 500.",
		"Dell iDRAC", "Ironic redfish/boot.py, _test_retry; Ironic story 2008504"},
	{EjectWantsBody, "An eject without a body is answered 415.", "HPE iLO",
		"sushy release note fix-eject-media-empty-dict"},
}

var powerDeviations = []DeviationRow{
	{BusyAfterPowerOff, "After a power-off On is refused for a while with 409 ActionParameterValueConflict.",
		"iDRAC 10", "Ironic redfish/power.py, power_on_conflict_retry_attempts"},
	{BootLockedInPOST, "During POST a change of the boot override is refused with 400 UnableToModifyDuringSystemPOST.",
		"HPE iLO", "Ironic redfish/management.py, _is_during_post_error"},
	{BusyAfterReset, "Soon after a reset another is refused with 400 InvalidOperationForSystemState.",
		"HPE iLO", "sushy connector.py, check_retry_on_exception"},
	{NotReady, "After a start of the machine changes are refused for a while with 500 SYS518.",
		"Dell iDRAC", "sushy connector.py, check_retry_on_exception"},
	{AlreadyThereRefused, "On of a running machine and ForceOff of a stopped one are refused with 409.",
		"Dell iDRAC, HPE iLO", "Ironic redfish/power.py, set_power_state"},
	{PowerInSteps, "The power state is PoweringOn or PoweringOff for a while after a reset.",
		"HPE iLO, OpenBMC", "Ironic redfish/power.py, GET_POWER_STATE_MAP; DSP0268"},
	{ResetByTask, "A reset is answered 202 with a task.", "OpenBMC, AMI MegaRAC", "DSP0266, 13.2; gofish PostWithTask"},
}

var wireDeviations = []DeviationRow{
	{SlowAnswers, "Every answer takes seconds.", "iDRAC 8, a busy XCC", "Ironic conf/redfish.py, connection timeouts"},
	{BusyAtTimes, "Every twentieth request is answered 503 with Retry-After.",
		"any under load", "sushy connector.py, server_side_retries; RFC 9110, 10.2.3"},
	{CutAtTimes, "Every twentieth answer ends before its announced length.",
		"any under load", "sushy connector.py, _RETRYABLE_EXCEPTIONS"},
	{LegacyTLS, "TLS 1.0 to 1.2 with RSA key exchange alone, by a certificate with a negative serial number.",
		"H3C HDM, iDRAC 7 and 8, iLO 4, Supermicro X9 and X10", "mrlhansen idrac_exporter #204"},
}

var documentDeviations = []DeviationRow{
	{ExpandFalse, "ProtocolFeaturesSupported.ExpandQuery is false where the schema has an object.",
		"not named", "DSP0268, ServiceRoot"},
	{CoresAsText, "The numbers of cores and threads are strings.", "not named",
		"gofish #99 (a speed as a string)"},
	{KindsMixed, "Of the system AssetTag, BootNext and the ETag in the document are numbers, the memory's size is text.",
		"iDRAC 9, Cisco, ZTE", "gofish #99, #409, #532, #545"},
	{ProcessorsMissing, "A system has no link to its processors.", "OpenBMC", "DSP0268, ComputerSystem"},
	{MemberMissing, "Collections list a member that answers 404.", "Dell iDRAC, Supermicro",
		"Ironic release note fix-dell-bmc-404-race-condition"},
	{VendorEmpty, "Manufacturer and Model of the system are empty.", "OpenBMC", "bmcweb systems.hpp"},
	{TwoSystems, "Two systems are behind one address; one of them is a baseboard without power or boot override.",
		"NVIDIA DGX and GH200", "libredfish NVIDIA support; Ironic redfish_system_id"},
}
