// Package agentapi is the protocol between a conductor and the agent in its ramdisk: lookup, heartbeat, commands,
// results, inspection data. It follows ironic-python-agent and Ironic to the letter, so that either side can be
// exchanged for the original.
//
// It holds shapes, their validation, and the reading that both sides must do alike (such as merging the paths of one
// disk). It needs the standard library only, and does no I/O.
package agentapi

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"time"
)

// Paths on the conductor. Ironic serves them without authentication.
const (
	LookupPath             = "/v1/lookup"
	HeartbeatPath          = "/v1/heartbeat/" // + node UUID
	ContinueInspectionPath = "/v1/continue_inspection"
	// AgentsPath is Ferrite's own (+ node UUID + a suffix): Ironic refuses
	// unknown keys in a heartbeat, so progress and the log have roads of their
	// own. An agent uses them only when the lookup's answer said so, by
	// FerriteProgress and FerriteLog.
	AgentsPath     = "/ferrite/v1/agents/"
	ProgressSuffix = "/progress"
	LogSuffix      = "/log"
)

// Headers the agent sends to the conductor.
const (
	VersionHeader   = "X-OpenStack-Ironic-API-Version"
	RequestIDHeader = "X-OpenStack-Request-ID"
)

// The one-time token of a boot is on the kernel's command line, as ipa-agent-token. Ferrite's agent proves itself with
// it, or with its token, in a header of its lookup and its inspection data. ironic-python-agent uses the word as its
// token, and knows the URL for inspection data, which has the word in its query.
const (
	BootWordHeader    = "X-Ferrite-Boot-Word"
	BootWordParameter = "boot_word"
	// BootModeHeader has how the machine was started, uefi or bios. Agents of ours send it
	// with a lookup; conductors that do not know it look past it.
	BootModeHeader = "X-Ferrite-Boot-Mode"
)

// PanicWord of a ramdisk's kernel line has its kernel restart the machine 10 s after a panic. By default it would stop
// for good, out of the conductor's sight.
const PanicWord = "panic=10"

// UserAgent is the User-Agent of Ferrite's agent. Agents from before boot words sent none.
const UserAgent = "ferrite-agent"

// Microversions 1.N the agent asks for, as ironic-python-agent does.
const (
	LookupMinor    = 62
	HeartbeatMinor = 68
)

// MaskedToken stands in a lookup's answer once the token has been given out.
const MaskedToken = "******"

// LookupReply answers GET /v1/lookup?addresses=mac,mac&node_uuid=.
type LookupReply struct {
	Node   LookupNode   `json:"node"`
	Config LookupConfig `json:"config"`
}

// LookupNode is the part of the node an agent may see.
type LookupNode struct {
	UUID               string         `json:"uuid"`
	Properties         map[string]any `json:"properties"`
	InstanceInfo       map[string]any `json:"instance_info"`
	DriverInternalInfo map[string]any `json:"driver_internal_info"`
	Links              []Link         `json:"links,omitempty"`
	Name               string         `json:"-"` // Ironic's lookup does not return it
}

// Link is a REST link.
type Link struct {
	Href string `json:"href"`
	Rel  string `json:"rel"`
}

// LookupConfig is the conductor's configuration of the agent.
type LookupConfig struct {
	HeartbeatTimeout           int      `json:"heartbeat_timeout"` // seconds
	AgentToken                 string   `json:"agent_token"`
	AgentTokenRequired         bool     `json:"agent_token_required"`
	AgentMD5ChecksumEnable     bool     `json:"agent_md5_checksum_enable"`
	DisableDeepImageInspection bool     `json:"disable_deep_image_inspection"`
	PermittedImageFormats      []string `json:"permitted_image_formats,omitempty"`
	AgentSkipBMCDetect         bool     `json:"agent_skip_bmc_detect"`
	// EnableBIOSBootloaderInstall lets the agent run programs of a partition
	// image, its grub-install above all. Off unless it is said, as with
	// ironic-python-agent since CVE-2026-43003.
	EnableBIOSBootloaderInstall bool `json:"enable_bios_bootloader_install"`
	// FerriteProgress is true when the conductor takes Progress reports.
	FerriteProgress bool `json:"ferrite_progress,omitempty"`
	// FerriteLog is true when the conductor takes LogLines.
	FerriteLog bool `json:"ferrite_log,omitempty"`
	// FerriteName is the node's name, for the machine's console.
	FerriteName string `json:"ferrite_name,omitempty"`
}

