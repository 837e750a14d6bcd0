// Command benchcompare measures whether a change made anything slower or heavier. It runs the lines of `make bench` of
// this tree and of another commit in turns: a figure of one run varies with the machine's other load. It prints the
// ratio of each figure. Above 1 this tree is better.
//
// It knows no benchmark: it asks both Makefiles for the lines, and reads any number with a unit that it knows. Packages
// may move between the two commits. A figure that only one of them prints is named, not compared.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"regexp"
	"syscall"
)

// options of one comparison.
type options struct {
	base   string // commit
	only   *regexp.Regexp
	rounds int
	least  float64
}

func main() {
	var o options
	only := flag.String("only", "", "run the lines of `make bench` alone that match this `expression`")
	flag.StringVar(&o.base, "base", "", "the `commit` to compare with")
	flag.IntVar(&o.rounds, "rounds", 3, "turns of each line; a line with a figure that is worse has as many again")
	flag.Float64Var(&o.least, "least", 0.9, "the least ratio of a figure")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := start(ctx, o, *only); err != nil {
		fmt.Fprintln(os.Stderr, "bench-compare:", err)
		os.Exit(1)
	}
}

// start refuses odd options and compares.
func start(ctx context.Context, o options, only string) error {
	var err error
	if o.only, err = regexp.Compile(only); err != nil {
		return fmt.Errorf("-only: %w", err)
	}
	if o.base == "" || o.rounds < 1 || o.least <= 0 {
		return errors.New("expected -base COMMIT, -rounds of 1 or more and -least above 0: make bench-compare BASE=COMMIT")
	}
	return compare(ctx, o)
}
