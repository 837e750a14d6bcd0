package serve

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net"
	"net/http"
	"net/netip"
	"os/signal"
	"path/filepath"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/ferrite-metal/ferrite/conductor/agents"
	"github.com/ferrite-metal/ferrite/conductor/api"
	"github.com/ferrite-metal/ferrite/conductor/audit"
	"github.com/ferrite-metal/ferrite/conductor/auth"
	"github.com/ferrite-metal/ferrite/conductor/bmc"
	"github.com/ferrite-metal/ferrite/conductor/bootlog"
	"github.com/ferrite-metal/ferrite/conductor/bootmedia"
	"github.com/ferrite-metal/ferrite/conductor/bootpolicy"
	"github.com/ferrite-metal/ferrite/conductor/certificate"
	"github.com/ferrite-metal/ferrite/conductor/changes"
	"github.com/ferrite-metal/ferrite/conductor/console"
	"github.com/ferrite-metal/ferrite/conductor/datafolder"
	docevents "github.com/ferrite-metal/ferrite/conductor/documents/events"
	"github.com/ferrite-metal/ferrite/conductor/documents/kube"
	"github.com/ferrite-metal/ferrite/conductor/documents/objects"
	"github.com/ferrite-metal/ferrite/conductor/engine"
	"github.com/ferrite-metal/ferrite/conductor/exchangelog"
	"github.com/ferrite-metal/ferrite/conductor/imagesource"
	"github.com/ferrite-metal/ferrite/conductor/metrics"
	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/conductor/outbound"
	"github.com/ferrite-metal/ferrite/conductor/traces"
	"github.com/ferrite-metal/ferrite/images/bootiso"
	"github.com/ferrite-metal/ferrite/proto/connlimit"
	bootserver "github.com/ferrite-metal/ferrite/pxe/server"
)

// Command is `ferrite serve`.
func Command() *cobra.Command {
	c := &cobra.Command{
		Use:   "serve",
		Short: "Run a conductor: the REST API, the node state machine and, with --boot, the boot service",
		Long: "Runs in the foreground, logs to standard error, and ends on SIGTERM or SIGINT. It answers\n" +
			"GET /v1 when it is ready, and tells systemd so (Type=notify, WatchdogSec). All its state is in\n" +
			"--data-dir and --database. However it ends, the next start continues every node from there.",
		Example: serveExample,
		Args:    cobra.NoArgs, SilenceUsage: true,
		RunE: func(cmd *cobra.Command, _ []string) error {
			conf, err := read(cmd.Flags())
			if err != nil {
				return err
			}
			conf.release = cmd.Root().Version
			if conf.Check {
				return conf.tryOut(cmd.OutOrStdout())
			}
			ctx, stop := signal.NotifyContext(cmd.Context(), syscall.SIGTERM, syscall.SIGINT)
			defer stop()
			return run(ctx, conf, cmd.ErrOrStderr())
		},
	}
	flags(c.Flags())
	complete(c)
	return c
}

const serveExample = `  ferrite serve                                   # at 127.0.0.1:6385, for this computer alone
  ferrite serve --config /etc/ferrite/ferrite.yaml
  ferrite serve --config /etc/ferrite/ferrite.yaml --check

A configuration file has the names of the flags:

  data-dir: /var/lib/ferrite
  api-address: 0.0.0.0:6385
  auth: [basic, token]
  htpasswd-file: /etc/ferrite/htpasswd
  users-file: /etc/ferrite/users.yaml
  tls-cert: /etc/ferrite/cert.pem
  tls-key: /etc/ferrite/key.pem
  boot: true
  boot-interface: eth1
  ramdisk-kernel: /var/lib/ferrite-images/kernel
  ramdisk-initrd: /var/lib/ferrite-images/initrd

Each is an environment variable, too: FERRITE_BOOT_INTERFACE=eth1.`

// How many connections the API serves at a time, in all and of one address: one
// that does nothing costs 20 KB, is cut off after some seconds, and before that
// gives way to others.
const (
	maxConnections = 1024
	maxEach        = 64
)

