package serve

import (
	"os"
	"time"

	"github.com/spf13/pflag"

	"github.com/ferrite-metal/ferrite/conductor/engine"
	"github.com/ferrite-metal/ferrite/conductor/plan"
	"github.com/ferrite-metal/ferrite/proto/clientaddr"
	bootserver "github.com/ferrite-metal/ferrite/pxe/server"
)

// Config is the settings of a conductor, which flags declares.
type Config struct {
	plan.Settings // that decisions depend on; FastTrackTimeout is also the time between heartbeats

	Discovery engine.Discovery // without Redfish

	DataDir      string
	DiskReserve  int
	Init         bool
	Database     string
	PasswordFile string
	Group        string
	ClusterKey   string

	ClusterAddress string

	Check         bool
	APIAddress    string
	Auth          []string
	Htpasswd      string
	Users         string
	AllowAnybody  bool
	AllowedHosts  []string
	TLSCert       string
	TLSKey        string
	HardwareTypes []string
	CAFolder      string
	BMCAllow      []string
	ImageAllow    []string
	RegistryAllow []string
	AgentAllow    []string
	RulesAllow    []string
	CheckImage    string
	AgentCA       string
	AgentTLS      bool
	AgentPath     bool
	LogLevel      string
	LogFormat     string
	Metrics       string
	SensorSeries  int

	EventsKeep int
	EventsAge  time.Duration

	AuditKeep time.Duration

	AdvertiseURL string
	PublicURL    string

	TrustedProxies []string

	Workers int

	SyncWorkers int

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
	KernelAppend  string
	MediaURL      string
	MediaLoaders  string
	FilePaths     []string

	ImageFolder       string
	ImageMaxSize      string
	ImageProjectLimit string

	ProjectLimit []string
	ImageCache   string

	ConsoleLog bool

	extras  []extra            // their settings; none is changed after read
	release string             // of the program; "" in tests
	proxies clientaddr.Proxies // TrustedProxies, by check
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
	c.BootMedia = c.Boot
	c.OtherDHCP = c.OtherDHCP || c.DHCP != string(bootserver.DHCPFull)
	c.takeCredentials(os.Getenv("CREDENTIALS_DIRECTORY"))
	return c.check(s)
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
