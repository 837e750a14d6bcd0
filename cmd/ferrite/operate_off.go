//go:build nooperate

package main

import "github.com/spf13/cobra"

func operate() []*cobra.Command { return nil }
