package steps

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ferrite-metal/ferrite/proto/agentapi"
	"github.com/ferrite-metal/ferrite/proto/sitestep"
)

// block is the first block of a language on a page.
func block(t *testing.T, page, language string) string {
	t.Helper()
	_, rest, found := strings.Cut(page, "\n```"+language+"\n")
	text, _, ended := strings.Cut(rest, "\n```\n")
	if !found || !ended {
		t.Fatalf("the page has no block of %s", language)
	}
	return text
}

// TestSiteStepsPage builds and runs the step of docs/operate/site-steps.md.
func TestSiteStepsPage(t *testing.T) {
	raw, err := os.ReadFile("../../docs/operate/site-steps.md")
	if err != nil {
		t.Fatal(err)
	}
	b, _ := siteBench(t, "", block(t, string(raw), "json"))
	folder := filepath.Join(b.SiteRoot, sitestep.Folder)
	if err := os.Rename(filepath.Join(folder, "burn-in.json"), filepath.Join(folder, "readable.json")); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(filepath.Join(folder, "burn-in")); err != nil {
		t.Fatal(err)
	}
	source := filepath.Join(t.TempDir(), "readable.go")
	writeScript(t, source, block(t, string(raw), "go"), 0o644)
	build := exec.Command("go", "build", "-o", filepath.Join(folder, "readable"), source)
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if text, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	disk := filepath.Join(t.TempDir(), "disk")
	writeScript(t, disk, strings.Repeat("x", 2*mib), 0o600)
	run := func(mibs int) error {
		_, err := Execute(t.Context(), b.Machine, Service, Request{Step: agentapi.Step{Interface: "deploy", Step: "readable",
			Args: map[string]any{"device": disk, "mib": mibs}}})
		return err
	}
	if err := run(2); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]agentapi.Progress{{Step: "readable", Stage: "1 MiB read", Done: 50, Total: 100},
		{Step: "readable", Stage: "2 MiB read", Done: 100, Total: 100}}, b.progress); diff != "" {
		t.Error(diff)
	}
	if err := run(3); err == nil || !strings.Contains(err.Error(), "status 1; the end of its stderr: MiB 2: EOF") {
		t.Errorf("a disk that is too short: %v", err)
	}
}
