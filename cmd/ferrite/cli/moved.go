package cli

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
)

// moved are the commands that have another name since release 0.2. Release 0.3 forgets the old ones.
var moved = []struct{ from, to string }{
	{"apply", "host apply"}, {"get", "host get"}, {"describe", "host describe"}, {"delete", "host delete"},
	{"backup", "server backup"}, {"doctor", "server doctor"}, {"restore", "server restore"},
	{"resume", "server resume"}, {"secrets", "server secrets"}, {"setup", "server setup"}, {"store", "server store"},
	{"image build", "ramdisk build"}, {"image inspect", "ramdisk inspect"}, {"image iso", "ramdisk iso"},
}

// addMoved keeps old names of commands working, hidden from help. Each names its new one on standard error.
func addMoved(root *cobra.Command) {
	for _, m := range moved {
		if _, rest, err := root.Find(strings.Fields(m.to)); err != nil || len(rest) > 0 {
			continue // of an extra that is not built in
		}
		words := strings.Fields(m.from)
		parent, _, err := root.Find(words[:len(words)-1])
		if err != nil {
			panic(err) // a mistake above, which the first run of any test would show
		}
		parent.AddCommand(renamed(words[len(words)-1], "ferrite "+m.from, m.to))
	}
}

// renamed runs the command of another name with the same arguments and flags.
func renamed(word, from, to string) *cobra.Command {
	c := &cobra.Command{
		Use: word, Args: cobra.ArbitraryArgs, Hidden: true, DisableFlagParsing: true,
		Annotations:      map[string]string{asks: nothing},
		PersistentPreRun: func(*cobra.Command, []string) {}, // the new name's opens the session
		RunE: func(cmd *cobra.Command, args []string) error {
			fmt.Fprintf(cmd.ErrOrStderr(), "%s is now: ferrite %s\n", from, to)
			root := cmd.Root()
			root.SetArgs(append(strings.Fields(to), args...))
			c, err := root.ExecuteContextC(cmd.Context())
			if err != nil {
				return explainFlags(c, err)
			}
			return nil
		},
	}
	c.SetHelpFunc(func(cmd *cobra.Command, _ []string) {
		if now, _, err := cmd.Root().Find(strings.Fields(to)); err == nil {
			_ = now.Help() // it only prints
		}
	})
	return c
}
