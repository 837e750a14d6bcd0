package node

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"sigs.k8s.io/yaml"

	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli/internal/caution"
	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli/internal/client"
	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli/internal/flags"
	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli/internal/wait"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

func clean() verb {
	return withSteps(verb{
		name: "clean", target: "clean", goal: wait.ProvisionGoal("manageable"),
		short: "Run cleaning steps that you choose on a machine",
		long: "Run cleaning steps that you choose. The machine must be manageable, and is so afterwards.\n\n" +
			stepsHelp,
	}, func(p *nodeapi.Provision) *[]nodeapi.Step { return &p.CleanSteps })
}

func service() verb {
	return withSteps(verb{
		name: "service", target: "service", goal: wait.ProvisionGoal("active"),
		short: "Run steps on a machine that has a workload",
		long: "Run service steps on an active machine. If a step needs the ramdisk, the machine is restarted into\n" +
			"it. Afterwards it is restarted into its own operating system. Steps that erase are refused.\n\n" + stepsHelp,
	}, func(p *nodeapi.Provision) *[]nodeapi.Step { return &p.ServiceSteps })
}

// withSteps is a verb that comes with steps.
func withSteps(v verb, at func(*nodeapi.Provision) *[]nodeapi.Step) verb {
	var f stepFlags
	v.args = " {--step INTERFACE.STEP | --steps FILE | --runbook NAME}"
	v.example = "  ferrite node " + v.name + " m1 --step power.reboot --wait"
	v.care = caution.Care{Force: caution.OfHost, Question: f.question}
	v.flags = func(s *client.Session, cmd *cobra.Command) body {
		f.add(cmd)
		return func(cmd *cobra.Command, nodes []string) (any, error) {
			body := nodeapi.Provision{Target: v.target, Runbook: f.runbook, DisableRamdisk: f.noRamdisk}
			steps, err := f.read()
			if err != nil {
				return nil, err
			}
			*at(&body) = steps
			return body, checkTyped(s, cmd, nodes, v.name, steps)
		}
	}
	return v
}

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
	all, err := readStepList(f.file)
	if err != nil {
		return nil, err
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

// readStepList reads --steps, the steps of a file; none for no file.
func readStepList(file string) (all []nodeapi.Step, err error) {
	if file == "" {
		return nil, nil
	}
	list, err := flags.ReadList("steps", file)
	if err != nil {
		return nil, err
	}
	raw, err := json.Marshal(list)
	if err != nil {
		return nil, fmt.Errorf("--steps: %w", err)
	}
	if err := yaml.UnmarshalStrict(raw, &all); err != nil {
		return nil, fmt.Errorf("--steps: %s has a step that is none: %w", file, err)
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
		return s, fmt.Errorf("--step %q: the text after the colon is no JSON object: %w", text, err)
	}
	return s, nil
}
