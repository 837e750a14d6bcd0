package ramdisk

import (
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
)

// fakeModules is a small kernel: a network card behind a library, a file system with a
// soft dependency that is an alias of two modules, and one driver built in.
func fakeModules() fstest.MapFS {
	lists := map[string]string{
		"modules.dep": `kernel/drivers/net/ethernet/acme/acme-nic.ko: kernel/net/acme-lib.ko kernel/lib/base.ko
kernel/net/acme-lib.ko: kernel/lib/base.ko
kernel/lib/base.ko:
kernel/drivers/net/ethernet/acme/acme-debug.ko:
kernel/fs/examplefs.ko: kernel/lib/sum.ko.xz
kernel/lib/sum.ko.xz:
kernel/crypto/crc_generic.ko:
kernel/arch/x86/crc-fast.ko:
`,
		"modules.builtin": "kernel/drivers/nvme/host/nvme.ko\n",
		"modules.alias": `# Aliases extracted from modules themselves.
alias pci:v00001AF4d*sv*sd*bc*sc*i* acme_nic
alias fs-examplefs examplefs
alias crypto-crc crc_fast
alias crypto-crc crc_generic
`,
		"modules.softdep": "# Soft dependencies extracted from modules themselves.\nsoftdep sum pre: crypto-crc post: " +
			"acme_debug\nsoftdep cifs gcm\n",
	}
	tree := fstest.MapFS{}
	for name, text := range lists {
		tree[name] = &fstest.MapFile{Data: []byte(text)}
	}
	return tree
}

func TestSelectModules(t *testing.T) {
	tests := []struct {
		name    string
		classes []Class
		files   []string
		load    []string
		notes   []string
		lists   map[string]string
		wantErr string
	}{
		{
			name:    "a folder brings its modules and what they need",
			classes: []Class{{Name: "net", Under: []string{"drivers/net/ethernet"}, Except: []string{"acme_debug"}}},
			files:   []string{"kernel/drivers/net/ethernet/acme/acme-nic.ko", "kernel/lib/base.ko", "kernel/net/acme-lib.ko"},
			lists: map[string]string{
				"modules.dep": "kernel/drivers/net/ethernet/acme/acme-nic.ko: kernel/net/acme-lib.ko kernel/lib/base.ko\n" +
					"kernel/lib/base.ko:\nkernel/net/acme-lib.ko: kernel/lib/base.ko\n",
				"modules.alias": "alias pci:v00001AF4d*sv*sd*bc*sc*i* acme_nic\n",
			},
		},
		{
			name:    "a soft dependency is loaded first, and of two the generic one",
			classes: []Class{{Name: "fs", Modules: []string{"examplefs"}, Load: true}},
			files:   []string{"kernel/crypto/crc_generic.ko", "kernel/fs/examplefs.ko", "kernel/lib/sum.ko.xz"},
			load:    []string{"examplefs"},
			lists: map[string]string{
				"modules.dep": "kernel/crypto/crc_generic.ko:\n" +
					"kernel/fs/examplefs.ko: kernel/lib/sum.ko.xz kernel/crypto/crc_generic.ko\n" +
					"kernel/lib/sum.ko.xz: kernel/crypto/crc_generic.ko\n",
				"modules.alias": "alias fs-examplefs examplefs\nalias crypto-crc crc_generic\n",
			},
		},
		{
			name:    "built in counts as present and is not loaded",
			classes: []Class{{Name: "disk", Modules: []string{"nvme"}, Required: true, Load: true}},
			lists:   map[string]string{"modules.dep": "", "modules.alias": ""},
		},
		{
			name:    "absent and only wished for is a note",
			classes: []Class{{Name: "disk", Modules: []string{"ahci"}}},
			notes:   []string{"disk: this kernel has no module ahci"},
			lists:   map[string]string{"modules.dep": "", "modules.alias": ""},
		},
		{
			name:    "absent and required is an error",
			classes: []Class{{Name: "disk", Modules: []string{"ahci"}, Required: true}},
			wantErr: "no module ahci, needed for disk",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			ix, err := readIndex(fakeModules())
			if err != nil {
				t.Fatal(err)
			}
			got, err := selectModules(ix, tt.classes)
			if tt.wantErr != "" {
				if err == nil || !strings.Contains(err.Error(), tt.wantErr) {
					t.Fatalf("error %v, want %q in it", err, tt.wantErr)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			tt.lists["modules.builtin"] = "kernel/drivers/nvme/host/nvme.ko\n"
			if diff := cmp.Diff(tt.files, got.files); diff != "" {
				t.Error("files", diff)
			}
			if diff := cmp.Diff(tt.load, got.load); diff != "" {
				t.Error("load", diff)
			}
			if diff := cmp.Diff(tt.notes, got.notes); diff != "" {
				t.Error("notes", diff)
			}
			if diff := cmp.Diff(tt.lists, got.lists); diff != "" {
				t.Error("lists", diff)
			}
		})
	}
}

func TestReadIndexNamesTheBadLine(t *testing.T) {
	tests := []struct{ file, text, want string }{
		{"modules.dep", "a.ko:\nnonsense\n", "modules.dep line 2: expected `module: dependencies`"},
		{"modules.alias", "alias one\n", "modules.alias line 1: expected `alias pattern module`"},
		{"modules.softdep", "softdep\n", "modules.softdep line 1"},
	}
	for _, tt := range tests {
		tree := fakeModules()
		tree[tt.file] = &fstest.MapFile{Data: []byte(tt.text)}
		if _, err := readIndex(tree); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: error %v, want %q in it", tt.file, err, tt.want)
		}
	}
	tree := fakeModules()
	delete(tree, "modules.alias")
	if _, err := readIndex(tree); err == nil {
		t.Error("no error without modules.alias")
	}
}

func TestUnlistedDependencyIsAnError(t *testing.T) {
	tree := fakeModules()
	tree["modules.dep"] = &fstest.MapFile{Data: []byte("kernel/a.ko: kernel/gone.ko\n")}
	ix, err := readIndex(tree)
	if err != nil {
		t.Fatal(err)
	}
	_, err = selectModules(ix, []Class{{Name: "a", Modules: []string{"a"}}})
	if err == nil || !strings.Contains(err.Error(), "kernel/gone.ko") {
		t.Errorf("error %v, want one naming kernel/gone.ko", err)
	}
}

// FuzzReadIndex checks that no list, however broken, makes the reader or the selection
// fail other than by an error.
func FuzzReadIndex(f *testing.F) {
	good := fakeModules()
	f.Add(string(good["modules.dep"].Data), string(good["modules.alias"].Data), string(good["modules.softdep"].Data))
	f.Add("a.ko: a.ko", "alias a a", "softdep a pre: a")
	f.Add("a.ko: b.ko\nb.ko: a.ko", "", "softdep a pre: b\nsoftdep b pre: a")
	f.Fuzz(func(t *testing.T, dep, aliases, soft string) {
		tree := fakeModules()
		tree["modules.dep"] = &fstest.MapFile{Data: []byte(dep)}
		tree["modules.alias"] = &fstest.MapFile{Data: []byte(aliases)}
		tree["modules.softdep"] = &fstest.MapFile{Data: []byte(soft)}
		ix, err := readIndex(tree)
		if err != nil {
			return
		}
		s, err := selectModules(ix, []Class{{Name: "all", Under: []string{"."}}, {Name: "one", Modules: []string{"a"}}})
		if err != nil {
			return
		}
		for file, needs := range s.deps {
			for _, need := range needs {
				if _, have := s.deps[need]; !have {
					t.Fatalf("%s needs %s, which was not selected", file, need)
				}
			}
		}
	})
}
