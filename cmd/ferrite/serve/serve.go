package serve

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"os/signal"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/ferrite-metal/ferrite/cmd/ferrite/internal/flaggroup"
	"github.com/ferrite-metal/ferrite/conductor/api/audit"
	"github.com/ferrite-metal/ferrite/conductor/engine"
	"github.com/ferrite-metal/ferrite/conductor/engine/events"
	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/conductor/node/objects"
	"github.com/ferrite-metal/ferrite/conductor/server/datafolder"
)

// Command is `ferrite serve`.
func Command() *cobra.Command {
	c := &cobra.Command{
		Use:   "serve",
		Short: "Run a conductor: the REST API, the node state machine and, with --boot, the boot service",
		Long: "Runs in the foreground, logs to standard error, and ends on SIGTERM, SIGINT or SIGHUP. It answers\n" +
			"GET /v1 when it is ready, and notifies systemd (Type=notify, WatchdogSec). All its state is in\n" +
			"--data-dir and --database. However it ends, the next start continues every node from there.",
		Example: serveExample,
		Args:    cobra.NoArgs, SilenceUsage: true,
	}
	conf, s := newConfig(c.Flags())
	c.RunE = func(cmd *cobra.Command, _ []string) error {
		if cmd.Flags().Changed(flaggroup.All) {
			return cmd.Help()
		}
		if err := conf.read(s); err != nil {
			return err
		}
		conf.release = cmd.Root().Version
		if conf.OnlyCheck {
			return conf.tryOut(cmd.OutOrStdout())
		}
		ctx, stop := orderly(cmd.Context())
		defer stop()
		signal.Ignore(syscall.SIGPIPE) // whoever reads the log must not end the conductor by going
		out, flush := queued(cmd.ErrOrStderr(), conf.LogFormat)
		defer flush()
		return run(ctx, *conf, out)
	}
	s.complete(c)
	return c
}

// orderly ends a command by signals so that it cleans up first.
func orderly(ctx context.Context) (context.Context, context.CancelFunc) {
	return signal.NotifyContext(ctx, syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP)
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

// run opens the data folder and serves its nodes until ctx ends.
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
	limitMemory(log)
	if c.ClusterKey != "" {
		return serveCluster(ctx, c, log)
	}
	ctx, fail := context.WithCancelCause(ctx)
	defer fail(nil)
	folder := datafolder.Folder{Dir: c.DataDir, Init: c.Init, Server: c.server(), Ended: fail,
		Reserve: int64(c.DiskReserve) << 20}
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
	events.Store
	events.Places
	audit.Store
	// Usage returns the number of a project's records by kind, and their bytes together.
	Usage(ctx context.Context, project string) (node.Usage, error)
	// DropOldEraseReports deletes reports older than before, of nodes that no longer exist.
	DropOldEraseReports(ctx context.Context, before time.Time) (int64, error)
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
	listener, err := c.listen(log)
	if err != nil {
		return err
	}
	defer listener.Close() // the server does, too, once it serves
	agents, err := c.listenAgents(log)
	if err != nil {
		return err
	}
	if agents != nil {
		defer agents.Close() // as above
		agents = encrypted(agents, cert)
	}
	ctx, fail := context.WithCancelCause(ctx)
	defer fail(nil)
	w, err := c.assemble(ctx, parts{
		db: db, images: images, keys: owned, who: who, cert: cert, agentsAt: agentsAt(listener, agents),
		ready: readiness(db), fail: fail,
		streams: newStreams(log),
	}, log)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, w.close()) }()
	defer fail(nil)
	return serving{work: w, listener: encrypted(listener, cert), agents: agents,
		manager: serviceManagerOf(log)}.run(ctx)
}
