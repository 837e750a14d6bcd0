package node

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"sigs.k8s.io/yaml"

	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli/internal/caution"
	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli/internal/flags"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

const stepsHelp = `Steps run in the order given. --step is INTERFACE.STEP, with its arguments after a colon
as JSON: --step 'bios.apply_configuration:{"settings": [...]}'. --steps names a file with
a list of steps in JSON or YAML. Each has interface, step and args; a file can also set
execute_on_child_nodes.

The steps hold, wait, power_on, power_off and reboot exist under every interface. Only
wait has an argument: seconds. Without it, wait ends with the next call of the machine.
ferrite node steps NODE lists the steps of a machine.`

// stepFlags is the steps a verb comes with.
type stepFlags struct {
	steps     []string
	file      string
	runbook   string
	noRamdisk bool
}

func (f *stepFlags) add(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringArrayVar(&f.steps, "step", nil, "INTERFACE.STEP[:JSON], a step and its arguments; repeat it")
	flags.StringVar(&f.file, "steps", "", "`file` with a list of steps, JSON or YAML")
	flags.StringVar(&f.runbook, "runbook", "", "runbook to run instead; the machine must have its trait")
	flags.BoolVar(&f.noRamdisk, "disable-ramdisk", false, "do not boot the ramdisk, because no step needs an agent")
	cmd.MarkFlagsOneRequired("step", "steps", "runbook")
	cmd.MarkFlagsMutuallyExclusive("runbook", "step")
	cmd.MarkFlagsMutuallyExclusive("runbook", "steps")
}

// question is the loss that the steps bring; "" for none that is known. The steps of a runbook are the server's.
func (f *stepFlags) question(names []string) (string, error) {
	if f.runbook != "" {
		return caution.Question("This runs the steps of runbook "+f.runbook+" on NAMES. They may erase disks.", names), nil
	}
	steps, err := f.read()
	if err != nil {
		return "", err
	}
	var erasing []string
	for _, s := range steps {
		if nodeapi.Erases(s) {
			erasing = append(erasing, s.Interface+"."+s.Step)
		}
	}
	if len(erasing) == 0 {
		return "", nil
	}
	return caution.Question("This runs "+strings.Join(erasing, ", ")+" on NAMES, and erases data on the disks.",
		names), nil
}

// read returns the steps of the file, then the steps of the command line.
func (f stepFlags) read() ([]nodeapi.Step, error) {
	var all []nodeapi.Step
	if f.file != "" {
		list, err := flags.ReadList("steps", f.file)
		if err != nil {
			return nil, err
		}
		raw, err := json.Marshal(list)
		if err != nil {
			return nil, fmt.Errorf("--steps: %w", err)
		}
		if err := yaml.UnmarshalStrict(raw, &all); err != nil {
			return nil, fmt.Errorf("--steps: %s has a step that is none: %w", f.file, err)
		}
	}
	for _, text := range f.steps {
		s, err := readStep(text)
		if err != nil {
			return nil, err
		}
		all = append(all, s)
	}
	return all, nil
}

// readStep reads INTERFACE.STEP[:JSON].
func readStep(text string) (s nodeapi.Step, err error) {
	name, args, hasArgs := strings.Cut(text, ":")
	var ok bool
	if s.Interface, s.Step, ok = strings.Cut(name, "."); !ok || s.Interface == "" || s.Step == "" {
		return s, fmt.Errorf("--step %q: expected INTERFACE.STEP, like deploy.erase_devices", text)
	}
	if !hasArgs {
		return s, nil
	}
	if err := json.Unmarshal([]byte(args), &s.Args); err != nil {
		return s, fmt.Errorf("--step %q: what follows the colon is no JSON object: %w", text, err)
	}
	return s, nil
}
