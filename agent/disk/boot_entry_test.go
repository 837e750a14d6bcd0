package disk

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// memVars are EFI variables in memory.
type memVars struct {
	m      map[string][]byte
	writes int
	lossy  bool            // firmware that loses writes
	mark   string          // of the firmware's own, behind load options
	sick   map[string]bool // variables that can be neither read nor deleted
	room   int             // for how many variables there is room; 0 for any number
}

func (v *memVars) Names() ([]string, error) { return slices.Sorted(maps.Keys(v.m)), nil }
func (v *memVars) Get(name string) ([]byte, error) {
	b, ok := v.m[name]
	if v.sick[name] {
		return nil, fmt.Errorf("EFI variable %s: %w", name, syscall.EIO)
	}
	if !ok {
		return nil, fmt.Errorf("%s: %w", name, fs.ErrNotExist)
	}
	return b, nil
}
func (v *memVars) Set(name string, b []byte) error {
	v.writes++
	if v.m[name] == nil && v.room > 0 && len(v.m) >= v.room {
		return fmt.Errorf("EFI variable %s: %w", name, syscall.ENOSPC)
	}
	delete(v.sick, name)
	if !v.lossy && len(name) == 8 {
		v.m[name] = append(b, v.mark...)
	} else if !v.lossy {
		v.m[name] = b
	} else if v.m[name] == nil {
		v.m[name] = []byte{}
	}
	return nil
}
func (v *memVars) Delete(name string) error {
	if v.sick[name] {
		return fmt.Errorf("EFI variable %s: %w", name, syscall.EIO)
	}
	delete(v.m, name)
	return nil
}

// option is an entry of another system.
func option(label string) []byte {
	return LoadOption{Attributes: 1, Label: label, DevicePath: []byte{0x7f, 0xff, 4, 0}}.Bytes()
}

func order(n ...uint16) (b []byte) {
	for _, v := range n {
		b = binary.LittleEndian.AppendUint16(b, v)
	}
	return b
}

func TestSetBootEntry(t *testing.T) {
	d := twoParts(t, 16<<20, 512)
	tb, err := ReadTable(d)
	if err != nil {
		t.Fatal(err)
	}
	esp, _ := tb.ESP()
	entry := BootEntry{Label: "debian", Loader: Loader{Path: `\EFI\debian\shimx64.efi`}}
	tests := []struct {
		name   string
		before map[string][]byte
		number uint16
		left   []string
		order  []byte
	}{
		{"empty", map[string][]byte{}, 0, []string{"Boot0000", "BootOrder"}, order(0)},
		{"lowest free", map[string][]byte{"Boot0000": option("a"), "Boot0002": option("b"), "BootOrder": order(2, 0)},
			1, []string{"Boot0000", "Boot0001", "Boot0002", "BootOrder"}, order(1, 2, 0)},
		{"same label", map[string][]byte{"Boot0000": option("a"), "Boot0003": option("debian"), "Boot000A": option("debian"),
			"BootOrder": order(0, 10, 3)},
			3, []string{"Boot0000", "Boot0003", "BootOrder"}, order(3, 0)},
		{"numbers twice", map[string][]byte{"Boot0000": option("a"), "Boot0001": option("debian"),
			"BootOrder": order(1, 0, 1, 0, 1)},
			1, []string{"Boot0000", "Boot0001", "BootOrder"}, order(1, 0)},
		{"odd ones are left alone", map[string][]byte{"Boot0000": {1}, "Boot00ff": option("debian"), "BootCurrent": order(0),
			"BootOrder": {5}},
			1, []string{"Boot0000", "Boot0001", "Boot00ff", "BootCurrent", "BootOrder"}, order(1)},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			v := &memVars{m: maps.Clone(tt.before)}
			n, err := SetBootEntry(v, tb, esp, 512, entry)
			if err != nil || n != tt.number {
				t.Fatalf("number %d, %v", n, err)
			}
			names, _ := v.Names()
			if diff := cmp.Diff(tt.left, names); diff != "" {
				t.Error(diff)
			}
			if diff := cmp.Diff(tt.order, v.m["BootOrder"]); diff != "" {
				t.Error(diff)
			}
			writes := v.writes
			if again, err := SetBootEntry(v, tb, esp, 512, entry); err != nil || again != n || v.writes != writes {
				t.Errorf("again: number %d, %d more writes, %v", again, v.writes-writes, err)
			}
		})
	}
	if _, err := SetBootEntry(&memVars{m: map[string][]byte{}, lossy: true}, tb, esp, 512, entry); err == nil ||
		!strings.Contains(err.Error(), "does not read back") {
		t.Errorf("firmware that forgets: %v", err)
	}
}

