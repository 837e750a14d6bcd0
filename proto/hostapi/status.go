package hostapi

// HostStatus is a machine as it is.
type HostStatus struct {
	OperationalStatus     OperationalStatus `json:"operationalStatus" rule:"enum=OK/discovered/error/delayed/detached/servicing" doc:"How the host is, in a word."`
	ErrorType             ErrorType         `json:"errorType,omitempty" rule:"enum=provisioned registration error/registration error/inspection error/preparation error/provisioning error/power management error/servicing error/detach error" doc:"The kind of the failure."`
	LastUpdated           *Time             `json:"lastUpdated,omitempty" doc:"When the status was last written."`
	HardwareProfile       string            `json:"hardwareProfile,omitempty" doc:"Deprecated."`
	Hardware              *Hardware         `json:"hardware,omitempty" doc:"The result of the inspection."`
	Provisioning          Provisioning      `json:"provisioning" doc:"Progress of the machine, with its image and settings."`
	GoodCredentials       Credentials       `json:"goodCredentials" doc:"The credentials that the controller has last accepted."`
	TriedCredentials      Credentials       `json:"triedCredentials" doc:"The credentials that were last tried."`
	ErrorMessage          string            `json:"errorMessage" doc:"The failure in words."`
	PoweredOn             bool              `json:"poweredOn" doc:"Whether the machine is powered on."`
	OperationHistory      OperationHistory  `json:"operationHistory" doc:"When each phase was last gone through."`
	ErrorCount            int               `json:"errorCount" rule:"min=0" doc:"How often in a row it has failed."`
	ProvisioningFailCount int               `json:"provisioningFailCount,omitempty" rule:"min=0" doc:"How often in a row the provisioning has failed."`
	LastAttemptedImage    *Image            `json:"lastAttemptedImage,omitempty" doc:"The image of the last provisioning that was begun."`
	Conditions            []Condition       `json:"conditions,omitempty" doc:"Facts about the host, each true or false, with reasons."`
}

// Provisioning is the progress of a machine, and its image and settings.
type Provisioning struct {
	State           State            `json:"state" rule:"enum=unmanaged/registering/match profile/inspecting/preparing/ready/available/provisioning/provisioned/externally provisioned/deprovisioning/powering off before delete/deleting" doc:"The state of the host's state machine."`
	ID              string           `json:"ID" doc:"UUID of the node behind the host."`
	Image           *Image           `json:"image,omitempty" doc:"The image that is on the machine, or being written."`
	RootDeviceHints *RootDeviceHints `json:"rootDeviceHints,omitempty" doc:"The hints it was written by."`
	BootMode        BootMode         `json:"bootMode,omitempty" rule:"enum=UEFI/UEFISecureBoot/legacy" doc:"How the machine starts."`
	RAID            *RAID            `json:"raid,omitempty" doc:"The volumes it has."`
	Firmware        *Firmware        `json:"firmware,omitempty" doc:"The settings it has."`
	CustomDeploy    *CustomDeploy    `json:"customDeploy,omitempty" doc:"The deploy step it was set up by."`
}

// State is a state of Metal3's host state machine.
type State string

// The states. StateMatchProfile and StateReady are of older documents: read, never entered.
const (
	StateNone                    State = ""
	StateUnmanaged               State = "unmanaged"
	StateRegistering             State = "registering"
	StateMatchProfile            State = "match profile"
	StateInspecting              State = "inspecting"
	StatePreparing               State = "preparing"
	StateReady                   State = "ready"
	StateAvailable               State = "available"
	StateProvisioning            State = "provisioning"
	StateProvisioned             State = "provisioned"
	StateExternallyProvisioned   State = "externally provisioned"
	StateDeprovisioning          State = "deprovisioning"
	StatePoweringOffBeforeDelete State = "powering off before delete"
	StateDeleting                State = "deleting"
)

// Canonical is the newer word for a state that has two: older documents call available "ready".
func (s State) Canonical() State {
	if s == StateReady {
		return StateAvailable
	}
	return s
}

// OperationalStatus is how a host is, in a word.
type OperationalStatus string

// Operational statuses.
const (
	StatusOK         OperationalStatus = "OK"
	StatusDiscovered OperationalStatus = "discovered" // no BMC to work with
	StatusError      OperationalStatus = "error"
	StatusDelayed    OperationalStatus = "delayed" // enough others are busy
	StatusDetached   OperationalStatus = "detached"
	StatusServicing  OperationalStatus = "servicing"
)

// ErrorType is the kind of a failure.
type ErrorType string

// Error types.
const (
	ProvisionedRegistrationError ErrorType = "provisioned registration error"
	RegistrationError            ErrorType = "registration error"
	InspectionError              ErrorType = "inspection error"
	PreparationError             ErrorType = "preparation error"
	ProvisioningError            ErrorType = "provisioning error"
	PowerManagementError         ErrorType = "power management error"
	DetachError                  ErrorType = "detach error"
	ServicingError               ErrorType = "servicing error"
)

// Credentials are those that were tried, or found good: which Secret, and its
// ResourceVersion at the time.
type Credentials struct {
	Reference *SecretReference `json:"credentials,omitempty" doc:"The Secret."`
	Version   string           `json:"credentialsVersion,omitempty" doc:"Its resource version at the time."`
}

// OperationHistory is when each phase was last gone through.
type OperationHistory struct {
	Register    Span `json:"register" doc:"The registration."`
	Inspect     Span `json:"inspect" doc:"The inspection."`
	Provision   Span `json:"provision" doc:"The provisioning."`
	Deprovision Span `json:"deprovision" doc:"The deprovisioning."`
}

// Span is from when to when.
type Span struct {
	Start Time `json:"start" doc:"When it began."`
	End   Time `json:"end" doc:"When it ended."`
}

// Types of conditions of a host.
const (
	ConditionManageable  = "Manageable"
	ConditionProvisioned = "Provisioned"
	ConditionReady       = "Ready"
	ConditionAvailable   = "AvailableForProvisioning"
	ConditionProgressing = "Progressing"
	ConditionHealthy     = "Healthy"
	// ConditionFieldsUsed is there for a host with fields that have no effect, and is False.
	ConditionFieldsUsed = "FieldsUsed"
)
