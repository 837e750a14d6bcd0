package steps

import (
	"crypto/rand"
	"encoding/base64"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ferrite-metal/ferrite/agent/disk"
	"github.com/ferrite-metal/ferrite/proto/agentapi"
)

// installed is a bench with one disk that has an EFI system partition and a root file system, which are folders in
// truth.
func installed(t *testing.T) *bench {
	t.Helper()
	b := newBench(t, "/dev/nvme0n1")
	dev, err := b.Open(t.Context(), "/dev/nvme0n1")
	if err != nil {
		t.Fatal(err)
	}
	defer dev.Close()
	g := disk.NewGPT(dev, disk.GUID{1})
	for _, p := range []struct{ name, kind string }{{"root", "0fc63daf-8483-4772-8e79-3d69d8477de4"},
		{"esp", "c12a7328-f81f-11d2-ba4b-00a0c93ec93b"}, {"raw", "0fc63daf-8483-4772-8e79-3d69d8477de4"}} {
		kind, err := disk.ParseGUID(p.kind)
		if err != nil {
			t.Fatal(err)
		}
		part, err := g.AddNext(8*mib, kind, p.name, rand.Reader)
		if err != nil {
			t.Fatal(err)
		}
		head := make([]byte, 2048)
		switch p.name {
		case "root":
			for _, at := range []int{0, 4, 32} { // inodes, blocks, blocks of a group: there are some
				head[1024+at] = 16
			}
			copy(head[1080:], "\x53\xef")
			copy(head[1024+120:], "cloudimg-rootfs")
		case "esp":
			copy(head[82:], "FAT32   ")
			copy(head[71:], "UEFI       ")
		}
		if _, err := dev.WriteAt(head, part.First*512); err != nil {
			t.Fatal(err)
		}
	}
	if err := g.Write(dev); err != nil {
		t.Fatal(err)
	}
	for device, folders := range map[string][]string{"/dev/nvme0n1p1": {"etc", "root", "boot"},
		"/dev/nvme0n1p2": {"EFI"}} {
		b.trees[device] = t.TempDir()
		for _, f := range folders {
			if err := os.Mkdir(filepath.Join(b.trees[device], f), 0o755); err != nil {
				t.Fatal(err)
			}
		}
	}
	passwd := "root:x:0:0:root:/root:/bin/sh\ndebian:x:1000:1000::/home/debian:/bin/sh\nodd:x:none:0::/:/\n"
	if err := os.WriteFile(filepath.Join(b.trees["/dev/nvme0n1p1"], "etc/passwd"), []byte(passwd), 0o644); err != nil {
		t.Fatal(err)
	}
	return b
}

func b64(s string) string { return base64.StdEncoding.EncodeToString([]byte(s)) }

// inject runs the step.
func (b *bench) inject(t *testing.T, node agentapi.CommandNode, files ...any) error {
	t.Helper()
	_, err := Execute(t.Context(), b.Machine, Deploy, Request{
		Step: agentapi.Step{Interface: "deploy", Step: "inject_files", Args: map[string]any{"files": files}}, Node: node,
		Facts: map[string]any{
			"node":  map[string]any{"uuid": "u-1", "properties": map[string]any{"rack": 7.0}},
			"ports": []any{map[string]any{"address": "52:54:00:00:00:01"}},
		},
	})
	return err
}

