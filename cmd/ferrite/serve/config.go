package serve

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/knadh/koanf/parsers/yaml"
	"github.com/knadh/koanf/providers/env/v2"
	"github.com/knadh/koanf/providers/file"
	"github.com/knadh/koanf/providers/posflag"
	"github.com/knadh/koanf/v2"
	"github.com/spf13/pflag"

	"github.com/ferrite-metal/ferrite/cmd/ferrite/internal/siteconfig"
	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/conductor/server/reload"
	"github.com/ferrite-metal/ferrite/proto/clientaddr"
	bootserver "github.com/ferrite-metal/ferrite/pxe/server"
)

// Config is the settings of a conductor. The keys are the flags' names, in a YAML file as on
// the command line; FERRITE_ variables use underscores.
type Config struct {
	DataDir      string `koanf:"data-dir"`
	DiskReserve  int    `koanf:"disk-reserve"`
	Init         bool   `koanf:"init"`
	Database     string `koanf:"database"`
	PasswordFile string `koanf:"database-password-file"`
	Group        string `koanf:"group"`
	ClusterKey   string `koanf:"cluster-key-file"`

	ClusterAddress string `koanf:"cluster-address"`

	Check         bool     `koanf:"check"`
	APIAddress    string   `koanf:"api-address"`
	Auth          []string `koanf:"auth"`
	Htpasswd      string   `koanf:"htpasswd-file"`
	Users         string   `koanf:"users-file"`
	AllowAnybody  bool     `koanf:"allow-anybody"`
	AllowedHosts  []string `koanf:"allowed-host"`
	TLSCert       string   `koanf:"tls-cert"`
	TLSKey        string   `koanf:"tls-key"`
	HardwareTypes []string `koanf:"hardware-types"`
	Host          string   `koanf:"host"`
	CAFolder      string   `koanf:"ca-folder"`
	BMCAllow      []string `koanf:"bmc-allow"`
	ImageAllow    []string `koanf:"image-allow"`
	RegistryAllow []string `koanf:"registry-allow"`
	AgentAllow    []string `koanf:"agent-allow"`
	RulesAllow    []string `koanf:"rules-allow"`
	CheckImage    string   `koanf:"check-image"`
	AgentCA       string   `koanf:"agent-ca"`
	AgentTLS      bool     `koanf:"agent-require-tls"`
	AgentPath     bool     `koanf:"agent-callback-path"`
	LogLevel      string   `koanf:"log-level"`
	LogFormat     string   `koanf:"log-format"`
	Metrics       string   `koanf:"metrics-address"`
	SensorSeries  int      `koanf:"metrics-sensor-series"`

	EventsKeep int           `koanf:"events-keep"`
	EventsAge  time.Duration `koanf:"events-age"`

	AuditKeep time.Duration `koanf:"audit-keep"`

	AdvertiseURL string `koanf:"advertise-url"`
	PublicURL    string `koanf:"public-url"`

	TrustedProxies []string `koanf:"trusted-proxies"`

	AutomatedClean   bool          `koanf:"automated-clean"`
	FastTrack        bool          `koanf:"fast-track"`
	FastTrackAgents  string        `koanf:"fast-track-agents"`
	FastTrackIdle    time.Duration `koanf:"fast-track-idle"`
	Kexec            string        `koanf:"kexec"`
	RamdiskPowerOff  time.Duration `koanf:"ramdisk-shutdown-timeout"`
	DeployTimeout    time.Duration `koanf:"deploy-timeout"`
	CleanTimeout     time.Duration `koanf:"clean-timeout"`
	InspectTimeout   time.Duration `koanf:"inspect-timeout"`
	RescueTimeout    time.Duration `koanf:"rescue-timeout"`
	ServiceTimeout   time.Duration `koanf:"service-timeout"`
	BootRetries      int           `koanf:"boot-retries"`
	BootRetryAfter   time.Duration `koanf:"boot-retry-after"`
	PowerTimeout     time.Duration `koanf:"power-timeout"`
	BMCConnect       time.Duration `koanf:"bmc-connect-timeout"`
	BMCRequest       time.Duration `koanf:"bmc-request-timeout"`
	BMCCall          time.Duration `koanf:"bmc-call-timeout"`
	BMCVerify        time.Duration `koanf:"bmc-verify-timeout"`
	BootModeTimeout  time.Duration `koanf:"boot-mode-timeout"`
	PersonTimeout    time.Duration `koanf:"manual-power-timeout"`
	StepTimeout      time.Duration `koanf:"step-timeout"`
	StepLimit        time.Duration `koanf:"step-limit"`
	HeartbeatTimeout time.Duration `koanf:"heartbeat-timeout"`
	CollectLogs      string        `koanf:"deploy-logs-collect"`

	BIOSBootloader bool `koanf:"enable-bios-bootloader-install"`

	Workers             int `koanf:"workers"`
	MaxConcurrentDeploy int `koanf:"max-concurrent-deploy"`
	MaxConcurrentClean  int `koanf:"max-concurrent-clean"`

	SoftPowerOffTimeout time.Duration `koanf:"soft-power-off-timeout"`
	SyncInterval        time.Duration `koanf:"sync-power-state-interval"`
	SensorInterval      time.Duration `koanf:"sensor-interval"`
	SyncWorkers         int           `koanf:"sync-power-state-workers"`
	SyncRetries         int           `koanf:"power-state-sync-max-retries"`
	RecoveryInterval    time.Duration `koanf:"power-failure-recovery-interval"`
	ForcePowerState     bool          `koanf:"force-power-state-during-sync"`

	ErasePriority     int  `koanf:"erase-devices-priority"`
	EraseContinue     bool `koanf:"continue-if-disk-secure-erase-fails"`
	EraseNVMe         bool `koanf:"enable-nvme-secure-erase"`
	EraseATA          bool `koanf:"enable-ata-secure-erase"`
	EraseSkipReadOnly bool `koanf:"erase-skip-read-only"`
	EraseIterations   int  `koanf:"shred-random-overwrite-iterations"`
	EraseZeroize      bool `koanf:"shred-final-overwrite-with-zeros"`
	EraseConcurrency  int  `koanf:"disk-erasure-concurrency"`
	MetadataPriority  int  `koanf:"erase-devices-metadata-priority"`

	Boot          bool          `koanf:"boot"`
	BootInterface string        `koanf:"boot-interface"`
	BootAddress   string        `koanf:"boot-address"`
	BootPool      string        `koanf:"boot-pool"`
	BootRouter    string        `koanf:"boot-router"`
	BootDNS       []string      `koanf:"boot-dns"`
	BootSubnets   []any         `koanf:"boot-subnets"`
	BootLease     time.Duration `koanf:"boot-lease"`
	DHCP          string        `koanf:"dhcp"`
	OtherDHCP     bool          `koanf:"other-dhcp"`
	LoaderDir     string        `koanf:"loader-dir"`
	Kernel        string        `koanf:"ramdisk-kernel"`
	Initrd        string        `koanf:"ramdisk-initrd"`
	KernelAppend  string        `koanf:"kernel-append"`
	MediaURL      string        `koanf:"media-url"`
	MediaLoaders  string        `koanf:"media-loaders"`
	FilePaths     []string      `koanf:"file-url-allowed-paths"`

	ImageFolder       string `koanf:"image-folder"`
	ImageMaxSize      string `koanf:"image-max-size"`
	ImageProjectLimit string `koanf:"image-project-limit"`

	ProjectLimit []string `koanf:"project-limit"`
	ImageCache   string   `koanf:"image-cache"`

	ConsoleLog bool `koanf:"console-log"`

	Discovery      string `koanf:"discovery"`
	DiscoveryLimit int    `koanf:"discovery-limit"`
	BMCCredentials string `koanf:"bmc-credentials"`

	DefaultInterfaces map[string]string `koanf:"-"` // by kind; those that are set

	extras  []extra            // their settings; none is changed after read
	release string             // of the program; "" in tests
	proxies clientaddr.Proxies // TrustedProxies, by check
}

