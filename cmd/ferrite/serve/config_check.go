package serve

import (
	"errors"
	"fmt"
	"net/netip"
	"os"
	"slices"
	"strings"

	"github.com/ferrite-metal/ferrite/conductor/node"
	bootserver "github.com/ferrite-metal/ferrite/pxe/server"
)

// checkTogether refuses settings that cannot work with each other, and files and networks that cannot be read, before
// anything is made or opened.
func (c *Config) checkTogether() error {
	if err := c.checkDatabase(); err != nil {
		return err
	}
	_, limits := c.projectLimits()
	if err := errors.Join(c.checkAuth(), c.checkMetrics(), c.checkAgentAPI(), c.checkImages(), c.checkProxies(),
		c.checkExtras(), limits, c.checkTLSPolicies()); err != nil {
		return err
	}
	if err := errors.Join(c.checkDefaultInterfaces(), c.checkCAFolder(), c.checkOutbound(), c.checkAgentCA(),
		c.checkCleaning()); err != nil {
		return err
	}
	if c.StepLimit < c.StepTimeout {
		return fmt.Errorf("--step-limit %s is less than --step-timeout %s: say as much or more", c.StepLimit, c.StepTimeout)
	}
	if c.MediaURL != "" && !c.Boot {
		return errors.New("--media-url needs --boot, whose service has the images")
	}
	if err := c.checkDiscovery(); err != nil {
		return err
	}
	if c.Erasing.Iterations == 0 && !c.Erasing.Zeroize {
		return errors.New("--shred-random-overwrite-iterations 0, --shred-final-overwrite-with-zeros false: " +
			"a disk is to be overwritten at least once")
	}
	if (c.Kernel == "") != (c.Initrd == "") {
		return errors.New("--ramdisk-kernel and --ramdisk-initrd go together: one of them is missing")
	}
	_, err := c.ramdisksByArch()
	return errors.Join(checkRamdiskFiles(c.Kernel, c.Initrd), err, c.checkBoot())
}

// checkRamdiskFiles refuses files that are not there; URLs are not asked.
func checkRamdiskFiles(paths ...string) error {
	for _, p := range paths {
		if p == "" || strings.Contains(p, "://") {
			continue
		}
		if _, err := os.Stat(p); err != nil {
			return fmt.Errorf("ramdisk: %w; make one with: ferrite ramdisk build --profile metal", err)
		}
	}
	return nil
}

// checkBoot refuses a boot service that could not start, or that no machine could use.
func (c *Config) checkBoot() error {
	for _, entry := range c.BootSubnets {
		if _, err := c.bootSubnet(entry); err != nil {
			return err
		}
	}
	if !c.Boot {
		return nil
	}
	if c.DHCP != string(bootserver.DHCPFull) && (c.BootPool != "" || len(c.BootSubnets) > 0) {
		return fmt.Errorf("--dhcp %s: this conductor gives no addresses, so leave out --boot-pool and boot-subnets", c.DHCP)
	}
	if c.BootInterface == "" {
		return errors.New("--boot needs --boot-interface: the network interface the machines boot from")
	}
	name, address := "api-address", c.APIAddress
	if c.AgentAPI != "" {
		name, address = "agent-api-address", c.AgentAPI
	}
	if at, err := netip.ParseAddrPort(address); err == nil && at.Addr().IsLoopback() && c.AdvertiseURL == "" {
		return fmt.Errorf("--boot with --%s %s: no ramdisk can call that address; listen on one the machines "+
			"reach, or say with --advertise-url how they come here", name, at)
	}
	return nil
}

// checkDiscovery refuses nodes that could not be made, and machines that could not
// be booted to become some.
func (c *Config) checkDiscovery() error {
	if err := c.checkBMCCredentials(); err != nil {
		return err
	}
	switch {
	case c.Discovery.Driver == "":
		return nil
	case !slices.Contains(c.HardwareTypes, c.Discovery.Driver):
		return fmt.Errorf("--discovery %q is not among --hardware-types %s", c.Discovery.Driver,
			strings.Join(c.HardwareTypes, ", "))
	case c.Boot && c.Kernel == "":
		return errors.New(
			"--discovery with --boot needs --ramdisk-kernel and --ramdisk-initrd, which unknown machines are booted into")
	}
	return nil
}

// checkBMCCredentials refuses passwords in clear on the network, and users that cannot log in.
func (c *Config) checkBMCCredentials() error {
	if !c.Discovery.BMCUser {
		return nil
	}
	base := node.BaseType(c.Discovery.Driver)
	switch {
	case c.Discovery.Driver == "":
		return errors.New("--bmc-credentials generate is for discovered machines: say --discovery redfish, too")
	case base != "redfish" && base != "ipmi":
		return fmt.Errorf("--bmc-credentials generate with --discovery %s: BMCs of that type have no users: say redfish",
			c.Discovery.Driver)
	case c.TLSCert == "" && !strings.HasPrefix(c.AdvertiseURL, "https://"):
		return errors.New("--bmc-credentials generate has agents send passwords to this conductor, so they must call it by " +
			"https: say --tls-cert and --tls-key, or --advertise-url https://... of a proxy before it")
	}
	return nil
}
