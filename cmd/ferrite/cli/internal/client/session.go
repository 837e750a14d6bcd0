// Package client speaks to a conductor: login, requests, and the session that all
// commands of one run share.
package client

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli/internal/exit"
	"github.com/ferrite-metal/ferrite/cmd/ferrite/internal/siteconfig"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// DefaultURL is where a conductor listens by default.
const DefaultURL = "http://127.0.0.1:6385"

// Session is the state that all commands of one run share.
type Session struct {
	Release string
	Url     string
	Output  string
	Timeout time.Duration
	Login   login
	Client  *client
}

// templatePrefix begins the form that shows parts of an answer.
const templatePrefix = "jsonpath="

// Outputs are the forms that a command prints in.
func Outputs(cmd *cobra.Command) []string {
	if only := cmd.Annotations[OnlyOutputs]; only != "" {
		return strings.Split(only, ",")
	}
	return []string{"table", "wide", "name", "json", "yaml", templatePrefix + "TEMPLATE"}
}

// CheckOutput refuses forms that a command cannot print in.
func (s *Session) CheckOutput(cmd *cobra.Command) error {
	forms := Outputs(cmd)
	known := s.Output
	if s.Template() != "" {
		known = templatePrefix + "TEMPLATE"
	}
	if slices.Contains(forms, known) {
		return nil
	}
	last := len(forms) - 1
	return exit.Usage(fmt.Errorf("--output %q: expected %s or %s", s.Output, strings.Join(forms[:last], ", "),
		forms[last]))
}

// People reports whether the output is for people: sentences may be part of it.
func (s *Session) People() bool { return s.Output == "table" || s.Output == "wide" }

// Wide reports whether all fields and columns are asked for.
func (s *Session) Wide() bool { return s.Output == "wide" }

// Template is the template of -o jsonpath=TEMPLATE; "" for other forms.
func (s *Session) Template() string {
	template, _ := strings.CutPrefix(s.Output, templatePrefix)
	if template == s.Output {
		return ""
	}
	return template
}

// Open makes the client.
func (s *Session) Open(stdin io.Reader) error {
	if err := s.Login.open(stdin); err != nil {
		return err
	}
	c, err := newClient(s.Url, s.Release, s.Timeout, &s.Login)
	s.Client = c
	return err
}

// OpenHost has the session ask the conductor of a configuration file, unless a flag or FERRITE_URL names another.
func (s *Session) OpenHost(cmd *cobra.Command, config string) error {
	if cmd.Flags().Changed("url") || os.Getenv("FERRITE_URL") != "" {
		return nil
	}
	url, certificate, err := siteconfig.API(config)
	if err != nil {
		return fmt.Errorf("%w\n  to name the conductor: --url or FERRITE_URL", err)
	}
	s.Url, s.Login.caFile = cmp.Or(url, s.Url), cmp.Or(s.Login.caFile, certificate)
	s.Client, err = newClient(s.Url, s.Release, s.Timeout, &s.Login)
	return err
}

// OnlyOutputs is the annotation of commands that print in other forms than most: their names, between commas.
const OnlyOutputs = "outputs"

// Group makes a command that only holds others.
func Group(use, short, long string, commands ...*cobra.Command) *cobra.Command {
	g := &cobra.Command{
		Use: use, Short: short, Long: long, Args: cobra.NoArgs, RunE: func(cmd *cobra.Command, _ []string) error {
			return cmd.Help()
		},
	}
	g.AddCommand(commands...)
	return g
}

// Must panics on a mistake in the making of a command, which the first run of
// any test would show.
func Must(err error) {
	if err != nil {
		panic(err)
	}
}

type forceKey struct{}

// WithForce has the requests made with ctx taken even where the conductor refuses them by default.
func WithForce(ctx context.Context) context.Context { return context.WithValue(ctx, forceKey{}, true) }

// Forced reports whether ctx is one of WithForce.
func Forced(ctx context.Context) bool {
	forced, _ := ctx.Value(forceKey{}).(bool)
	return forced
}

// setForce marks a request as forced, unless the request only reads.
func setForce(ctx context.Context, req *http.Request) {
	if Forced(ctx) && req.Method != http.MethodGet {
		req.Header.Set(nodeapi.HeaderForce, "true")
	}
}
