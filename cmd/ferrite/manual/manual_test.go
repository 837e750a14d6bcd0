package manual_test

import (
	"strings"
	"testing"

	"github.com/ferrite-metal/ferrite/cmd/ferrite/manual"
)

// run runs `ferrite docs` with arguments.
func run(args ...string) (string, error) {
	var out strings.Builder
	c := manual.Command()
	c.GroupID = "" // there is no root with groups
	c.SilenceErrors = true
	c.SetArgs(args)
	c.SetOut(&out)
	c.SetErr(&out)
	err := c.Execute()
	return out.String(), err
}

// TestDocs: pages are listed, printed and searched.
func TestDocs(t *testing.T) {
	for _, c := range []struct{ args, want string }{
		{"", "operate/deploy           Deploy a machine\n"},
		{"", "contents                 Documentation\n"},
		{"", "decisions                Decisions\n"},
		{"operate/deploy", "# Deploy a machine\n"},
		{"deploy", "# Deploy a machine\n"},
		{"docs/operate/deploy.md", "# Deploy a machine\n"},
		{"operate", "# Operate nodes\n"},
		{"contents", "# Documentation\n"},
		{"0001-one-change", "# "},
		{"--search DEPLOY_KERNEL", "deploy_kernel"},
	} {
		out, err := run(strings.Fields(c.args)...)
		if err != nil || !strings.Contains(out, c.want) {
			t.Errorf("docs %s: %v\n%s\nwant %q in it", c.args, err, out, c.want)
		}
	}
}

// TestSearchWords: words that no line has side by side are found in one line, on pages for developers last.
func TestSearchWords(t *testing.T) {
	out, err := run("--search", "Wrong Checksum is")
	if err != nil || !strings.Contains(out, "\ntroubleshooting:") {
		t.Errorf("%v: %s", err, out)
	}
	out, err = run("--search", "checksum")
	design := strings.Index(out, "\ndesign/")
	if err != nil || design < 0 || strings.Contains(out[design:], "\noperate/") {
		t.Errorf("%v: pages for developers are not last:\n%s", err, out)
	}
}

// TestDocsRefused: an error says which pages there are.
func TestDocsRefused(t *testing.T) {
	for args, want := range map[string]string{
		"firmware":              "page firmware: expected one of hosts/firmware, operate/firmware",
		"nosuch":                "there is no page nosuch: ferrite docs lists the pages",
		"--search no.such.text": "no line of a page contains no.such.text, or all its words",
		"deploy --search x":     "--search, --man and --site are for all pages",
	} {
		if _, err := run(strings.Fields(args)...); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("docs %s: %v, want %q", args, err, want)
		}
	}
}