func TestInjectFiles(t *testing.T) {
	b := installed(t)
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter,
		r *http.Request) {
		w.Write([]byte("asked for " + r.URL.Path))
	}))
	defer srv.Close()
	root, esp := b.trees["/dev/nvme0n1p1"], b.trees["/dev/nvme0n1p2"]
	if err := os.WriteFile(filepath.Join(root, "etc/old"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	err := b.inject(t, agentapi.CommandNode{
		Properties: map[string]any{"inject_files": []any{map[string]any{"path": "/etc/motd",
			"content": b64("of the node\n")}}},
		InstanceInfo: map[string]any{"inject_files": []any{map[string]any{"path": "/etc/issue",
			"content": b64("of the instance\n")}}},
	},
		map[string]any{"path": "/root/.ssh/authorized_keys", "content": b64("ssh-ed25519 AAAA\n"), "mode": 384.0,
			"dirmode": 448.0, "owner": 0.0, "group": 0.0},
		map[string]any{"path": "/etc/url", "content": srv.URL + "/{node[uuid]}/{node[properties][rack]}/{ports[0][address]}"},
		map[string]any{"path": "/EFI/vendor/x.txt", "content": b64("x")},
		map[string]any{"path": "/startup.nsh", "content": b64("s"), "partition": 2.0},
		map[string]any{"path": "/etc/old", "deleted": true},
		map[string]any{"path": "/etc/never", "deleted": true},
	)
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for _, name := range []string{root + "/etc/motd", root + "/etc/issue", root + "/root/.ssh/authorized_keys",
		root + "/etc/url", esp + "/EFI/vendor/x.txt", esp + "/startup.nsh"} {
		content, err := os.ReadFile(name)
		if err != nil {
			t.Error(err)
		}
		got[filepath.Base(name)] = string(content)
	}
	want := map[string]string{
		"motd": "of the node\n", "issue": "of the instance\n", "authorized_keys": "ssh-ed25519 AAAA\n",
		"url": "asked for /u-1/7/52:54:00:00:00:01", "x.txt": "x", "startup.nsh": "s",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if _, err := os.Stat(root + "/etc/old"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("what was to be deleted is there: %v", err)
	}
	for name, want := range map[string]os.FileMode{"/root/.ssh": 0o700, "/root/.ssh/authorized_keys": 0o600,
		"/etc/motd": 0o644} {
		if info, err := os.Stat(root + name); err != nil || info.Mode().Perm() != want {
			t.Errorf("%s: %v, %v", name, info.Mode(), err)
		}
	}
	if b.mounted[0] != "/dev/nvme0n1p1 ext4 true" || b.mounted[1] != "/dev/nvme0n1p1 ext4 false" {
		t.Errorf("mounted %q", b.mounted)
	}
}

func TestInjectedOwnerByName(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("only root can give files away")
	}
	b := installed(t)
	if err := b.inject(t, agentapi.CommandNode{}, map[string]any{"path": "/etc/mine", "content": "", "owner": "debian",
		"mode": 2541.0}); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(b.trees["/dev/nvme0n1p1"] + "/etc/mine")
	if err != nil {
		t.Fatal(err)
	}
	if st := info.Sys().(*syscall.Stat_t); st.Uid != 1000 || st.Gid != 0 || st.Mode&0o7777 != 0o4755 {
		t.Errorf("owner %d:%d, mode %o", st.Uid, st.Gid, st.Mode)
	}
}

func TestInjectFilesRefusals(t *testing.T) {
	gone := httptest.NewServer(http.NotFoundHandler())
	defer gone.Close()
	coded := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Encoding", "gzip")
	}))
	defer coded.Close()
	const ok = "aGVsbG8="
	for name, tc := range map[string]struct {
		file map[string]any
		kind string
		text string
	}{
		"no path": {map[string]any{"content": ok}, "InvalidCommandParamsError", "files[0]: path is missing"},
		"unknown field": {map[string]any{"path": "/etc/a", "content": ok, "user": 1.0},
			"InvalidCommandParamsError", `"user"`},
		"folder": {map[string]any{"path": "/etc/", "content": ok}, "InvalidCommandParamsError",
			"does not name a file"},
		"in the root folder": {map[string]any{"path": "/a", "content": ok}, "InvalidCommandParamsError", "by partition"},
		"both": {map[string]any{"path": "/etc/a", "content": ok, "deleted": true}, "InvalidCommandParamsError",
			"cannot both"},
		"neither": {map[string]any{"path": "/etc/a"}, "InvalidCommandParamsError", "has no content"},
		"no base64": {map[string]any{"path": "/etc/a", "content": "hello!"}, "InvalidCommandParamsError",
			"neither base64 nor a URL"},
		"other scheme": {map[string]any{"path": "/etc/a", "content": "file:///etc/shadow"},
			"InvalidCommandParamsError", "not an http(s) URL"},
		"unknown fact": {map[string]any{"path": "/etc/a", "content": "http://h/{node[name]}"},
			"InvalidCommandParamsError", `no key "name"`},
		"octal as decimal": {map[string]any{"path": "/etc/a", "content": ok, "mode": 100644.0},
			"InvalidCommandParamsError", "420 is 0644"},
		"mode as text": {map[string]any{"path": "/etc/a", "content": ok, "mode": "0644"},
			"InvalidCommandParamsError", "mode"},
		"half a user": {map[string]any{"path": "/etc/a", "content": ok, "owner": 1.5}, "InvalidCommandParamsError",
			"is no id"},
		"compressed by its server": {map[string]any{"path": "/etc/a", "content": coded.URL}, "CommandExecutionError",
			"not asked for"},
		"unknown user": {map[string]any{"path": "/etc/a", "content": ok, "owner": "nobody"}, "CommandExecutionError",
			`has no "nobody"`},
		"user without id": {map[string]any{"path": "/etc/a", "content": ok, "owner": "odd"}, "CommandExecutionError",
			"no number"},
		"no group file": {map[string]any{"path": "/etc/a", "content": ok, "group": "wheel"}, "CommandExecutionError",
			"/etc/group"},
		"server has it not": {map[string]any{"path": "/etc/a", "content": gone.URL + "/x"}, "CommandExecutionError", "404"},
		"no such folder": {map[string]any{"path": "/srv/a", "content": ok}, "DeviceNotFound",
			"no partition of /dev/nvme0n1 has a folder /srv"},
		"no such partition": {map[string]any{"path": "/etc/a", "content": ok, "partition": 9.0}, "DeviceNotFound", `is "9"`},
		"no file system": {map[string]any{"path": "/etc/a", "content": ok, "partition": 3.0}, "CommandExecutionError",
			"no file system that can be mounted"},
	} {
		t.Run(name, func(t *testing.T) {
			b := installed(t)
			err := b.inject(t, agentapi.CommandNode{}, tc.file)
			var ce *agentapi.CommandError
			if !errors.As(err, &ce) || ce.Type != tc.kind || !strings.Contains(ce.Details, tc.text) {
				t.Fatalf("error %#v", err)
			}
			if _, err := os.Stat(b.trees["/dev/nvme0n1p1"] + "/etc/a"); err == nil {
				t.Error("a file was made all the same")
			}
		})
	}
}

