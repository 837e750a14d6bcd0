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
func (c *Config) check() error {
	if c.DataDir == "" {
		return errors.New("--data-dir is empty: name the folder of the database")
	}
	if c.DiskReserve != 0 && (c.DiskReserve < 16 || c.DiskReserve > 1<<20) {
		return fmt.Errorf("--disk-reserve %d: say 16 or more MiB, for the writes between two checkpoints, or 0 for none",
			c.DiskReserve)
	}
	if err := c.checkDatabase(); err != nil {
		return err
	}
	if _, _, err := net.SplitHostPort(c.APIAddress); err != nil {
		return fmt.Errorf("--api-address %q is not host:port: %w", c.APIAddress, err)
	}
	_, limits := c.projectLimits()
	if err := errors.Join(c.checkAuth(), c.checkMetrics(), c.checkEvents(), c.checkImages(), c.checkProxies(),
		c.checkExtras(), limits); err != nil {
		return err
	}
	if len(c.HardwareTypes) == 0 {
		return errors.New("--hardware-types is empty: name at least one of " + strings.Join(bmc.Names(), ", "))
	}
	if err := errors.Join(c.checkDefaultInterfaces(), c.checkCAFolder(), c.checkOutbound(), c.checkAgentCA()); err != nil {
		return err
	}
	if c.Host == "" {
		return errors.New("--host is empty: a conductor needs a name")
	}
	if err := c.checkPower(); err != nil {
		return err
	}
	if c.StepTimeout < time.Second || c.StepLimit < c.StepTimeout {
		return fmt.Errorf("--step-timeout %s, --step-limit %s: say 1s or more for the first, and no less for the second",
			c.StepTimeout, c.StepLimit)
	}
	if err := c.checkTimeouts(); err != nil {
		return err
	}
	if c.MaxConcurrentDeploy < 0 || c.MaxConcurrentClean < 0 {
		return fmt.Errorf("--max-concurrent-deploy %d, --max-concurrent-clean %d: say 1 or more, or 0 for any number",
			c.MaxConcurrentDeploy, c.MaxConcurrentClean)
	}
	if err := c.checkChoices(); err != nil {
		return err
	}
	if err := c.checkMedia(); err != nil {
		return err
	}
	if err := c.checkDiscovery(); err != nil {
		return err
	}
	if c.ErasePriority < 0 || c.MetadataPriority < 0 {
		return fmt.Errorf("--erase-devices-priority %d, --erase-devices-metadata-priority %d: say 1 or more, or 0 for never",
			c.ErasePriority, c.MetadataPriority)
	}
	if c.EraseIterations < 0 || c.EraseIterations == 0 && !c.EraseZeroize || c.EraseConcurrency < 1 {
		return fmt.Errorf("--shred-random-overwrite-iterations %d, --shred-final-overwrite-with-zeros %v, "+
			"--disk-erasure-concurrency %d: "+
			"a disk is to be overwritten at least once, and one or more at a time", c.EraseIterations, c.EraseZeroize,
			c.EraseConcurrency)
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

// The values of flags that have few.
var (
	collectChoices = []string{"on_failure", "never"}
	bmcUserChoices = []string{"none", generateCredentials}
	agentChoices   = []string{"own", "any"}
	kexecChoices   = []string{"auto", "never"}

	imageCheckChoices = []string{"warn", "require", "off"}
)

// checkChoices refuses a value that its flag does not have.
func (c *Config) checkChoices() error {
	for _, f := range []struct {
		flag, is string
		values   []string
	}{
		{"check-image", c.CheckImage, imageCheckChoices},
		{"deploy-logs-collect", c.CollectLogs, collectChoices},
		{"bmc-credentials", c.BMCCredentials, bmcUserChoices},
		{"fast-track-agents", c.FastTrackAgents, agentChoices},
		{"kexec", c.Kexec, kexecChoices}, {"dhcp", c.DHCP, bootserver.DHCPModes()},
	} {
		if !slices.Contains(f.values, f.is) {
			return fmt.Errorf("--%s %q: say %s", f.flag, f.is, strings.Join(f.values, " or "))
		}
	}
	if c.BootRetries < 0 || c.BootRetryAfter < 0 {
		return fmt.Errorf("--boot-retries %d, --boot-retry-after %s: say 0 or more", c.BootRetries, c.BootRetryAfter)
	}
	if c.FastTrackIdle < 0 {
		return fmt.Errorf("--fast-track-idle %s: say how long, as 10m, or 0 for never", c.FastTrackIdle)
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
	case c.Discovery == "":
		return nil
	case !slices.Contains(c.HardwareTypes, c.Discovery):
		return fmt.Errorf("--discovery %q is not among --hardware-types %s", c.Discovery, strings.Join(c.HardwareTypes, ", "))
	case c.DiscoveryLimit < 1:
		return fmt.Errorf("--discovery-limit %d takes in nothing: say 1 or more, or leave --discovery away", c.DiscoveryLimit)
	case c.Boot && c.Kernel == "":
		return errors.New(
			"--discovery with --boot needs --ramdisk-kernel and --ramdisk-initrd, which unknown machines are booted into")
	}
	return nil
}

// generateCredentials is the value of --bmc-credentials that has agents make users.
const generateCredentials = "generate"

// checkBMCCredentials refuses passwords in clear on the network, and users that cannot log in.
func (c *Config) checkBMCCredentials() error {
	if c.BMCCredentials != generateCredentials {
		return nil // checkChoices knows the other value
	}
	base := node.BaseType(c.Discovery)
	switch {
	case c.Discovery == "":
		return errors.New("--bmc-credentials generate is for discovered machines: say --discovery redfish, too")
	case base != "redfish" && base != "ipmi":
		return fmt.Errorf("--bmc-credentials generate with --discovery %s: BMCs of that type have no users: say redfish",
			c.Discovery)
	case c.TLSCert == "" && !strings.HasPrefix(c.AdvertiseURL, "https://"):
		return errors.New("--bmc-credentials generate has agents send passwords to this conductor, so they must call it by " +
			"https: say --tls-cert and --tls-key, or --advertise-url https://... of a proxy before it")
	}
	return nil
}

// checkTimeouts refuses a timeout that is over before anything could be done.
func (c *Config) checkTimeouts() error {
	for _, t := range []struct {
		flag string
		is   time.Duration
	}{
		{"deploy-timeout", c.DeployTimeout}, {"clean-timeout", c.CleanTimeout}, {"inspect-timeout", c.InspectTimeout},
		{"rescue-timeout", c.RescueTimeout}, {"service-timeout", c.ServiceTimeout},
		{"manual-power-timeout", c.PersonTimeout},
		{"ramdisk-shutdown-timeout", c.RamdiskPowerOff},
		{"heartbeat-timeout", c.HeartbeatTimeout}, {"boot-lease", c.BootLease},
	} {
		if t.is <= 0 {
			return fmt.Errorf("--%s %s is over before it begins: say how long, as 30m", t.flag, t.is)
		}
	}
	return c.checkPatience()
}

// checkPatience refuses times for BMCs with which nothing could be done, or nothing would end.
func (c *Config) checkPatience() error {
	p := c.patience()
	for _, s := range node.PatienceSettings() {
		if is := *s.Of(&p); is < s.Least || is > s.Most {
			return fmt.Errorf("--%s %s is out of bounds: say from %s to %s", s.Name, is, s.Least, s.Most)
		}
	}
	return nil
}

// checkPower refuses a power sync that would not read, or read without pause.
func (c *Config) checkPower() error {
	for _, s := range []struct {
		flag string
		is   time.Duration
		may  bool // be 0
	}{
		{"sync-power-state-interval", c.SyncInterval, true},
		{"power-failure-recovery-interval", c.RecoveryInterval, true},
		{"sensor-interval", c.SensorInterval, true},
		{"soft-power-off-timeout", c.SoftPowerOffTimeout, false},
	} {
		if s.is < time.Second && (s.is != 0 || !s.may) {
			return fmt.Errorf("--%s %s is too short: say 1s or more", s.flag, s.is)
		}
	}
	if c.Workers < 1 {
		return fmt.Errorf("--workers %d carries out nothing: say 1 or more", c.Workers)
	}
	if c.SyncWorkers < 1 {
		return fmt.Errorf("--sync-power-state-workers %d reads nothing: say 1 or more, or --sync-power-state-interval 0",
			c.SyncWorkers)
	}
	if c.SyncRetries < 0 {
		return fmt.Errorf("--power-state-sync-max-retries %d is less than none: say 0 or more", c.SyncRetries)
	}
	return nil
}
