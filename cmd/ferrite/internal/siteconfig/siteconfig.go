// Package siteconfig gives commands that work on the files of a conductor the settings of its configuration file, so
// that they work on a host as they are typed, without flags.
package siteconfig

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"

	"github.com/spf13/cobra"
)

// Default is the configuration file that packages and `ferrite server setup` write.
const Default = "/etc/ferrite/ferrite.yaml"

// Variable names another file.
const Variable = "FERRITE_CONFIG"

// Path is the file that is read without --config.
func Path() string { return cmp.Or(os.Getenv(Variable), Default) }

// settings are the flags of a command that are also keys of the file.
type settings struct {
	path string
	keys []string
}

// Add gives a command --config. Before it or a command below it runs, the file sets the flags with the names of keys.
func Add(c *cobra.Command, keys ...string) {
	s := settings{keys: keys}
	AddFlag(c, &s.path)
	for _, runs := range append(c.Commands(), c) {
		if run := runs.RunE; run != nil && (runs != c || !c.HasSubCommands()) {
			runs.RunE = func(cmd *cobra.Command, args []string) error {
				if err := s.fill(cmd); err != nil {
					return err
				}
				return run(cmd, args)
			}
		}
		if complete := runs.ValidArgsFunction; complete != nil {
			runs.ValidArgsFunction = func(cmd *cobra.Command, args []string, typed string) (
				[]cobra.Completion, cobra.ShellCompDirective) {
				_ = s.fill(cmd) // a shell has no place for an error
				return complete(cmd, args, typed)
			}
		}
	}
}

// AddFlag gives a command, and all below it, --config alone.
func AddFlag(c *cobra.Command, path *string) {
	c.PersistentFlags().StringVar(path, "config", Path(),
		"configuration `file` of ferrite serve, for settings that neither a flag nor a variable names; also $"+Variable)
	c.PersistentFlags().Lookup("config").DefValue = Default // help is the same with any environment
}

// Named reports whether the command line or a variable sets a flag.
func Named(c *cobra.Command, key string) bool {
	_, text := Env(key)
	return c.Flags().Changed(key) || text != ""
}

// fill sets the flags that neither the command line nor a variable sets. A command that names any of its files works
// on another conductor's: then the file is read with --config alone, so that parts of two conductors never mix.
func (s *settings) fill(c *cobra.Command) error {
	said := c.Flags().Changed("config")
	if !said && slices.ContainsFunc(s.keys, func(key string) bool { return Named(c, key) }) {
		return nil
	}
	values, err := read(s.path)
	if err != nil {
		return err
	}
	for _, key := range s.keys {
		flag := c.Flags().Lookup(key)
		value, given := values[key]
		if flag == nil || !given || Named(c, key) {
			continue
		}
		text, err := Scalar(&value)
		if err != nil {
			return fmt.Errorf("configuration file %s: %s: %w", s.path, key, err)
		}
		if err := flag.Value.Set(text); err != nil {
			return fmt.Errorf("configuration file %s: %s: %w", s.path, key, err)
		}
	}
	return nil
}

// read reads a configuration file. A missing default file has no settings.
func read(path string) (Values, error) {
	values, err := Read(path)
	if errors.Is(err, fs.ErrNotExist) && path == Default {
		return nil, nil
	}
	return values, err
}

// NotNamed is the error of a command without a setting that it needs.
func NotNamed(c *cobra.Command, what, key string) error {
	path, _ := c.Flags().GetString("config")
	variable, _ := Env(key)
	err := fmt.Errorf("the %s is not named: set --%s, %s, or %s in %s", what, key, variable, key, path)
	values, unread := read(path)
	if _, missing := os.Stat(path); errors.Is(missing, fs.ErrNotExist) {
		return fmt.Errorf("%w; that file is missing: make it with: ferrite server setup", err)
	}
	if unread == nil && values.text(key) != "" {
		return fmt.Errorf("%w; beside the other flags and variables that file is read with --config alone", err)
	}
	return err
}
