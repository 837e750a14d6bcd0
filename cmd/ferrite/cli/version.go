package cli

import (
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli/internal/client"
	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli/internal/exit"
	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli/internal/output"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// versions holds the versions of the client and the server.
type versions struct {
	Release       string `json:"release"`
	ClientMax     string `json:"client_max_microversion"`
	URL           string `json:"url"`
	ServerMin     string `json:"server_min_microversion,omitempty"`
	ServerMax     string `json:"server_max_microversion,omitempty"`
	ServerProblem string `json:"server_problem,omitempty"`
}

func versionCommand(s *client.Session) *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Show the versions of this command and of the conductor",
		RunE: func(cmd *cobra.Command, _ []string) error {
			v := versions{Release: s.Release, ClientMax: nodeapi.Version(nodeapi.MaxMinor), URL: s.Client.Base}
			var d nodeapi.Discovery
			problem := s.Client.Do(cmd.Context(), "GET", "/", nil, &d)
			if problem != nil { // our own version is worth knowing without a server
				v.ServerProblem = s.Older(problem, "has no Bare Metal API").Error()
			}
			v.ServerMin, v.ServerMax = d.DefaultVersion.MinVersion, d.DefaultVersion.Version
			t := output.NewTable()
			t.Row("ferrite", v.Release)
			t.Row("speaks microversions up to", v.ClientMax)
			t.Row("conductor", v.URL)
			if v.ServerProblem != "" {
				t.Row("problem", v.ServerProblem)
			} else {
				t.Row("conductor speaks", fmt.Sprintf("%s to %s", v.ServerMin, v.ServerMax))
			}
			err := output.PrintAny(s, cmd.OutOrStdout(), v, t)
			switch named := cmd.Flags().Changed("url") || os.Getenv("FERRITE_URL") != ""; {
			case problem == nil:
				return err
			case exit.Of(problem) != exit.Unreachable:
				return errors.Join(err, fmt.Errorf("no conductor answers at %s: %w\n  is --url or FERRITE_URL right?",
					s.Client.Base, problem))
			case named:
				return errors.Join(err, problem)
			}
			return err // no URL was given, and there need be no conductor
		},
	}
}
