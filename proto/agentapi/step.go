package agentapi

import (
	"encoding/json"
	"fmt"
)

// StepParams are the parameters of <kind>.execute_<kind>_step. Step stays raw because it has to be echoed unchanged;
// exactly one version is sent, for the kind of the step, and null means "do not compare".
type StepParams struct {
	Step           json.RawMessage   `json:"step"`
	Node           CommandNode       `json:"node"`
	Ports          []CommandPort     `json:"ports"`
	CleanVersion   map[string]string `json:"clean_version,omitempty"`
	DeployVersion  map[string]string `json:"deploy_version,omitempty"`
	ServiceVersion map[string]string `json:"service_version,omitempty"`
}

// CommandNode holds the fields of the node object in commands that an agent uses. Ironic sends its whole database
// record; all else is ignored.
type CommandNode struct {
	UUID               string         `json:"uuid"`
	Properties         map[string]any `json:"properties,omitempty"`
	InstanceInfo       map[string]any `json:"instance_info,omitempty"`
	DriverInternalInfo map[string]any `json:"driver_internal_info,omitempty"`
	RAIDConfig         map[string]any `json:"raid_config,omitempty"`        // present configuration
	TargetRAIDConfig   map[string]any `json:"target_raid_config,omitempty"` // wanted, for create_configuration
}

// CommandPort holds the fields of a port object that an agent uses.
type CommandPort struct {
	Address    string `json:"address"`
	PXEEnabled bool   `json:"pxe_enabled"`
}

// Parsed reads the step out of its raw form.
func (p StepParams) Parsed() (Step, error) {
	var s Step
	if len(p.Step) == 0 {
		return s, fmt.Errorf("step is missing")
	}
	if err := json.Unmarshal(p.Step, &s); err != nil {
		return s, fmt.Errorf("step: %w", err)
	}
	return s, s.Validate()
}

// Validate refuses a step that names nothing.
func (s Step) Validate() error {
	if s.Step == "" {
		return fmt.Errorf("step: its name (key \"step\") is missing")
	}
	return nil
}

// StepResult is the command_result of <kind>.execute_<kind>_step: the step's result (null for none) beside the step as
// it was sent. One pair is set.
type StepResult struct {
	CleanResult   json.RawMessage `json:"clean_result,omitempty"`
	CleanStep     json.RawMessage `json:"clean_step,omitempty"`
	DeployResult  json.RawMessage `json:"deploy_result,omitempty"`
	DeployStep    json.RawMessage `json:"deploy_step,omitempty"`
	ServiceResult json.RawMessage `json:"service_result,omitempty"`
	ServiceStep   json.RawMessage `json:"service_step,omitempty"`
}

// PrepareImageParams are the parameters of standby.prepare_image and, as a step's args, of deploy.write_image.
// ConfigDrive is base64 of a (gzipped) ISO 9660 image or an http(s) URL of such an image; empty for none.
type PrepareImageParams struct {
	ImageInfo   ImageInfo `json:"image_info"`
	ConfigDrive string    `json:"configdrive,omitempty"`
}

// BootloaderParams are the parameters of image.install_bootloader.
type BootloaderParams struct {
	RootUUID              string `json:"root_uuid"`
	EFISystemPartUUID     string `json:"efi_system_part_uuid"`
	PrepBootPartUUID      string `json:"prep_boot_part_uuid"`
	TargetBootMode        string `json:"target_boot_mode"` // uefi or bios
	IgnoreBootloaderError bool   `json:"ignore_bootloader_failure,omitempty"`
}

// RescueParams are the parameters of rescue.finalize_rescue: the password of the user rescue, or with Hashed its
// crypt(3) form, which Ironic makes with SHA-256 or SHA-512 ([conductor]rescue_password_hash_algorithm).
type RescueParams struct {
	RescuePassword string `json:"rescue_password"`
	Hashed         bool   `json:"hashed"`
}

// SystemLogs is the command_result of log.collect_system_logs: base64 of a
// tar.gz.
type SystemLogs struct {
	SystemLogs string `json:"system_logs"`
}

// InspectionReply answers POST /v1/continue_inspection. UUID is empty when the conductor did not name the node.
type InspectionReply struct {
	UUID string `json:"uuid"`
	// BMCUser asks for a user of the BMC; conductors of others do not.
	BMCUser *BMCUserRequest `json:"ferrite_bmc_user,omitempty"`
}

// The keys of standby.get_partition_uuids. Under the first a whole disk image
// has its disk identifier.
const (
	RootUUIDKey      = "root uuid"
	ESPUUIDKey       = "efi system partition uuid" // absent or null where there is none
	PrepBootUUIDKey  = "PReP Boot partition uuid"  // of POWER machines
	PartitionsByRole = "partitions"                // paths of devices; of a partition image
	NoRootUUID       = "0x00000000"                // the identifier of a disk with a GPT
)
