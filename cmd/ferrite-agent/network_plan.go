package main

import (
	"errors"
	"io"
	"io/fs"
	"log/slog"
	"net"
	"os"

	"github.com/ferrite-metal/ferrite/agent/medium"
	"github.com/ferrite-metal/ferrite/agent/param"
	"github.com/ferrite-metal/ferrite/proto/netconfig"
)

// bootMAC is the address of the card booted from; nil when not known.
func bootMAC(p param.Params) net.HardwareAddr {
	mac, err := net.ParseMAC(p.BootMAC)
	if err != nil {
		return nil // empty: it is a MAC address otherwise, by the rules of param
	}
	return mac
}

// networkPlan returns the network's plan. The node's network_data, which the conductor sends along with the ramdisk,
// comes first, then the network_data of a medium, then the kernel line. An invalid plan is logged, and every card uses
// DHCP.
func networkPlan(p param.Params, line string, onMedium medium.Contents, log *slog.Logger) netconfig.Plan {
	plan, source := netconfig.Plan{}, netconfig.Path
	text, err := readBounded(netconfig.Path, netconfig.MaxNetworkData)
	switch {
	case err == nil:
		plan, err = netconfig.NetworkData(text)
	case errors.Is(err, fs.ErrNotExist) && len(onMedium.NetworkData) > 0:
		source = "medium " + onMedium.From
		plan, err = netconfig.NetworkData(onMedium.NetworkData)
	case errors.Is(err, fs.ErrNotExist):
		source = "kernel line"
		plan, err = netconfig.KernelLine(line, bootMAC(p))
	}
	if err != nil {
		log.Error("the network's plan is not used; every card asks DHCP", "from", source, "err", err)
		return netconfig.Plan{}
	}
	if !plan.Empty() {
		log.Info("network by plan", "from", source, "links", len(plan.Links))
	}
	return plan
}

// readBounded reads a file, and one byte over the bound at most.
func readBounded(path string, bound int64) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, bound+1))
}
