// Command run runs a command of the Makefile and shows its progress: `run NAME COMMAND...` (package progress).
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"syscall"

	"github.com/ferrite-metal/ferrite/lab/progress"
)

func main() {
	brief := flag.Bool("brief", false, "show the last line of the output alone, and all of it when the command fails")
	flag.Parse()
	if flag.NArg() < 2 {
		fmt.Fprintln(os.Stderr, "usage: run [-brief] NAME COMMAND...")
		os.Exit(2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := progress.Run(ctx, flag.Arg(0), *brief, flag.Args()[1:]...)
	stop()
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) && exit.ExitCode() > 0 {
		os.Exit(exit.ExitCode()) // the command has printed the reason
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