// Heartbeat is the body of POST /v1/heartbeat/{uuid}; the answer is 202.
type Heartbeat struct {
	CallbackURL   string `json:"callback_url"`
	AgentToken    string `json:"agent_token"`
	AgentVersion  string `json:"agent_version"`
	AgentVerifyCA string `json:"agent_verify_ca,omitempty"` // PEM
}

// Validate refuses a heartbeat that a conductor cannot act on.
func (h Heartbeat) Validate() error {
	if h.AgentToken == "" {
		return fmt.Errorf("heartbeat: agent_token is missing")
	}
	if h.AgentVersion == "" {
		return fmt.Errorf("heartbeat: agent_version is missing")
	}
	for name, text := range map[string]string{"callback_url": h.CallbackURL, "agent_version": h.AgentVersion} {
		if len(text) > maxText {
			return fmt.Errorf("heartbeat: %s has %d characters, at most %d are taken", name, len(text), maxText)
		}
	}
	if len(h.AgentVerifyCA) > maxCertificate {
		return fmt.Errorf("heartbeat: agent_verify_ca has %d bytes, at most %d are taken", len(h.AgentVerifyCA),
			maxCertificate)
	}
	return checkCallback(h.CallbackURL)
}

// Keys under which the node keeps an agent's report of itself.
const (
	maxText        = 255
	maxCertificate = 64 << 10
)

// Progress is how far the running step has come. Done and Total are bytes;
// Total is 0 when unknown.
type Progress struct {
	AgentToken string `json:"agent_token"`
	Step       string `json:"step"`
	Stage      string `json:"stage"`
	Done       int64  `json:"done"`
	Total      int64  `json:"total"`
}

// LogLines is the body of POST /ferrite/v1/agents/{uuid}/log, as it is or with
// Content-Encoding gzip; the answer is 202, or 429 when it was too much at once. First is
// the number of the first line, counted from this agent's start: by it a conductor knows
// lines that it was sent before, when its answer did not arrive. One line says how much the
// agent had to drop.
type LogLines struct {
	AgentToken string   `json:"agent_token"`
	First      int64    `json:"first"`
	Lines      []string `json:"lines"`
}

// Limits on one LogLines: bytes of JSON, unpacked, and lines.
const (
	MaxLogBody  = 1 << 20
	MaxLogLines = 10_000
)

// Command asks the agent for something: POST /v1/commands/ with
// agent_token and wait in the query.
type Command struct {
	Name   string          `json:"name"` // extension.command
	Params json.RawMessage `json:"params"`
}

// Split returns the extension and the command of the name.
func (c Command) Split() (extension, command string, err error) {
	extension, command, ok := strings.Cut(c.Name, ".")
	if !ok || extension == "" || command == "" {
		return "", "",
			//nolint:staticcheck // the agent's words on the wire
			fmt.Errorf("Invalid command: Command name must be of the form " +
				"<extension>.<name>")
	}
	return extension, command, nil
}

// Status is the life of a command.
type Status string

// The statuses a result can have.
const (
	Running              Status = "RUNNING"
	Succeeded            Status = "SUCCEEDED"
	Failed               Status = "FAILED"
	CleanVersionMismatch Status = "CLEAN_VERSION_MISMATCH"
	VersionMismatch      Status = "VERSION_MISMATCH"
)

// Result is one command's state. Name has no extension prefix.
type Result struct {
	ID     string          `json:"id"`
	Name   string          `json:"command_name"`
	Status Status          `json:"command_status"`
	Error  *CommandError   `json:"command_error"`
	Result json.RawMessage `json:"command_result"`

	// Began and Ended are by the agent's clock. Only Ferrite's agent sends them; zero where they are not known.
	Began time.Time `json:"ferrite_began,omitzero"`
	Ended time.Time `json:"ferrite_ended,omitzero"`
}

