package client

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
)

// DefaultURL is where a conductor listens by default.
const DefaultURL = "http://127.0.0.1:6385"

// Session is what all commands of one run share.
type Session struct {
	Release string
	Url     string
	Output  string
	Timeout time.Duration
	Login   login
	Client  *client
}

// Outputs are the forms that a command prints in.
func Outputs(cmd *cobra.Command) []string {
	forms := []string{"table", "json", "yaml"}
	if more := cmd.Annotations[MoreOutputs]; more != "" {
		forms = append(forms, strings.Split(more, ",")...)
	}
	return forms
}

// CheckOutput refuses forms that a command cannot print in.
func (s *Session) CheckOutput(cmd *cobra.Command) error {
	forms := Outputs(cmd)
	if slices.Contains(forms, s.Output) {
		return nil
	}
	last := len(forms) - 1
	return fmt.Errorf("--output %q: expected %s or %s", s.Output, strings.Join(forms[:last], ", "), forms[last])
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

// MoreOutputs is the annotation of commands that can print in more forms than all
// can: their names, between commas.
const MoreOutputs = "outputs"

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