// read gathers the settings: defaults, file, environment, flags; later ones win. An unknown key is an error, since a
// misspelt setting would have no effect.
func read(f *pflag.FlagSet) (Config, error) {
	k := koanf.New(".")
	path, _ := f.GetString("config")
	if path = cmp.Or(path, os.Getenv(siteconfig.Variable)); path != "" {
		text, err := os.ReadFile(path)
		if err == nil {
			err = reload.OneDocument(text)
		}
		if err == nil {
			err = k.Load(file.Provider(path), yaml.Parser())
		}
		if err != nil {
			return Config{}, fmt.Errorf("configuration file %s: %w", path, err)
		}
		for _, key := range k.Keys() {
			if f.Lookup(key) == nil {
				return Config{}, fmt.Errorf("configuration file %s: unknown setting %q; `ferrite serve --help-all` "+
					"lists them", path, key)
			}
		}
	}
	known := env.Opt{Prefix: "FERRITE_", TransformFunc: func(key, value string) (string, any) {
		key = strings.ReplaceAll(strings.ToLower(strings.TrimPrefix(key, "FERRITE_")), "_", "-")
		fl := f.Lookup(key)
		if fl == nil {
			return "", nil // FERRITE_URL, FERRITE_CACHE and others' variables
		}
		switch fl.Value.Type() {
		case "stringSlice":
			return key, strings.Split(value, ",")
		case "stringArray":
			return key, strings.Split(value, ";")
		}
		return key, value
	}}
	if err := k.Load(env.Provider(".", known), nil); err != nil {
		return Config{}, fmt.Errorf("environment: %w", err)
	}
	if err := k.Load(posflag.Provider(f, ".", k), nil); err != nil {
		return Config{}, fmt.Errorf("flags: %w", err)
	}
	c := Config{extras: newExtras()}
	err := k.Unmarshal("", &c)
	for _, e := range c.extras {
		err = errors.Join(err, k.Unmarshal("", e))
	}
	if err != nil {
		return c, fmt.Errorf("settings: %w", err)
	}
	if c.DHCP != "" && c.DHCP != string(bootserver.DHCPFull) {
		c.OtherDHCP = true
	}
	c.DefaultInterfaces = map[string]string{}
	for _, kind := range node.InterfaceKinds() {
		if name := k.String(defaultInterfaceFlag(kind)); name != "" {
			c.DefaultInterfaces[kind] = name
		}
	}
	c.takeCredentials(os.Getenv("CREDENTIALS_DIRECTORY"))
	err = c.check() // which completes c
	return c, err
}
