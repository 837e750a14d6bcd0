package serve

import (
	"os"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/ferrite-metal/ferrite/conductor/agents"
	"github.com/ferrite-metal/ferrite/conductor/engine"
	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/conductor/outbound"
	"github.com/ferrite-metal/ferrite/conductor/plan"
	"github.com/ferrite-metal/ferrite/proto/clientaddr"
	bootserver "github.com/ferrite-metal/ferrite/pxe/server"
)

// Config is the settings of a conductor, which flags declares, in its order.
type Config struct {
	plan.Settings // that decisions depend on; FastTrackTimeout is also the time between heartbeats

	// configuration and data
	DataDir        string
	DiskReserve    int
	Database       string
	PasswordFile   string
	ClusterKey     string
	Group          string
	ClusterAddress string
	Init           bool
	OnlyCheck      bool

	// API, users and TLS
	APIAddress   string
	AgentAPI     string
	Auth         []string
	Htpasswd     string
	Users        string
	PolicyFile   string
	AllowAnybody bool
	AllowedHosts []string
	TLSCert      string
	TLSKey       string
	APITLS       tlsWords

	// hardware and images
	HardwareTypes     []string
	BMCAllow          []string
	RegistryAllow     []string
	ImageAllow        []string
	RulesAllow        []string
	CheckImage        string
	ImageFolder       string
	ImageMaxSize      string
	ImageProjectLimit string
	ProjectLimit      []string
	ImageCache        string
	CAFolder          string
	ConsoleLog        bool

	// this conductor
	LogLevel       string
	LogFormat      string
	EventsKeep     int
	EventsAge      time.Duration
	AuditKeep      time.Duration
	Metrics        string
	SensorSeries   int
	AdvertiseURL   string
	TrustedProxies []string
	PublicURL      string

	// boot service, and discovery
	Boot          bool
	BootInterface string
	BootAddress   string
	BootPool      string
	BootRouter    string
	BootDNS       []string
	BootSubnets   []string
	BootLease     time.Duration
	DHCP          string
	OtherDHCP     bool
	LoaderDir     string
	Kernel        string
	Initrd        string
	MediaURL      string
	RamdiskByArch []string // ARCHITECTURE=KERNEL,INITRAMFS
	MediaLoaders  string
	FilePaths     []string
	Discovery     engine.Discovery // without Redfish
	KernelAppend  string

	// agents
	AgentAllow      []string
	AgentCA         string
	AgentRequireTLS bool
	AgentsTLS       tlsWords
	AgentPath       bool
	Containers      agents.Containers
	// LookupAtRest answers agents of machines at rest that this conductor has not booted.
	LookupAtRest bool

	// the lists of --disallow-*-steps, by framework
	Disallow map[node.Framework]*[]string

	// power, BMCs and sensors
	Workers     int
	SyncWorkers int
	BMCTLS      tlsWords
	IPMISendRaw bool
	VerifyClock bool

	extras  []extra            // their settings; none is changed after read
	release string             // of the program; "" in tests
	proxies clientaddr.Proxies // TrustedProxies, by read
}

// newConfig has the defaults, and declares their settings.
func newConfig(f *pflag.FlagSet) (*Config, *settings) {
	c, s := &Config{extras: newExtras()}, &settings{FlagSet: f, words: map[string][]string{}}
	c.flags(s)
	return c, s
}

// read completes the settings from variables and the file, and refuses those that cannot work.
func (c *Config) read(s *settings) error {
	if err := s.readSources(); err != nil {
		return err
	}
	var err error
	if c.proxies, err = outbound.Networks("trusted-proxies", c.TrustedProxies); err != nil {
		return err
	}
	c.Group = strings.ToLower(c.Group) // as Ironic does
	c.MediaURL = strings.TrimSuffix(c.MediaURL, "/")
	c.BootMedia = c.Boot
	c.Disallowed = c.disallowed()
	c.OtherDHCP = c.OtherDHCP || c.DHCP != string(bootserver.DHCPFull)
	c.takeCredentials(os.Getenv("CREDENTIALS_DIRECTORY"))
	if err := s.outOfBounds(); err != nil {
		return err
	}
	return c.checkTogether()
}

// parsed is the settings of a command line.
func parsed(args ...string) (Config, error) {
	f := pflag.NewFlagSet("serve", pflag.ContinueOnError)
	c, s := newConfig(f)
	if err := f.Parse(args); err != nil {
		return *c, err
	}
	err := c.read(s)
	return *c, err
}
