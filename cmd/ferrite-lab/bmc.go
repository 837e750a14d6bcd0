package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/ferrite-metal/ferrite/lab/bmccheck"
	"github.com/ferrite-metal/ferrite/lab/recorded"
	"github.com/ferrite-metal/ferrite/lab/redfish"
)

// recordedBMC serves a recorded BMC until it is interrupted.
func recordedBMC() *cobra.Command {
	var tree, listen, personality, fault string
	var conf recorded.Config
	c := &cobra.Command{
		Use:   "bmc --tree DIR|FILE.tar.xz",
		Short: "Serve a recorded BMC, which can be used like a real one",
		Long: `Serve a tree of recorded Redfish documents (PATH/index.json for each resource, as DMTF's
Redfish-Mockup-Creator writes it) as a BMC: with sessions, and with a copy in memory that
writes, resets and boot overrides change. Nothing is written to the tree.

A recording does not show how a BMC takes writes. With --personality it also departs from the
standard as a vendor's BMCs do, as far as a recording can.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if tree == "" {
				return errors.New("--tree is missing: the folder or archive of the recorded documents")
			}
			var err error
			if conf.Tree, err = recorded.Load(tree); err != nil {
				return err
			}
			p, err := redfish.FindPersonality(personality)
			if err != nil {
				return fmt.Errorf("--personality: %w", err)
			}
			conf.Deviations = recorded.Deviations(p)
			var f redfish.Fault
			if fault != "" {
				if f, err = redfish.ParseFault(fault); err != nil {
					return fmt.Errorf("--fault: %w", err)
				}
			}
			l, err := (&net.ListenConfig{}).Listen(cmd.Context(), "tcp", listen)
			if err != nil {
				return fmt.Errorf("--listen: %w", err)
			}
			_, err = fmt.Fprintf(cmd.OutOrStdout(), "%s: %d resources, systems %v\nredfish_address=http://%s "+
				"redfish_username=%s redfish_password=%s\n", conf.Tree.Name, conf.Tree.Len(), conf.Tree.Systems(), l.Addr(),
				conf.Username, conf.Password)
			if err != nil {
				return errors.Join(err, l.Close())
			}
			if odd := conf.Tree.Odd(); len(odd) > 0 {
				cmd.PrintErrf("These documents are no JSON objects, and are served as they were recorded: %s\n",
					strings.Join(odd, ", "))
			}
			bmc := recorded.New(conf)
			if fault == "" {
				return serve(cmd.Context(), l, bmc)
			}
			faulty, err := recorded.WithFault(bmc, f)
			if err != nil {
				return errors.Join(err, l.Close())
			}
			return serve(cmd.Context(), l, faulty)
		},
	}
	f := c.Flags()
	f.StringVar(&tree, "tree", "", "`folder or archive` of the recorded documents (required)")
	f.StringVar(&personality, "personality", redfish.Ideal,
		"`name` of the vendor's BMC it behaves like: "+strings.Join(redfish.PersonalityNames(), ", "))
	f.StringVar(&fault, "fault", "",
		"`fault` that requests meet, as slow:8s, busy:2s*3 (three times), truncated*1; one of "+redfish.FaultNames())
	f.StringVar(&listen, "listen", "127.0.0.1:0", "`address` to serve at, by HTTP")
	f.StringVar(&conf.Username, "username", "admin", "user who may log in; empty for all")
	f.StringVar(&conf.Password, "password", "recorded", "password of the user; it protects nothing")
	f.DurationVar(&conf.PowerDelay, "power-delay", 2*time.Second, "time between a reset and the power that follows it")
	return c
}

// serve serves until ctx ends.
func serve(ctx context.Context, l net.Listener, h http.Handler) error {
	s := &http.Server{Handler: h, ReadHeaderTimeout: 10 * time.Second}
	stop := context.AfterFunc(ctx, func() { _ = s.Close() })
	defer stop()
	if err := s.Serve(l); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

func bmcCheck() *cobra.Command {
	var all bool
	c := &cobra.Command{
		Use:   "bmc-check DIR|FILE...",
		Short: "Run the Redfish driver over recorded BMCs, and print what works",
		Long: `Run the Redfish driver's operations over recorded BMCs: folders or archives of trees, or folders
with several. Each operation starts with the BMC as it was recorded. The exit status is 1 if one
fails.`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			var personalities []redfish.Personality
			if all {
				personalities = redfish.Personalities()
			}
			found, trees, err := bmccheck.Run(cmd.Context(), args, personalities...)
			if trees > 0 {
				err = errors.Join(err, bmccheck.Print(cmd.OutOrStdout(), found, trees))
			}
			if err != nil {
				return err
			}
			if bmccheck.Failed(found) {
				return errors.New("an operation fails: see the table")
			}
			return nil
		},
	}
	c.Flags().BoolVar(&all, "personalities", false,
		"check each tree once with each personality that a recording can have")
	return c
}
