package main

import (
	"context"
	"log/slog"
	"os"

	"github.com/ferrite-metal/ferrite/agent/boot"
	"github.com/ferrite-metal/ferrite/agent/logbook"
	"github.com/ferrite-metal/ferrite/agent/param"
	"github.com/ferrite-metal/ferrite/agent/screen"
	"github.com/ferrite-metal/ferrite/agent/sys"
)

// consoles maps the terminals that the kernel prints to onto their screens; nil for a terminal that cannot be opened.
type consoles map[string]*screen.Console

// open finds the consoles. Displays show the board, and the end of the log with
// it; the others the log, and a line when the board changes. The kernel's log gets
// the log too.
func open(ctx context.Context, kernel sys.Linux, book *logbook.Book, board *screen.Board) consoles {
	book.Add(board)
	paths, err := kernel.Consoles()
	if err != nil || len(paths) == 0 {
		paths = []string{"/dev/console"}
	}
	all := consoles{}
	for _, path := range paths {
		all[path] = nil
		tty, err := kernel.OpenTerminal(path)
		if err != nil {
			continue // a missing console shows nothing
		}
		all[path] = screen.NewConsole(tty, sizeOf(kernel, path, tty))
		if !screen.Display(path) {
			book.Add(tty)
		}
		go all[path].Show(ctx, board) // for the life of the machine
	}
	if kmsg, err := kernel.Kmsg(logbook.KernelTag); err == nil {
		book.Add(kmsg)
	}
	return all
}

func sizeOf(kernel sys.Linux, path string, tty *os.File) func() (columns, rows int) {
	if !screen.Display(path) {
		return nil
	}
	return func() (columns, rows int) { return kernel.Window(tty) }
}

// take leaves a console to its user.
func (c consoles) take(path string) (giveBack func()) {
	if c[path] == nil {
		return func() {}
	}
	return c[path].Take()
}

// shells offers a shell on every console, or says why there is none.
func (c consoles) shells(ctx context.Context, kernel sys.Linux, reaper *boot.Reaper, access boot.Access,
	board *screen.Board, log *slog.Logger) {
	hint := access.Hint
	if boot.FindShell() == "" {
		hint = "no shell here: this ramdisk has none"
	}
	board.Set(func(s *screen.State) { s.Shell = hint })
	if access.Shell == param.ShellNever {
		log.Info("consoles give no shell", "reason", access.Hint)
		return
	}
	s := boot.Shell{Kernel: kernel, Reaper: reaper, Log: log, Paths: boot.ShellPaths(),
		AtOnce: access.Shell == param.ShellAtOnce, Take: c.take}
	for path := range c {
		go func() {
			if err := s.Serve(ctx, path); err != nil {
				log.Debug("no shell on this console", "err", err)
			}
		}()
	}
}
