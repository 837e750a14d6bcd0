package main

import (
	"context"
	"log/slog"
	"os"
	"sync"
	"time"

	"github.com/ferrite-metal/ferrite/agent"
	"github.com/ferrite-metal/ferrite/agent/boot"
	"github.com/ferrite-metal/ferrite/agent/clock"
	"github.com/ferrite-metal/ferrite/agent/inventory"
	"github.com/ferrite-metal/ferrite/agent/logbook"
	"github.com/ferrite-metal/ferrite/agent/module"
	"github.com/ferrite-metal/ferrite/agent/network"
	"github.com/ferrite-metal/ferrite/agent/param"
	"github.com/ferrite-metal/ferrite/agent/rescue"
	"github.com/ferrite-metal/ferrite/agent/screen"
	"github.com/ferrite-metal/ferrite/agent/sys"
	"github.com/ferrite-metal/ferrite/proto/netconfig"
)

// first is process 1: it brings the machine up and lives as its agent. It never returns, since process 1 has no parent.
func first() {
	kernel := sys.Linux{}
	ctx := context.Background()
	book, stream := &logbook.Book{}, &logbook.Stream{}
	book.Add(stream) // first, so that the conductor sees the same lines as the console
	mountErr := boot.Mounts(kernel)
	consoleErr := kernel.Console()
	board := screen.NewBoard()
	consoles := open(ctx, kernel, book, board)
	line, lineErr := os.ReadFile(sys.Cmdline)
	p, log, paramErr := parameters(book, string(line))
	kernelLog(ctx, kernel, stream, board, log)
	log.Info("agent started", "version", agent.Version, "memory", kernel.Memory())
	for _, err := range []error{mountErr, consoleErr, lineErr, kernel.SetHostname("ferrite-agent"), network.Loopback()} {
		if err != nil {
			log.Error("machine not brought up as it should be", "err", err)
		}
	}
	reaper := boot.NewReaper(kernel, log)
	go reaper.Reap(ctx) // for the life of the machine, as all below
	consoles.shells(ctx, kernel, reaper, boot.ConsoleShell(p.Shell, os.DirFS("/"), paramErr != nil), board, log)
	stayIf(paramErr, board, log)
	go entropy(ctx, kernel, log)
	loader, onMedium := readMedia(ctx, kernel, p, board, log) // with the drivers, if media had to be read
	if onMedium.Parameters != "" {
		line = append(line, " "+onMedium.Parameters...) // the later word counts
		p, log, paramErr = parameters(book, string(line))
		stayIf(paramErr, board, log)
	}
	plan := networkPlan(p, string(line), onMedium, log)
	linkDrivers := make(chan struct{}) // closed once bonds and VLANs can be made
	nics := startNetwork(ctx, p, plan, linkDrivers, log)
	checkNetwork(ctx, p, plan, nics, board, log)
	settled := make(chan struct{})
	go func() { // loader is there once settled is closed
		defer close(settled)
		loader = moreDrivers(ctx, loader, kernel, p, plan, sync.OnceFunc(func() { close(linkDrivers) }), log)
	}()
	o := options(p, book, log)
	o.Clock = clock.NewKeeper(kernel, log)
	o.LoadModule = func(name string) {
		<-settled
		if loader != nil {
			loader.Module(name)
		}
	}
	o.Run = reaper.Run
	o.Network, o.Settled, o.Stream, o.Board = nics, settled, stream, board
	endOperators := letOperatorsIn(ctx, kernel, reaper, log)
	o.Rescue = func(p rescue.Password) error {
		endOperators()
		return letIn(ctx, kernel, reaper, p, log)
	}
	err := agent.New(o).Run(ctx)
	log.Error("agent ended; the machine stays up to be examined", "err", err)
	select {}
}

// stayIf keeps a machine for its consoles' shells if its parameters cannot be used.
func stayIf(paramErr error, board *screen.Board, log *slog.Logger) {
	if paramErr == nil {
		return
	}
	board.Failed(paramErr)
	log.Error("the agent cannot start with this kernel line; see it in a console's shell", "err", paramErr)
	select {}
}

