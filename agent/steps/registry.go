package steps

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/ferrite-metal/ferrite/proto/agentapi"
)

// Kind is the workflow in which a step runs.
type Kind string

// The kinds; their names are part of command names and of result keys.
const (
	Clean   Kind = "clean"
	Deploy  Kind = "deploy"
	Service Kind = "service"
)

// Manager is the name our steps are listed under, and Version changes when
// steps change so that a plan made with the old ones must not go on.
const (
	Manager        = "FerriteHardwareManager"
	VersionManager = "ferrite_hardware_manager"
	Version        = "1.0"
)

// Request is one step asked for.
type Request struct {
	Step  agentapi.Step
	Node  agentapi.CommandNode
	Facts map[string]any // node and ports as they came, for templates
}

// Func carries out a step. It returns the step's result.
type Func func(ctx context.Context, m *Machine, r Request) (any, error)

// Step is one thing the agent can do.
type Step struct {
	Kind      Kind
	Interface string
	Name      string
	Priority  int  // 0: runs only when asked for by name
	Abortable bool // may be cut off, unless Machine.abortable knows better
	Run       Func
	ArgsInfo  func() map[string]any // its arguments; nil: none
}

// Registry lists all steps. Priorities are ironic-python-agent's; the conductor's own write_image, at 80, asks for
// ours. Service steps have none: a machine in service has a tenant's data on it, so they run by name only.
func Registry() []Step {
	return []Step{
		{Clean, "deploy", "erase_devices_metadata", 99, true, eraseMetadata, nil},
		{Clean, "deploy", "erase_devices", 10, true, eraseDevices, dryRunArg},
		{Clean, "deploy", "erase_devices_express", 0, true, eraseExpress, nil},
		{Clean, "deploy", "erase_pstore", 0, true, erasePstore, nil},
		{Clean, "deploy", "clean_uefi_nvram", 0, true, cleanNVRAM, matchPatternsArg},
		{Clean, "raid", "create_configuration", 0, true, createConfiguration, nil},
		{Clean, "raid", "delete_configuration", 0, true, deleteConfiguration, nil},
		{Deploy, "raid", "apply_configuration", 0, false, applyConfiguration, applyConfigurationArgs},
		{Deploy, "deploy", "erase_devices_metadata", 0, false, eraseMetadata, nil},
		{Deploy, "deploy", "clean_uefi_nvram", 0, false, cleanNVRAM, matchPatternsArg},
		{Deploy, "deploy", "write_image", 0, false, writeImage, nil},
		{Deploy, "deploy", "inject_files", 0, false, injectFiles, injectFilesArgs},
		{Service, "raid", "create_configuration", 0, false, createConfiguration, nil},
		{Service, "raid", "delete_configuration", 0, false, deleteConfiguration, nil},
		{Service, "raid", "apply_configuration", 0, false, applyConfiguration, applyConfigurationArgs},
		{Service, "deploy", "erase_devices_metadata", 0, false, eraseMetadata, nil},
		{Service, "deploy", "write_image", 0, false, writeImage, nil},
		{Service, "deploy", "inject_files", 0, false, injectFiles, injectFilesArgs},
	}
}

// checkArgs refuses arguments that would be without effect. write_image has those that conductors of every kind send.
func (s Step) checkArgs(args map[string]any) error {
	if s.Name == "write_image" {
		return nil
	}
	known := map[string]any{}
	if s.ArgsInfo != nil {
		known = s.ArgsInfo()
	}
	for _, name := range slices.Sorted(maps.Keys(args)) {
		if known[name] == nil {
			return invalidStep("step %s.%s has no argument %s; it has %v", s.Interface, s.Name, name,
				slices.Sorted(maps.Keys(known)))
		}
	}
	return nil
}

// List is the steps of a kind as the conductor wants to see them for a node, the site's last. Steps of a deploy may
// have got another priority on the kernel line.
func (m *Machine) List(
	ctx context.Context, kind Kind, n agentapi.CommandNode,
) (map[string][]agentapi.Step, error) {
	site, err := m.siteSteps()
	if err != nil {
		return nil, err
	}
	list, abortable := []agentapi.Step{}, m.abortable(ctx, n)
	for _, s := range Registry() {
		if s.Kind != kind {
			continue
		}
		out := agentapi.Step{Interface: s.Interface, Step: s.Name, Priority: s.Priority, Abortable: s.Abortable &&
			abortable(s.Name)}
		if p, given := m.DeployPriorities[s.Name]; given && kind == Deploy {
			out.Priority = p
		}
		if s.ArgsInfo != nil {
			out.ArgsInfo = s.ArgsInfo()
		}
		list = append(list, out)
	}
	for _, s := range site {
		if out, has := listed(s, kind); has {
			list = append(list, out)
		}
	}
	return map[string][]agentapi.Step{Manager: list}, nil
}

// Execute does the step a request names. Without an interface the name alone
// counts.
func Execute(ctx context.Context, m *Machine, kind Kind, r Request) (any, error) {
	for _, s := range Registry() {
		if s.Kind == kind && s.Name == r.Step.Step && (r.Step.Interface == "" || r.Step.Interface == s.Interface) {
			if err := s.checkArgs(r.Step.Args); err != nil {
				return nil, err
			}
			return s.Run(ctx, m, r)
		}
	}
	if found, err := m.executeSite(ctx, kind, r); found || err != nil {
		return nil, err
	}
	return nil, agentapi.NewCommandError("HardwareManagerMethodNotFound", "No such step",
		fmt.Sprintf("this agent has no %s step %s.%s", kind, r.Step.Interface, r.Step.Step))
}
