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

// DeviationRow describes a deviation: its effect on a client, the controllers it was seen on, the public place that
// says so, and its changes of the documents.
type DeviationRow struct {
	Name      Deviation
	Meaning   string
	Seen      string
	Source    string
	Documents tree // JSON Merge Patches (RFC 7396), or whole documents
}

// Deviations is the table of all deviations.
func Deviations() []DeviationRow { return deviations() }
