// Command ferrite-agent is process 1 of Ferrite's ramdisk: it brings the machine up, reports to the conductor named on
// the kernel's command line, and carries out the conductor's commands. Started by hand as an ordinary process, it
// leaves the machine as it is and takes its parameters as arguments instead:
//
//	ferrite-agent ipa-api-url=http://127.0.0.1:6385
package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"runtime/debug"
	"strings"
	"syscall"

	"github.com/ferrite-metal/ferrite/agent"
	"github.com/ferrite-metal/ferrite/agent/boot"
	"github.com/ferrite-metal/ferrite/agent/disk"
	"github.com/ferrite-metal/ferrite/agent/inventory"
	"github.com/ferrite-metal/ferrite/agent/logbook"
	"github.com/ferrite-metal/ferrite/agent/param"
	"github.com/ferrite-metal/ferrite/agent/steps"
	"github.com/ferrite-metal/ferrite/agent/sys"
)

// memoryLimit bounds the memory that Go takes from the machine: an image's largest buffers (72 MiB, images/disk) and
// the agent itself. Without it, a heap with one such buffer would grow to twice that size before Go sweeps it.
const memoryLimit = 84 << 20

// listen is the port conductors command agents on.
const listen = ":9999"

func main() {
	if err := sys.Inside(os.Args); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	if os.Getpid() == 1 {
		first() // never returns: the kernel panics when process 1 ends
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	book, stream := &logbook.Book{}, &logbook.Stream{}
	book.Add(os.Stderr)
	book.Add(stream)
	settled := make(chan struct{})
	close(settled)
	p, log, err := parameters(book, strings.Join(os.Args[1:], " "))
	if err == nil {
		o := options(p, book, log)
		o.Network, o.Settled, o.Stream = present{}, settled, stream
		o.LoadModule = func(string) {} // the kernel has its own modprobe here
		o.Run = (*exec.Cmd).Run
		err = agent.New(o).Run(ctx)
	}
	if err != nil && !errors.Is(err, context.Canceled) {
		log.Error("agent ended", "err", err)
		stop()
		os.Exit(1)
	}
}

// parameters reads a command line and makes the logger it asks for.
func parameters(book *logbook.Book, cmdline string) (param.Params, *slog.Logger, error) {
	p, problems, err := param.Parse(cmdline)
	log := book.Logger(p.Debug, sys.Linux{}.Uptime)
	for _, problem := range problems {
		log.Warn("parameter left at its default", "err", problem)
	}
	return p, log, err
}

// options builds the agent's options for this machine. The caller adds those that
// depend on whether the agent is process 1.
func options(p param.Params, book *logbook.Book, log *slog.Logger) agent.Options {
	if total := (sys.Linux{}).Memory(); total > 0 {
		debug.SetMemoryLimit(min(total/2, memoryLimit)) // the rest is the kernel's, and the ramdisk's itself
	}
	root := os.DirFS("/")
	return agent.Options{
		Params: p, Root: root, Kernel: sys.Linux{},
		Open: func(ctx context.Context, path string) (steps.Device, error) { return disk.OpenDevice(ctx, path) },
		EFIVars: func() disk.EFIVars {
			if inventory.BootMode(root) != "uefi" {
				return nil
			}
			return disk.EFIVarFS("/sys/firmware/efi/efivars")
		},
		Pstore: func() (string, error) { return boot.MountPstore(sys.Linux{}) },
		Arch:   runtime.GOARCH, Listen: listen, Book: book, Log: log,
	}
}
