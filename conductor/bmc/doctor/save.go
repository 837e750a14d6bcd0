package doctor

import (
	"context"
	"errors"
	"log/slog"

	"github.com/ferrite-metal/ferrite/conductor/bmc/redfish"
	"github.com/ferrite-metal/ferrite/conductor/bmc/savedtree"
	"github.com/ferrite-metal/ferrite/conductor/node"
)

// Saved is the result of Save.
type Saved struct {
	Documents int
	Left      []string // those that the BMC names and did not show, and why
}

// Save reads all documents of a BMC, and writes a copy into a new file (.tar.gz). The copy leaves out values that
// identify the machine. Save changes nothing at the BMC.
func Save(ctx context.Context, n node.Node, o Options, file string) (s Saved, err error) {
	if n.Driver == "ipmi" {
		return s, errors.New("only documents of Redfish can be saved: name the BMC by its https address")
	}
	if err := savedtree.Check(file, savedtree.Suffix); err != nil {
		return s, err
	}
	d := redfish.New(redfish.Options{Log: slog.New(slog.DiscardHandler), ConnectTimeout: o.ConnectTimeout,
		RequestTimeout: o.RequestTimeout, Pause: o.Pause})
	defer func() { err = errors.Join(err, d.Close()) }()
	var read savedtree.Tree
	if s.Left, err = d.Walk(ctx, n, read.Add); err != nil {
		return s, err
	}
	clean, err := read.Redacted()
	if err != nil {
		return s, err
	}
	s.Documents = clean.Len()
	return s, clean.Save(file)
}
