package ramdisk

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/u-root/mkuimage/cpio"
)

// stepFolder writes files of site steps; programs are those without .json.
func stepFolder(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		writeFile(t, filepath.Join(dir, name), text)
		mode := os.FileMode(0o755)
		if strings.Contains(name, ".") {
			mode = 0o644
		}
		if err := os.Chmod(filepath.Join(dir, name), mode); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestSiteSteps(t *testing.T) {
	kernel, recipe := fakeKernel(t), fakeRecipe(t)
	static, err := os.ReadFile(recipe.Agent)
	if err != nil {
		t.Fatal(err)
	}
	one := stepFolder(t, map[string]string{"one": string(static), "one.json": `{"step": "one"}`, "other.json": "{"})
	two := stepFolder(t, map[string]string{"two": "#!/bin/tool -e\n", "two.json": `{"step": "two"}`, "two.conf": "x"})
	overlay := t.TempDir()
	writeFile(t, filepath.Join(overlay, "bin/tool"), "x")
	writeFile(t, filepath.Join(overlay, "etc/ferrite/steps.d/data/x"), "x")
	recipe.Site = Site{Steps: []string{filepath.Join(one, "one.json"), two}, Overlay: overlay}
	res, err := assemble(t.Context(), recipe, kernel)
	if err != nil {
		t.Fatal(err)
	}
	modes := map[string]uint64{}
	for _, r := range readInitramfs(t, res.InitramfsPath) {
		modes[strings.TrimPrefix(r.Name, "etc/ferrite/steps.d/")] = r.Mode & 0o7777
	}
	for name, want := range map[string]uint64{"one": 0o755, "one.json": 0o644, "two": 0o755, "two.json": 0o644,
		"two.conf": 0o644} {
		if modes[name] != want {
			t.Errorf("%s has mode %o, want %o", name, modes[name], want)
		}
	}
	if _, there := modes["other.json"]; there {
		t.Error("a file of the folder that was not asked for is in the ramdisk")
	}
}

func TestSiteStepsRefused(t *testing.T) {
	kernel := fakeKernel(t)
	manifest := `{"step": "a"}`
	for name, tc := range map[string]struct {
		files map[string]string
		want  string
	}{
		"manifest":    {map[string]string{"a": "#!/x", "a.json": `{"stp": "a"}`}, "steps.d/a.json"},
		"no program":  {map[string]string{"a.json": manifest}, "its program a beside it"},
		"no manifest": {map[string]string{"a": "#!/x"}, "its manifest a.json"},
		"no exec bit": {map[string]string{"a.sh": "#!/x", "a.sh.json": manifest}, "mode 0644"},
		"script":      {map[string]string{"a": "#!/bin/bash\n", "a.json": manifest}, "the ramdisk has no /bin/bash"},
		"no program of any": {
			map[string]string{"a": "text", "a.json": manifest}, "steps.d/a of site step deploy.a: expected a static",
		},
		"step of the agent": {map[string]string{"a": "#!/x", "a.json": `{"step": "write_image"}`}, "the agent's own"},
		"an empty folder":   {nil, "found no file"},
		"two steps of a name": {map[string]string{"a": "#!/init", "a.json": manifest, "b": "#!/init", "b.json": manifest},
			"both are deploy.a"},
		"an ELF file, no more": {map[string]string{"a": "\x7fELF", "a.json": manifest}, "program /etc/ferrite/steps.d/a"},
	} {
		t.Run(name, func(t *testing.T) {
			recipe := fakeRecipe(t)
			recipe.Site = Site{Steps: []string{stepFolder(t, tc.files)}}
			if _, err := assemble(t.Context(), recipe, kernel); err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("error %v, want %q", err, tc.want)
			}
		})
	}
	recipe := fakeRecipe(t)
	dir := stepFolder(t, map[string]string{"a": "#!/init", "a.json": manifest})
	for source, want := range map[string]string{filepath.Join(dir, "a"): "expected its manifest a.json",
		filepath.Join(dir, "nope.json"): "no such file"} {
		recipe.Site = Site{Steps: []string{source}}
		if _, err := assemble(t.Context(), recipe, kernel); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %q", err, want)
		}
	}
	recipe.Site = Site{Steps: []string{dir, filepath.Join(dir, "a.json")}}
	if _, err := assemble(t.Context(), recipe, kernel); err == nil || !strings.Contains(err.Error(), "another") {
		t.Errorf("one file twice: %v", err)
	}
	// A program in an overlay is checked like one of --step.
	recipe.Site = Site{Overlay: filepath.Join(t.TempDir(), "overlay.cpio")}
	writeFile(t, recipe.Site.Overlay, archiveOf(t, cpio.StaticFile("etc/ferrite/steps.d/a", "text", 0o755)))
	if _, err := assemble(t.Context(), recipe, kernel); err == nil || !strings.Contains(err.Error(), "its manifest") {
		t.Errorf("a program without a manifest in an overlay: %v", err)
	}
}
