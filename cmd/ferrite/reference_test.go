package main

import (
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ferrite-metal/ferrite/cmd/ferrite/reference"
	"github.com/ferrite-metal/ferrite/cmd/ferrite/serve"
)

// TestReference: the reference pages are those that the commands make.
func TestReference(t *testing.T) {
	host, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	for page, text := range map[string]string{
		"../../docs/cli.md":           reference.CLI(program()),
		"../../docs/configuration.md": reference.Configuration(serve.Command()),
	} {
		text = strings.ReplaceAll(text, "`"+host+"`", "the host's name")
		if *update {
			if err := os.WriteFile(page, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(want), text); diff != "" {
			t.Errorf("%s (-want +got):\n%s", page, diff)
		}
	}
}
