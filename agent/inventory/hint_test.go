package inventory

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ferrite-metal/ferrite/proto/agentapi"
)

const gib = int64(1) << 30

func someDisks() []agentapi.Disk {
	return []agentapi.Disk{
		{Name: "/dev/sdb", Size: 480 * gib, Model: "SAMSUNG MZ7LH480", Serial: "S45PNA0M", WWN: "0x5002538e0", HCTL: "1:0:0:0", Rotational: false, Transport: "sata", Vendor: "ATA"},
		{Name: "/dev/sda", Size: 480 * gib, Model: "SAMSUNG MZ7LH480", Serial: "S45PNA0L", WWN: "0x5002538e1", HCTL: "0:0:0:0", Rotational: false, Transport: "sata", Vendor: "ATA"},
		{Name: "/dev/sdc", Size: 2 * gib, Model: "Internal SD-CARD", Rotational: true, Transport: "usb"},
		{Name: "/dev/nvme0n1", Size: 1788 * gib, Model: "Dell Ent NVMe v2", Serial: "S6CXNA", ByPath: "/dev/disk/by-path/pci-0000:01:00.0-nvme-1", Transport: "nvme"},
	}
}

func TestRootDisk(t *testing.T) {
	skipped := []Skipped{{"/dev/sdm", "member of md127"}, {"/dev/loop0", "not hardware"}}
	tests := map[string]struct {
		hints string
		need  int64
		want  string // name, or part of the error after "!"
	}{
		"smallest from 4 GiB, then by name": {"", 0, "/dev/sda"},
		"big enough for the image":          {"", 500 * gib, "/dev/nvme0n1"},
		"none is big enough":                {"", 4000 * gib, "!none has 4294967296000 bytes; disks seen: /dev/sdb ("},
		"by name":                           {`{"name":"/dev/sdb"}`, 0, "/dev/sdb"},
		"with operator":                     {`{"name":"s== /dev/sdb"}`, 0, "/dev/sdb"},
		"any case":                          {`{"serial":"s45pna0m"}`, 0, "/dev/sdb"},
		"quoted for a URL":                  {`{"model":"Internal%20SD-CARD"}`, 0, "/dev/sdc"},
		"substring":                         {`{"model":"<in> samsung"}`, 0, "/dev/sda"},
		"all substrings":                    {`{"model":"<all-in> dell nvme"}`, 0, "/dev/nvme0n1"},
		"one of":                            {`{"hctl":"<or> 9:0:0:0 <or> 1:0:0:0"}`, 0, "/dev/sdb"},
		"all must match":                    {`{"model":"<in> samsung","wwn":"0x5002538e0"}`, 0, "/dev/sdb"},
		"size":                              {`{"size":1788}`, 0, "/dev/nvme0n1"},
		"size text":                         {`{"size":"480"}`, 0, "/dev/sda"},
		"size at least":                     {`{"size":">= 500"}`, 0, "/dev/nvme0n1"},
		"rotational":                        {`{"rotational":true}`, 0, "/dev/sdc"},
		"rotational text":                   {`{"rotational":"False","tran":"nvme"}`, 0, "/dev/nvme0n1"},
		"by path":                           {`{"by_path":"/dev/disk/by-path/pci-0000:01:00.0-nvme-1"}`, 0, "/dev/nvme0n1"},
		"no match, never a guess":           {`{"serial":"other"}`, 0, "!none matches root_device {serial=other}; disks seen: /dev/sdb ("},
		"says what was left out":            {`{"serial":"other"}`, 0, "!/dev/sdm (left out: member of md127)"},
		"negation does not match nothing":   {`{"serial":"s!= x","name":"/dev/sdc"}`, 0, "!none matches"},
		"unknown hint":                      {`{"colour":"red"}`, 0, "!hint colour: not known"},
		"unknown operator":                  {`{"size":"~ 5"}`, 0, `!operator "~"`},
		"size is no number":                 {`{"size":"big"}`, 0, "!not a number of GiB"},
		"size is infinite":                  {`{"size":">= -inf"}`, 0, "!not a number of GiB"},
		"rotational is no boolean":          {`{"rotational":"fast"}`, 0, "!neither true nor false"},
		"a name is no number":               {`{"name":5}`, 0, "!expected a string"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			var hints Hints
			if tc.hints != "" {
				if err := json.Unmarshal([]byte(tc.hints), &hints); err != nil {
					t.Fatal(err)
				}
			}
			got, err := RootDisk(someDisks(), skipped, hints, tc.need)
			part, fails := strings.CutPrefix(tc.want, "!")
			switch {
			case fails && (err == nil || !strings.Contains(err.Error(), part) || strings.Contains(err.Error(), "loop0")):
				t.Errorf("error %v, want part %q", err, part)
			case !fails && (err != nil || got.Name != tc.want):
				t.Errorf("%s, %v; want %s", got.Name, err, tc.want)
			}
		})
	}
}

func TestRootDiskOfALab(t *testing.T) {
	small := []agentapi.Disk{{Name: "/dev/vdb", Size: gib}, {Name: "/dev/vda", Size: 2 * gib}}
	for need, want := range map[int64]string{0: "/dev/vdb", gib: "/dev/vdb", gib + 1: "/dev/vda"} {
		if d, err := RootDisk(small, nil, nil, need); err != nil || d.Name != want {
			t.Errorf("need %d: %s, %v", need, d.Name, err)
		}
	}
	if _, err := RootDisk(nil, nil, nil, 0); !errors.Is(err, ErrNoDisk) || !strings.Contains(err.Error(), "there are no disks") {
		t.Errorf("no disks: %v", err)
	}
	// A machine with real disks does not fall back to its SD card.
	if d, err := RootDisk(someDisks(), nil, nil, 1788*gib+1); err == nil {
		t.Errorf("chose %s", d.Name)
	}
}

func TestHintsFrom(t *testing.T) {
	hint := func(v any) map[string]any { return map[string]any{"root_device": v} }
	own, other := map[string]any{"name": "a"}, map[string]any{"name": "b"}
	for name, tc := range map[string]struct {
		instance, properties map[string]any
		want                 Hints
		fails                bool
	}{
		"none":                {nil, nil, nil, false},
		"instance wins":       {hint(own), hint(other), own, false},
		"node":                {hint(nil), hint(other), other, false},
		"empty is none":       {hint(map[string]any{}), nil, nil, false},
		"not an object":       {hint("/dev/sda"), nil, nil, true},
		"unrelated instance":  {map[string]any{"image_source": "x"}, hint(other), other, false},
		"empty then the node": {hint(map[string]any{}), hint(other), other, false},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := HintsFrom(tc.instance, tc.properties)
			if diff := cmp.Diff(tc.want, got); diff != "" || (err != nil) != tc.fails {
				t.Errorf("error %v\n%s", err, diff)
			}
		})
	}
}

func FuzzHint(f *testing.F) {
	f.Add("size", ">= 10")
	f.Add("model", "<or> a <or> b")
	f.Add("name", "s== /dev/%zz")
	f.Fuzz(func(t *testing.T, key, value string) {
		if d, err := RootDisk(someDisks(), nil, Hints{key: value}, 0); err == nil && d.Name == "" {
			t.Error("a nameless disk was chosen")
		}
	})
}
