package serve

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/ferrite-metal/ferrite/conductor/bmc"
	"github.com/ferrite-metal/ferrite/conductor/node"
	bootserver "github.com/ferrite-metal/ferrite/pxe/server"
)

// check refuses settings that cannot work, before anything is made or opened.
func (c *Config) check(s *settings) error {
	if err := s.checked(); err != nil {
		return err
	}
	if c.DataDir == "" {
		return errors.New("--data-dir is empty: name the folder of the database")
	}
	if err := c.checkDatabase(); err != nil {
		return err
	}
	if _, _, err := net.SplitHostPort(c.APIAddress); err != nil {
		return fmt.Errorf("--api-address %q is not host:port: %w", c.APIAddress, err)
	}
	_, limits := c.projectLimits()
	if err := errors.Join(c.checkAuth(), c.checkMetrics(), c.checkImages(), c.checkProxies(),
		c.checkExtras(), limits); err != nil {
		return err
	}
	if len(c.HardwareTypes) == 0 {
		return errors.New("--hardware-types is empty: name at least one of " + strings.Join(bmc.Names(), ", "))
	}
	if err := errors.Join(c.checkDefaultInterfaces(), c.checkCAFolder(), c.checkOutbound(), c.checkAgentCA()); err != nil {
		return err
	}
	if c.ConductorName == "" {
		return errors.New("--host is empty: a conductor needs a name")
	}
	if c.StepTimeout < time.Second || c.StepLimit < c.StepTimeout {
		return fmt.Errorf("--step-timeout %s, --step-limit %s: say 1s or more for the first, and no less for the second",
			c.StepTimeout, c.StepLimit)
	}
	if err := c.checkMedia(); err != nil {
		return err
	}
	if err := c.checkDiscovery(); err != nil {
		return err
	}
	if c.Erasing.Iterations < 0 || c.Erasing.Iterations == 0 && !c.Erasing.Zeroize || c.Erasing.Concurrency < 1 {
		return fmt.Errorf("--shred-random-overwrite-iterations %d, --shred-final-overwrite-with-zeros %v, "+
			"--disk-erasure-concurrency %d: "+
			"a disk is to be overwritten at least once, and one or more at a time", c.Erasing.Iterations, c.Erasing.Zeroize,
			c.Erasing.Concurrency)
	}
	if (c.Kernel == "") != (c.Initrd == "") {
		return errors.New("--ramdisk-kernel and --ramdisk-initrd go together: one of them is missing")
	}
	for _, p := range []string{c.Kernel, c.Initrd} {
		if p == "" || strings.Contains(p, "://") {
			continue
		}
		if _, err := os.Stat(p); err != nil {
			return fmt.Errorf("ramdisk: %w; make one with: ferrite ramdisk build --profile metal", err)
		}
	}
	return c.checkBoot()
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
	if at, err := netip.ParseAddrPort(c.APIAddress); err == nil && at.Addr().IsLoopback() && c.AdvertiseURL == "" {
		return fmt.Errorf("--boot with --api-address %s: no ramdisk can call that address; listen on one the machines "+
			"reach, or say with --advertise-url how they come here", at)
	}
	return nil
}

// checkMedia refuses a URL that no BMC could read from.
func (c *Config) checkMedia() error {
	if c.MediaURL == "" {
		return nil
	}
	u, err := url.Parse(c.MediaURL)
	switch {
	case err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.User != nil || u.RawQuery != "":
		return fmt.Errorf("--media-url %q: expected an http(s) URL without user and query, such as http://192.0.2.1:7080",
			c.MediaURL)
	case !c.Boot:
		return errors.New("--media-url needs --boot, whose service has the images")
	}
	c.MediaURL = strings.TrimSuffix(c.MediaURL, "/")
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
	case c.Discovery.Limit < 1:
		return fmt.Errorf("--discovery-limit %d takes in nothing: say 1 or more, or leave --discovery away",
			c.Discovery.Limit)
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
