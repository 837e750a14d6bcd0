package steps

import (
	"context"
	"fmt"

	"github.com/ferrite-metal/ferrite/agent/disk"
	"github.com/ferrite-metal/ferrite/proto/agentapi"
)

// defaultLabel is the boot entry's name when the operating system does not
// say its own.
const defaultLabel = "ferrite"

// InstallBootloader makes what was installed the first thing the firmware
// boots. A whole-disk image brings its loader: with BIOS there is nothing to
// do, with UEFI an entry is made that points to it.
func (m *Machine) InstallBootloader(ctx context.Context, n agentapi.CommandNode, p agentapi.BootloaderParams) error {
	vars := m.EFIVars()
	switch {
	case p.TargetBootMode != "uefi":
		return nil
	case vars == nil:
		m.Log.Warn("no boot entry made: the machine is to boot by UEFI, but was started by BIOS now")
		return nil
	}
	err := m.makeBootEntry(ctx, n, vars)
	if err != nil && p.IgnoreBootloaderError {
		m.Log.Warn("no boot entry made, as the node may do without", "err", err)
		return nil
	}
	if err != nil {
		return agentapi.NewCommandError("CommandExecutionError", "Installing the boot entry failed", err.Error())
	}
	return nil
}

func (m *Machine) makeBootEntry(ctx context.Context, n agentapi.CommandNode, vars disk.EFIVars) error {
	path, err := m.installedDisk(ctx, n)
	if err != nil {
		return err
	}
	dev, err := m.Open(ctx, path)
	if err != nil {
		return err
	}
	defer dev.Close() //nolint:errcheck // only read from
	table, err := disk.ReadTable(dev)
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	part, loader, err := disk.BootLoader(dev, table, m.Arch)
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	entry := disk.BootEntry{Label: loader.Label, Loader: loader}
	if entry.Label == "" {
		entry.Label = defaultLabel
	}
	number, err := disk.SetBootEntry(vars, table, part, dev.LogicalSectorSize(), entry)
	if err != nil {
		return fmt.Errorf("boot entry for %s on %s: %w", loader.Path, path, err)
	}
	m.Log.Info("boot entry made", "number", fmt.Sprintf("Boot%04X", number), "label", entry.Label, "loader", loader.Path, "disk", path)
	return nil
}

// installedDisk is the disk that was written, or, when the agent was started
// anew since, the one that would be.
func (m *Machine) installedDisk(ctx context.Context, n agentapi.CommandNode) (string, error) {
	if w := m.getWritten(); w != nil {
		return w.device, nil
	}
	d, err := m.RootDisk(ctx, n, 0)
	return d.Name, err
}