// TestSickVariables: variables that cannot be read, deleted or made room for keep no entry from being made.
func TestSickVariables(t *testing.T) {
	d := twoParts(t, 16<<20, 512)
	tb, err := ReadTable(d)
	if err != nil {
		t.Fatal(err)
	}
	esp, _ := tb.ESP()
	entry := BootEntry{Label: "debian", Loader: Loader{Path: `\EFI\debian\shimx64.efi`}}
	three := map[string][]byte{"Boot0000": option("a"), "Boot0001": option("debian"), "Boot0005": option("debian"),
		"BootOrder": order(5, 1, 0)}
	for _, tc := range []struct {
		name  string
		sick  string
		room  int
		want  error
		order []byte
		noted string
	}{
		{"an entry of firmware's", "Boot0000", 0, nil, order(1, 0), "[EFI variable Boot0000: input/output error]"},
		{"our own entry", "Boot0001", 0, nil, order(5, 1, 0), "[EFI variable Boot0001: input/output error]"},
		{"a stale entry of ours", "Boot0005", 0, nil, order(1, 5, 0), "[EFI variable Boot0005: input/output error]"},
		{"all are well", "", 4, nil, order(1, 0), "[]"},
		{"order", "BootOrder", 0, nil, order(1, 0), "[EFI variable BootOrder: input/output error]"},
		{"no room", "Boot0001", 3, syscall.ENOSPC, nil, "[EFI variable Boot0001: input/output error]"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			v := &memVars{m: maps.Clone(three), sick: map[string]bool{tc.sick: true}, room: tc.room}
			if tc.name == "no room" {
				delete(v.m, "Boot0005") // which would be made use of
			}
			var noted []error
			_, err := SetBootEntry(Noted(v, func(err error) { noted = append(noted, err) }), tb, esp, 512, entry)
			if !errors.Is(err, tc.want) {
				t.Fatalf("error %v, expected %v", err, tc.want)
			}
			if diff := cmp.Diff(tc.order, v.m["BootOrder"]); tc.order != nil && diff != "" {
				t.Error(diff)
			}
			if text := fmt.Sprint(noted); text != tc.noted {
				t.Errorf("noted %s", text)
			}
		})
	}
	marked := &memVars{m: map[string][]byte{"Boot0000": option("a")}, mark: "AMBO"}
	for range 2 {
		if n, err := SetBootEntry(marked, tb, esp, 512, entry); err != nil || n != 1 {
			t.Errorf("firmware that marks entries: number %d, %v", n, err)
		}
	}
	order := maps.Clone(three)
	order["Boot0000"] = option("debian")
	delete(order, "BootOrder")
	v := &memVars{m: order, room: 3}
	if _, err := SetBootEntry(v, tb, esp, 512, entry); err != nil || len(v.m) != 2 {
		t.Errorf("full, with stale entries of ours: %v, %v", err, v.m)
	}
}

// TestCleanSickVariables: unreadable variables stay, and a variable that cannot be deleted is an error at the end.
func TestCleanSickVariables(t *testing.T) {
	v := &memVars{m: map[string][]byte{"Boot0000": option("a"), "Boot0001": option("b"), "BootOrder": order(1, 0)},
		sick: map[string]bool{"Boot0000": true}}
	all := func(string) bool { return true }
	deleted, err := CleanBootEntries(v, all)
	if diff := cmp.Diff([]string{"Boot0001 b: "}, deleted); err != nil || diff != "" || len(v.m) != 2 {
		t.Errorf("%v, %v, %s", v.m, err, diff)
	}
	stuck := stuckVars{&memVars{m: map[string][]byte{"Boot0000": option("a"), "Boot0001": option("b")}}}
	deleted, err = CleanBootEntries(stuck, all)
	if diff := cmp.Diff([]string{"Boot0001 b: "}, deleted); err == nil || diff != "" ||
		!strings.Contains(err.Error(), "Boot0000: deleted, but it is still there") {
		t.Errorf("%v, %s", err, diff)
	}
}

// stuckVars keep Boot0000.
type stuckVars struct{ *memVars }

