package host

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"strings"

	"github.com/spf13/cobra"
	"sigs.k8s.io/yaml"

	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli/internal/client"
	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli/internal/output"
	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli/internal/wait"
	"github.com/ferrite-metal/ferrite/proto/hostapi"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

const hostImportHelp = `Write the documents that describe an enrolled machine: a BareMetalHost, and the Secret with
the credentials of its BMC. Nothing is changed. When the documents are applied, the host takes
over this node. A machine that runs a workload becomes externally provisioned, and keeps running.

The API does not show passwords, so the Secret has ****** instead. ferrite host apply refuses it
until you write the password there. If the node has a setting that no document can express,
the import fails and names it.`

func hostImport(s *client.Session) *cobra.Command {
	var namespace, name string
	cmd := &cobra.Command{
		Use:   "import NODE",
		Short: "Write the documents that describe an enrolled machine",
		Long:  hostImportHelp,
		Example: `  ferrite host import m1 > m1.yaml
  ferrite host import Rack-7_U12 --name rack-7-u12`,
	}
	f := cmd.Flags()
	f.StringVarP(&namespace, "namespace", "n", "",
		"namespace of the documents; the one in the node's name when left out, else "+
			hostapi.DefaultNamespace)
	f.StringVar(&name, "name", "", "name of the host; the name of the node when left out")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if s.Output == "table" && cmd.Flag("output").Changed {
			return errors.New("--output table: documents are JSON or YAML")
		}
		i, err := readImport(cmd.Context(), s, args[0])
		if err != nil {
			return err
		}
		h, secret, err := i.documents(namespace, name)
		if err != nil {
			return fmt.Errorf("node %s: %w", i.node.Label(), err)
		}
		if err := refuseHost(cmd.Context(), s, i.node); err != nil {
			return err
		}
		for _, text := range i.notes {
			w := cmd.ErrOrStderr()
			fmt.Fprintln(w, output.ScreenOf(w).Wrap("note: "+output.VisibleLine(text)))
		}
		return writeImport(s, cmd, secret, h)
	}
	return cmd
}

// importing is a node on its way into documents.
type importing struct {
	node  importedNode
	ports []importedPort
	notes []string // facts that matter when the documents are applied
}

// importedNode is a node as far as the documents describe it.
type importedNode struct {
	nodeapi.Node
	Driver          string         `json:"driver"`
	DriverInfo      map[string]any `json:"driver_info"`
	InstanceInfo    map[string]any `json:"instance_info"`
	BootInterface   string         `json:"boot_interface"`
	BootMode        string         `json:"boot_mode"`
	SecureBoot      bool           `json:"secure_boot"`
	Description     string         `json:"description"`
	AutomatedClean  *bool          `json:"automated_clean"`
	DisablePowerOff bool           `json:"disable_power_off"`
	NetworkData     map[string]any `json:"network_data"`
	ConductorGroup  string         `json:"conductor_group"`
}

type importedPort struct {
	Address    string `json:"address"`
	PXEEnabled bool   `json:"pxe_enabled"`
}

func (i *importing) note(format string, args ...any) {
	i.notes = append(i.notes, fmt.Sprintf(format, args...))
}

func readImport(ctx context.Context, s *client.Session, node string) (*importing, error) {
	i := &importing{}
	if err := s.Client.Do(ctx, "GET", client.NodePath(node), nil, &i.node); err != nil {
		return nil, err
	}
	var err error
	i.ports, err = client.Records[importedPort](ctx, s, "ports",
		url.Values{"node": {i.node.UUID}, "fields": {"uuid,address,pxe_enabled"}})
	return i, err
}

// documents are the host and the secret of its credentials, nil for a BMC without
// any.
func (i *importing) documents(namespace, name string) (*hostapi.Host, *hostapi.Secret, error) {
	if err := importable(i.node.Node); err != nil {
		return nil, nil, err
	}
	space, plain, both := strings.Cut(i.node.Name, "~") // as hosts name their nodes
	if !both {
		space, plain = "", i.node.Name
	}
	if name = cmp.Or(name, plain); name == "" {
		return nil, nil, errors.New("it has no name that the host could have: say one with --name")
	}
	namespace = cmp.Or(namespace, space, hostapi.DefaultNamespace)
	bmc, secret, err := i.bmc(name)
	if err != nil {
		return nil, nil, err
	}
	hints, err := i.rootDevice()
	if err != nil {
		return nil, nil, err
	}
	h := &hostapi.Host{
		TypeMeta:   hostapi.TypeMeta{Kind: hostapi.KindHost, APIVersion: hostapi.APIVersion},
		ObjectMeta: hostapi.ObjectMeta{Name: name, Namespace: namespace},
		Spec: hostapi.HostSpec{
			BMC: bmc, RootDeviceHints: hints, BootMode: i.bootMode(), BootMACAddress: i.bootMAC(),
			Online: i.node.PowerState == "power on" || i.node.DisablePowerOff, DisablePowerOff: i.node.DisablePowerOff,
			Description: i.node.Description, Architecture: textOf(i.node.Properties["cpu_arch"]),
			ExternallyProvisioned: i.node.ProvisionState == "active",
		},
	}
	if group := i.node.ConductorGroup; group != "" {
		h.Annotations = map[string]string{hostapi.AnnotationGroup: group}
	}
	if clean := i.node.AutomatedClean; clean != nil && !*clean {
		h.Spec.AutomatedCleaningMode = hostapi.CleaningDisabled
	}
	if len(i.node.NetworkData) > 0 {
		i.note("its network_data is not taken over: put it into a Secret, and the name of that into " +
			"spec.preprovisioningNetworkDataName")
	}
	if hints == nil && !h.Spec.ExternallyProvisioned {
		i.note("it has no root device hints: an image goes onto /dev/sda, unless spec.rootDeviceHints names another disk "+
			"(ferrite node root-device %s)", i.node.Label())
	}
	if !h.Spec.Online {
		i.note("it is off, so spec.online is false: an image is written only once spec.online is true")
	}
	if now := hostapi.NodeName(namespace, name); now != i.node.Name {
		i.note("once the host has taken the node over, the node is called %s", now)
	}
	if secret != nil {
		secret.Namespace = namespace
	}
	return h, secret, wellFormed(h)
}

