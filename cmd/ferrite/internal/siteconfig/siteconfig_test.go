package siteconfig_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/ferrite-metal/ferrite/cmd/ferrite/internal/siteconfig"
)

// TestFill: a command reads the file of ferrite serve by the same rules: one document, texts as they are written,
// aliases, and an empty variable is none.
func TestFill(t *testing.T) {
	for _, tc := range []struct{ file, env, want string }{
		{"database: postgres://h/d", "", "postgres://h/d"},
		{"database: 007", "", "007"},
		{"group: &d postgres://h/d\ndatabase: *d", "", "postgres://h/d"},
		{"database:", "", ""},
		{"database: postgres://h/d", "FERRITE_DATABASE", "postgres://h/d"},
		{"database: [a, b]", "", "error: configuration file FILE: database: expected one value"},
		{"data-dir: /a\n---\ndatabase: postgres://h/d", "", "error: configuration file FILE: expected one YAML document"},
		{"database: a\ndatabase: b", "", "error: configuration file FILE: yaml: "},
	} {
		t.Run(tc.file+tc.env, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "f.yaml")
			if err := os.WriteFile(path, []byte(tc.file+"\n"), 0o600); err != nil {
				t.Fatal(err)
			}
			if tc.env != "" {
				t.Setenv(tc.env, "")
			}
			var database string
			c := &cobra.Command{SilenceErrors: true, SilenceUsage: true, RunE: func(*cobra.Command, []string) error {
				return nil
			}}
			c.Flags().StringVar(&database, "database", "", "")
			siteconfig.Add(c, "database")
			c.SetArgs([]string{"--config", path})
			got := ""
			if err := c.Execute(); err != nil {
				got = "error: " + err.Error()
			}
			got += database
			if want := strings.ReplaceAll(tc.want, "FILE", path); !strings.HasPrefix(got, want) || want == "" && got != "" {
				t.Errorf("found %q, expected %q", got, want)
			}
		})
	}
}