// run opens the data folder and serves what it holds until ctx ends.
func run(ctx context.Context, c Config, stderr io.Writer) (err error) {
	log, err := logger(c.LogLevel, c.LogFormat, stderr)
	if err != nil {
		return err
	}
	unlock, err := datafolder.Lock(c.DataDir)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, unlock()) }()
	if c.ClusterKey != "" {
		return serveCluster(ctx, c, log)
	}
	ctx, fail := context.WithCancelCause(ctx)
	defer fail(nil)
	folder := datafolder.Folder{Dir: c.DataDir, Init: c.Init, Server: c.server(), Ended: fail}
	db, err := folder.Open(ctx, log, nil)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, folder.Closing(), db.Close()) }()
	return conduct(ctx, c, db, log)
}

// Database keeps nodes, and the documents of hosts.
type Database interface {
	engine.Store
	objects.Store
	eventStore
	audit.Store
}

// conduct runs a conductor that has a store for itself, until ctx ends.
func conduct(ctx context.Context, c Config, db Database, log *slog.Logger) (err error) {
	owned, err := datafolder.OpenKeys(c.DataDir)
	if err != nil {
		return err
	}
	who, cert, err := c.access(owned.Secrets, log)
	if err != nil {
		return err
	}
	images, err := c.openImages(log)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, images.Close()) }()
	listener, err := c.listen()
	if err != nil {
		return err
	}
	defer listener.Close() // the server does, too, once it serves
	ctx, fail := context.WithCancelCause(ctx)
	defer fail(nil)
	w, err := c.assemble(ctx, parts{
		db: db, images: images, keys: owned, who: who, cert: cert, api: listener.Addr(), ready: readiness(db), fail: fail,
	}, log)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, w.close()) }()
	defer fail(nil)
	return serving{work: w, listener: limited(listener, cert, log), manager: serviceManagerOf(log)}.run(ctx)
}

// listen opens the port of the API.
func (c Config) listen() (net.Listener, error) {
	listener, err := net.Listen("tcp", c.APIAddress)
	if err != nil {
		return nil, fmt.Errorf("api: %w; is another conductor running? choose another --api-address", err)
	}
	return listener, nil
}

// limited bounds the connections of strangers, and speaks TLS where there is a certificate.
func limited(listener net.Listener, cert *certificate.Certificate, log *slog.Logger) net.Listener {
	listener = connlimit.LimitAnd(listener, maxConnections, maxEach, func(from netip.Addr, each int) {
		log.Warn("connections refused: an address has as many as it may; its clients should send several requests over one",
			"address", from, "connections", each)
	})
	if cert != nil {
		listener = tls.NewListener(listener, cert.TLS())
	}
	return listener
}

// hardwareTypes is the drivers as the engine knows them.
func hardwareTypes(drivers *bmc.Set) map[string]engine.BMC {
	bmcs := map[string]engine.BMC{}
	for name, d := range drivers.Types() {
		bmcs[name] = d
	}
	return bmcs
}

// takeUp goes on with the nodes of the last run, before anybody can ask for more.
func (c Config) takeUp(ctx context.Context, eng *engine.Engine, logs *bootlog.Keeper) error {
	if err := eng.Recover(ctx); err != nil {
		return fmt.Errorf("take up the nodes of the last run: %w", err)
	}
	if err := sweep(ctx, eng, logs); err != nil {
		return fmt.Errorf("logs of deleted nodes: %w", err)
	}
	return nil
}

// proof is what ramdisks must show: the one-time word of their boot where boot
// scripts are ours, and a leased address where only our DHCP gives any.
func (c Config) proof(key []byte) engine.Proof {
	return engine.Proof{Words: c.Boot, Leases: c.Boot && !c.OtherDHCP, Key: key}
}