// refuseHost refuses the node of a host: its documents are there, and say more.
func refuseHost(ctx context.Context, s *client.Session, n importedNode) error {
	namespace, name, both := strings.Cut(n.Name, "~")
	var h hostapi.Host
	if !both || readDocument(ctx, s, hostKind(), namespace, name, &h) != nil || h.Status.Provisioning.ID != n.UUID {
		return nil // the error shows up when the documents are applied
	}
	return fmt.Errorf("node %s: it is host %s already: ferrite host get %s%s -o yaml shows its document", n.Label(), name,
		name, inNamespace(h))
}

// importable refuses nodes that are changing their state, or that an operator is working on.
func importable(n nodeapi.Node) error {
	switch n.ProvisionState {
	case "enroll", "manageable", "available", "active", "inspect failed", "clean failed", "adopt failed":
		return nil
	}
	if wait.Waiting(n.ProvisionState) {
		return fmt.Errorf("it is %s: import it when that is over (ferrite node status %s)", n.ProvisionState, n.Label())
	}
	return fmt.Errorf("it is %s, which a host cannot begin with: bring it to active, available or manageable first",
		n.ProvisionState)
}

// wellFormed checks a host by the rules that the conductor has for it.
func wellFormed(h *hostapi.Host) error {
	var all []string
	for _, p := range hostapi.Check(h) {
		text := p.String()
		if p.Path == "metadata.name" {
			text += "; say another name with --name"
		}
		all = append(all, text)
	}
	if len(all) == 0 {
		return nil
	}
	return errors.New("it makes no good host: " + strings.Join(all, "; "))
}

// bootMAC is the address of the port that the machine boots from.
func (i *importing) bootMAC() string {
	var boot []string
	for _, p := range i.ports {
		if p.PXEEnabled {
			boot = append(boot, p.Address)
		}
	}
	if len(boot) == 0 {
		i.note("it has no port to boot from: spec.bootMACAddress is left out")
		return ""
	}
	if len(boot) > 1 {
		i.note("it has several ports to boot from: spec.bootMACAddress is the first, %s; the others are %s", boot[0],
			strings.Join(boot[1:], ", "))
	}
	return boot[0]
}

// bootMode is how the firmware starts: as the capabilities want it, else as it
// was seen; nothing, which is UEFI, when neither says.
func (i *importing) bootMode() hostapi.BootMode {
	mode, secure := "", i.node.SecureBoot
	for part := range strings.SplitSeq(textOf(i.node.Properties["capabilities"]), ",") {
		switch key, value, _ := strings.Cut(part, ":"); strings.TrimSpace(key) {
		case "boot_mode":
			mode = strings.TrimSpace(value)
		case "secure_boot":
			secure = strings.TrimSpace(value) == "true"
		}
	}
	switch mode = cmp.Or(mode, i.node.BootMode); {
	case mode == "bios":
		return hostapi.Legacy
	case secure:
		return hostapi.UEFISecureBoot
	case mode == "uefi":
		return hostapi.UEFI
	}
	return ""
}

// writeImport writes the documents, the secret first.
func writeImport(s *client.Session, cmd *cobra.Command, secret *hostapi.Secret, h *hostapi.Host) error {
	var items []json.RawMessage
	for _, d := range []any{secret, h} {
		if d == any((*hostapi.Secret)(nil)) {
			continue
		}
		text, err := json.Marshal(d)
		if err != nil {
			return err
		}
		items = append(items, text)
	}
	if s.Output == "json" {
		list := map[string]any{"kind": "List", "apiVersion": "v1", "items": items}
		return output.PrintAny(s, cmd.OutOrStdout(), list, nil)
	}
	for _, item := range items {
		text, err := yaml.JSONToYAML(item)
		if err != nil {
			return err
		}
		if _, err := fmt.Fprintf(cmd.OutOrStdout(), "---\n%s", text); err != nil {
			return err
		}
	}
	return nil
}