func TestChooseVolume(t *testing.T) {
	b := installed(t)
	all, err := b.volumes(t.Context(), "/dev/nvme0n1")
	if err != nil {
		t.Fatal(err)
	}
	for spec, want := range map[any]int{
		1.0: 1, "2": 2, "/dev/nvme0n1p1": 1, "LABEL=cloudimg-rootfs": 1, "cloudimg-rootfs": 1, "label=uefi": 2,
		"PARTLABEL=raw":                        3,
		"c12a7328-f81f-11d2-ba4b-00a0c93ec93b": 2, "/dev/disk/by-label/UEFI": 2,
		"/dev/disk/by-partuuid/" + all[2].ID.String():   3,
		"PARTTYPE=0fc63daf-8483-4772-8e79-3d69d8477de4": 0, "/dev/sdb1": 0, "": 0, "LABEL=": 0, "nothing": 0,
	} {
		got, err := chooseVolume(spec, "/dev/nvme0n1", all)
		if got.Number != want || (err == nil) != (want > 0) {
			t.Errorf("%v: partition %d, %v", spec, got.Number, err)
		}
	}
}

func TestFillIn(t *testing.T) {
	facts := map[string]any{"node": map[string]any{"name": "n", "on": true, "extra": nil, "list": []any{"a", 1.5}}}
	for in, want := range map[string]string{
		"": "", "plain": "plain", "{node[name]}": "n", "a{{b}}c": "a{b}c", "{node[on]}{node[list][1]}": "True1.5",
		"{{{node[name]}}}": "{n}",
	} {
		if got, err := fillIn(in, facts); err != nil || got != want {
			t.Errorf("%q: %q, %v", in, got, err)
		}
	}
	for _, bad := range []string{"{", "}", "{node[name]", "{other}", "{node}", "{node[extra]}", "{node[name][x]}",
		"{node[list][2]}", "{node[list][-1]}", "{node[name}", "{node[name]!r}"} {
		if got, err := fillIn(bad, facts); err == nil {
			t.Errorf("%q became %q", bad, got)
		}
	}
}

func FuzzFillIn(f *testing.F) {
	f.Add("http://h/{node[uuid]}/{{x}}")
	f.Add("}{[")
	f.Fuzz(func(t *testing.T, s string) {
		got, err := fillIn(s, map[string]any{"node": map[string]any{"uuid": "u"}})
		if err == nil && !strings.ContainsAny(s, "{}") && got != s {
			t.Fatalf("%q became %q", s, got)
		}
	})
}