func (v stuckVars) Delete(name string) error {
	if name != "Boot0000" {
		return v.memVars.Delete(name)
	}
	return nil
}

func TestLoadOptionGolden(t *testing.T) {
	loader := Loader{Path: `\EFI\debian\shimx64.efi`}
	gpt, err := ReadTable(twoParts(t, 16<<20, 4096))
	if err != nil {
		t.Fatal(err)
	}
	esp, _ := gpt.ESP()
	mbr, err := ReadTable(sfdisk(t, 16<<20, "start=2048, size=4096, type=ef\n"))
	if err != nil {
		t.Fatal(err)
	}
	mbrESP, _ := mbr.ESP()
	var out strings.Builder
	for _, o := range []LoadOption{
		{1, "debian", diskPath(gpt, esp, 4096, loader.Path), nil},
		{1, "ferrite ü", diskPath(mbr, mbrESP, 512, loader.Path), utf16Bytes("quiet")},
	} {
		fmt.Fprintf(&out, "%s\n%s\n", o.Label, dump(o.Bytes()))
		back, err := ParseLoadOption(o.Bytes())
		if err != nil || back.Label != o.Label || back.Attributes != 1 {
			t.Errorf("%+v %v", back, err)
		}
	}
	golden(t, "loadoption.hex", out.String())
}

func TestParseLoadOptionRefusals(t *testing.T) {
	for name, b := range map[string][]byte{
		"short":            {1, 0, 0},
		"endless label":    {1, 0, 0, 0, 0, 0, 'a', 0, 'b', 0},
		"odd label":        {1, 0, 0, 0, 0, 0, 'a', 0, 0},
		"device path gone": {1, 0, 0, 0, 9, 0, 0, 0, 1},
	} {
		if _, err := ParseLoadOption(b); !errors.Is(err, ErrLoadOption) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestEFIVarFS(t *testing.T) {
	dir := t.TempDir()
	v := EFIVarFS(dir)
	other := filepath.Join(dir, "Boot0009-11111111-1111-1111-1111-111111111111")
	if err := os.WriteFile(other, []byte("another vendor's"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, value := range []string{"a longer value", "short"} {
		if err := v.Set("Boot0001", []byte(value)); err != nil {
			t.Fatal(err)
		}
		got, err := v.Get("Boot0001")
		if err != nil || string(got) != value {
			t.Fatalf("%q %v", got, err)
		}
	}
	raw, err := os.ReadFile(filepath.Join(dir, "Boot0001-8be4df61-93ca-11d2-aa0d-00e098032b8c"))
	if err != nil || string(raw) != "\x07\x00\x00\x00short" {
		t.Errorf("%q %v", raw, err)
	}
	names, err := v.Names()
	if diff := cmp.Diff([]string{"Boot0001"}, names); diff != "" || err != nil {
		t.Error(diff, err)
	}
	if err := v.Delete("Boot0001"); err != nil {
		t.Fatal(err)
	}
	if _, err := v.Get("Boot0001"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("after delete: %v", err)
	}
	if _, err := EFIVarFS(filepath.Join(dir, "none")).Names(); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("not mounted: %v", err)
	}
}

// TestPathText: the path of SetBootEntry reads as people know it.
func TestPathText(t *testing.T) {
	id, err := ParseGUID("0fc63daf-8483-4772-8e79-3d69d8477de4")
	if err != nil {
		t.Fatal(err)
	}
	part := Part{Number: 2, Start: mib, Size: 4 * mib, ID: id}
	for want, path := range map[string][]byte{
		`HD(2,GPT,0fc63daf-8483-4772-8e79-3d69d8477de4,0x800,0x2000)/File(\EFI\BOOT\X.EFI)`: diskPath(&Table{GPT: &GPT{}},
			part, 512, `\EFI\BOOT\X.EFI`),
		`HD(2,MBR,0xdeadbeef,0x100,0x400)/File(\a)`: diskPath(&Table{MBR: &MBR{Signature: 0xdeadbeef}}, part, 4096, `\a`),
		`Path(2,1,d041030a00000000)/Path(1,1,0003)`: {2, 1, 12, 0, 0xd0, 0x41, 3,
			0x0a, 0, 0, 0, 0, 1, 1, 6, 0, 0, 3, 0x7f, 0xff, 4, 0},
		"": {1, 1, 200, 0},
	} {
		if got := pathText(path); got != want {
			t.Errorf("expected %s, found %s", want, got)
		}
	}
}