// CommandError says why a command failed.
type CommandError struct {
	Type    string `json:"type"`
	Code    int    `json:"code"`
	Message string `json:"message"`
	Details string `json:"details"`
}

// NewCommandError makes the error a command is to fail with: kind is one of
// ironic-python-agent's error classes where it has one.
func NewCommandError(kind, message, details string) *CommandError {
	return &CommandError{Type: kind, Code: http.StatusInternalServerError, Message: message, Details: details}
}

// Error lets a step return a CommandError, which sets the type of the reported error.
func (e *CommandError) Error() string { return e.Text() }

// Text is the message for people.
func (e *CommandError) Text() string {
	if e.Details != "" {
		return e.Details
	}
	return e.Message
}

// Results answers GET /v1/commands/, in the order the commands started.
type Results struct {
	Commands []Result `json:"commands"`
}

// Fault is the body of an HTTP error from the agent.
type Fault struct {
	Code   string `json:"faultcode"` // Client or Server
	String string `json:"faultstring"`
}

// Step names one step, as commands carry it. The agent echoes the whole object unchanged, because a conductor compares
// it with the one it sent.
type Step struct {
	Interface       string         `json:"interface"`
	Step            string         `json:"step"`
	Priority        int            `json:"priority"`
	Args            map[string]any `json:"args,omitempty"`
	RebootRequested bool           `json:"reboot_requested"`
	Abortable       bool           `json:"abortable"`
	ArgsInfo        map[string]any `json:"argsinfo,omitempty"`
}

// Steps answers <kind>.get_<kind>_steps: steps by hardware manager. Exactly
// one of the three lists is set.
type Steps struct {
	Clean    map[string][]Step `json:"clean_steps,omitempty"`
	Deploy   map[string][]Step `json:"deploy_steps,omitempty"`
	Service  map[string][]Step `json:"service_steps,omitempty"`
	Versions map[string]string `json:"hardware_manager_version"`
}

// ImageInfo is args.image_info of deploy.write_image.
type ImageInfo struct {
	ID               string   `json:"id"`
	URLs             []string `json:"urls"`
	Checksum         string   `json:"checksum,omitempty"` // value, or URL of a checksum file
	OSHashAlgo       string   `json:"os_hash_algo,omitempty"`
	OSHashValue      string   `json:"os_hash_value,omitempty"`
	DiskFormat       string   `json:"disk_format,omitempty"`
	ContainerFormat  string   `json:"container_format,omitempty"`
	StreamRawImages  bool     `json:"stream_raw_images"`
	NodeUUID         string   `json:"node_uuid,omitempty"`
	ImageType        string   `json:"image_type,omitempty"` // WholeDisk (default) or PartitionImage
	DeployBootMode   string   `json:"deploy_boot_mode,omitempty"`
	ConfigDrive      any      `json:"configdrive,omitempty"`
	RequestAuthorize string   `json:"image_request_authorization,omitempty"`

	// Proxies of the download, by the scheme of the image's URL (http, https). NoProxy lists hosts that are reached
	// without one, separated by commas; each may begin with a dot, for a domain, and end in :port.
	Proxies map[string]string `json:"proxies,omitempty"`
	NoProxy string            `json:"no_proxy,omitempty"`

	// How the disk is divided, for an image of a partition; sizes in MiB.
	DiskLabel         string `json:"disk_label,omitempty"` // gpt or msdos; UEFI has gpt in any case
	RootMB            int64  `json:"root_mb,omitempty"`
	SwapMB            int64  `json:"swap_mb,omitempty"`
	EphemeralMB       int64  `json:"ephemeral_mb,omitempty"`
	EphemeralFormat   string `json:"ephemeral_format,omitempty"`
	PreserveEphemeral bool   `json:"preserve_ephemeral,omitempty"`
}

// The values of image_type.
const (
	WholeDisk      = "whole-disk"
	PartitionImage = "partition" // the content of a root partition
)