// kernelLog adds the kernel's log to the stream: existing lines before it returns, so
// that the conductor reads lines in order, and new ones from then on. It shows errors
// on the consoles too, since drawing there covers the kernel's own output.
func kernelLog(ctx context.Context, kernel sys.Linux, stream *logbook.Stream, board *screen.Board, log *slog.Logger) {
	read := make(chan struct{})
	caughtUp := sync.OnceFunc(func() { close(read) })
	go func() { // for the life of the machine
		defer caughtUp()
		err := kernel.FollowKernelLog(ctx, func(record []byte) {
			if line, ok := logbook.KernelLine(record); ok {
				stream.Add(line)
				if logbook.KernelError(record) {
					_, _ = board.Write([]byte(line + "\n")) // it never fails
				}
			}
		}, caughtUp)
		log.Warn("the conductor gets no more of the kernel's log", "err", err)
	}()
	<-read
}

// entropy makes sure that the random pool is filled.
func entropy(ctx context.Context, kernel sys.Linux, log *slog.Logger) {
	if err := boot.Entropy(ctx, kernel, log); err != nil {
		log.Error("random numbers may not come; TLS and DHCP then wait without end", "err", err)
	}
}

// startNetwork begins to look after the network interfaces.
func startNetwork(ctx context.Context, p param.Params, plan netconfig.Plan, ready <-chan struct{}, log *slog.Logger,
) *network.Manager {
	m := network.New(network.Linux{}, network.Client{}, bootMAC(p), func(all []network.Config) {
		if err := network.WriteResolvConf("/etc/resolv.conf", all); err != nil {
			log.Warn("names cannot be resolved", "err", err)
		}
	}, log)
	m.Plan, m.Planned = plan, ready
	m.Foreign = func(name string) string { return inventory.BMCCard(os.DirFS("/"), name) }
	go func() {
		if err := m.Run(ctx); err != nil {
			log.Error("network interfaces are not looked after", "err", err)
		}
	}()
	return m
}

// moreDrivers loads the drivers that the network's plan needs. It loads all others, too, where none were loaded before
// the plan was known.
func moreDrivers(ctx context.Context, loaded *module.Loader, kernel sys.Linux, p param.Params, plan netconfig.Plan,
	linkDrivers func(), log *slog.Logger) *module.Loader {
	if loaded == nil {
		return drivers(ctx, kernel, p, plan, linkDrivers, log)
	}
	for _, name := range plan.Modules() {
		loaded.Module(name)
	}
	linkDrivers()
	return loaded
}

// drivers loads the modules the machine needs, and goes on doing so for devices that come later. It returns the loader
// for further modules; nil when nothing can be loaded. It calls linkDrivers once the modules of the network's plan are
// loaded.
func drivers(ctx context.Context, kernel sys.Linux, p param.Params, plan netconfig.Plan, linkDrivers func(),
	log *slog.Logger) *module.Loader {
	defer linkDrivers()
	began := time.Now()
	events, err := kernel.Uevents() // before looking, so that nothing falls between
	if err != nil {
		log.Warn("devices that come later will not be seen", "err", err)
	}
	release, err := kernel.Release()
	if err != nil {
		log.Error("no drivers loaded", "err", err)
		return nil
	}
	root := os.DirFS("/")
	index, err := module.ReadIndex(root, release)
	if err != nil {
		log.Error("no drivers loaded", "err", err)
		return nil
	}
	if p.ModuleOptions["bonding"] == "" {
		p.ModuleOptions["bonding"] = "max_bonds=0" // else it makes a bond0 of its own
	}
	l := module.NewLoader(root, index, kernel, p.ModuleOptions, p.Blacklist, log)
	l.Listed()
	for _, name := range plan.Modules() {
		l.Module(name)
	}
	linkDrivers()
	if err := boot.MountEFI(kernel); err != nil {
		log.Warn("EFI variables cannot be reached", "err", err)
	}
	l.Coldplug()
	log.Info("drivers loaded", "took", time.Since(began).Round(time.Millisecond))
	if events == nil {
		return l
	}
	go func() {
		if err := l.Hotplug(ctx, events); err != nil {
			log.Warn("devices that come later will not be seen", "err", err)
		}
	}()
	return l
}