// api is what is served: for operators, for kubectl, and for ramdisks.
func (c Config) api(stopping context.Context, ready func() error, eng *engine.Engine, images api.Images,
	documents *objects.Keeper, owners api.Hosts,
	eventLog *docevents.Log, told *changes.Log, record *audit.Recorder, logs *bootlog.Keeper,
	consoles *console.Consoles, boot *bootserver.Server,
	counters *metrics.Metrics, tracer *traces.Tracer, called *exchangelog.Log, leaders api.Leaders,
	who *auth.Authenticator, log *slog.Logger) *api.API {
	ramdisks := agents.NewServer(agents.Options{Conductor: eng, Logs: logs, HeartbeatTimeout: c.HeartbeatTimeout,
		BIOSBootloader: c.BIOSBootloader, CallbackPath: c.AgentPath})
	hosts := kube.Options{Keeper: documents, Events: eventLog, Log: log, Stopping: stopping, Ready: ready}
	options := api.Options{Conductor: eng, Leaders: leaders, Hosts: owners, Logs: logs, Consoles: consoles, Log: log,
		Images: images, Stopping: stopping, Calls: called,
		Mounts: ramdisks.Handlers(), Answered: counters.Answered}
	if record != nil {
		options.Audit = record
	}
	if tracer != nil {
		options.Follow = tracer.Follow
	}
	if told != nil {
		options.Events = told
	}
	if c.Metrics == "" {
		options.Metrics = counters
	}
	if boot != nil { // a nil pointer in an interface would not be nil
		options.Boot = boot
		options.BootWatch = &bootpolicy.Watch{Log: boot.Watch(), Engine: eng}
	}
	if who != nil {
		options.Auth, options.Sessions, options.Users, hosts.Auth = who, who, who, who
	}
	maps.Copy(options.Mounts, kube.New(hosts).Handlers())
	return api.New(options)
}

// sweep removes the logs of nodes that were deleted while nobody could.
func sweep(ctx context.Context, eng *engine.Engine, logs *bootlog.Keeper) error {
	nodes, err := logs.Nodes()
	if err != nil {
		return err
	}
	for _, uuid := range nodes {
		_, err := eng.Node(ctx, uuid)
		var refusal *node.Refusal
		if errors.As(err, &refusal) && refusal.Kind == node.NotFound {
			err = logs.Forget(uuid)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// probe looks at images at http(s) URLs before a deploy; nil when it is not to.
func (c Config) probe(servers *outbound.Policy) engine.ImageProbe {
	if !c.CheckImages {
		return nil
	}
	return imagesource.NewProber(servers.Client())
}

// listenBoot opens the boot service; nil without --boot.
func (c Config) listenBoot(ctx context.Context, eng *engine.Engine, images *imagesource.Sources, p parts,
	dialled *outbound.Policy, counters *metrics.Metrics, log *slog.Logger) (*bootserver.Server, error) {
	if !c.Boot {
		return nil, nil
	}
	addr, subnets, err := c.subnets()
	if err != nil {
		return nil, err
	}
	url := c.AdvertiseURL
	if url == "" {
		_, port, err := net.SplitHostPort(p.api.String())
		if err != nil {
			return nil, err
		}
		url = c.scheme() + net.JoinHostPort(addr.String(), port)
	}
	policy := &bootpolicy.Policy{Engine: eng, Log: log, Kernel: c.Kernel, Initrd: c.Initrd, APIURL: url,
		Append: c.KernelAppend, Local: c.FilePaths, Images: images}
	if p.cert != nil {
		policy.Pins = p.cert.Pins
	}
	media := c.media(eng, policy, addr, dialled, p.keys.Secrets, log)
	eng.Media = media
	return bootserver.Listen(ctx, bootserver.Config{
		Interface: c.BootInterface, Address: addr, Subnets: subnets, LoaderDir: c.LoaderDir,
		Booter: policy, Leases: policy, DHCP: bootserver.DHCPMode(c.DHCP), Foreign: c.OtherDHCP, Log: log,
		Recorder: bootCounter{counters},
		Extra:    map[string]http.Handler{imagesource.Prefix: images.Handler(eng.Node, log), bootmedia.Prefix: media},
	})
}

// media serves the images of virtual drives, with the boot service.
func (c Config) media(eng *engine.Engine, policy *bootpolicy.Policy, at netip.Addr, servers *outbound.Policy,
	key []byte, log *slog.Logger) *bootmedia.Server {
	loaders := c.MediaLoaders
	if loaders == "" {
		loaders = filepath.Join(filepath.Dir(c.Kernel), bootiso.Folder)
	}
	url := c.MediaURL
	if url == "" {
		url = "http://" + netip.AddrPortFrom(at, bootserver.DefaultHTTPPort).String()
	}
	return bootmedia.New(bootmedia.Config{Conductor: eng, Content: policy.Medium, URL: url, Loaders: loaders, Key: key,
		Client: servers.Client(), Log: log})
}
