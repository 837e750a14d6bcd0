package rootdevice

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ferrite-metal/ferrite/proto/agentapi"
)

const oneGiB = int64(1) << 30

func someDisks() []agentapi.Disk {
	return []agentapi.Disk{
		{Name: "/dev/sdb", Size: 480 * oneGiB, Model: "SAMSUNG MZ7LH480", Serial: "S45PNA0M", WWN: "0x5002538e0",
			WWNWithExtension: "0x5002538e0aa", WWNVendorExtension: "7", HCTL: "1:0:0:0", Rotational: false, Transport: "sata",
			Vendor: "ATA"},
		{Name: "/dev/sda", Size: 480 * oneGiB, Model: "SAMSUNG MZ7LH480", Serial: "S45PNA0L", WWN: "0x5002538e1",
			HCTL: "0:0:0:0", Rotational: false, Transport: "sata", Vendor: "ATA"},
		{Name: "/dev/sdc", Size: 2 * oneGiB, Model: "Internal SD-CARD", Rotational: true, Transport: "usb"},
		{Name: "/dev/nvme0n1", Size: 1788 * oneGiB, Model: "Dell Ent NVMe v2", Serial: "S6CXNA",
			ByPath: "/dev/disk/by-path/pci-0000:01:00.0-nvme-1", Transport: "nvme"},
		{Name: "/dev/sdv", Size: 8 * oneGiB, Model: "Virtual HDISK0", Transport: "usb"},
	}
}

func TestChoose(t *testing.T) {
	skipped := []agentapi.SkippedDisk{{Name: "/dev/sdm", Reason: "member of md127"},
		{Name: "/dev/loop0", Reason: "not hardware"}}
	tests := map[string]struct {
		hints string
		need  int64
		want  string // name, or part of the error after "!"
	}{
		"smallest from 4 GiB, then by name": {"", 0, "/dev/sda"},
		"big enough for the image":          {"", 500 * oneGiB, "/dev/nvme0n1"},
		"none is big enough": {"", 4000 * oneGiB,
			"!none has 4295.0 GB (4294967296000 bytes); disks seen: /dev/sdc ("},
		"by name":                        {`{"name":"/dev/sdb"}`, 0, "/dev/sdb"},
		"with operator":                  {`{"name":"s== /dev/sdb"}`, 0, "/dev/sdb"},
		"operator without a blank":       {`{"name":"s==/dev/sdb"}`, 0, "/dev/sdb"},
		"substring without a blank":      {`{"model":"<in>dell"}`, 0, "/dev/nvme0n1"},
		"all substrings without a blank": {`{"model":"<all-in>dell nvme"}`, 0, "/dev/nvme0n1"},
		"one of without blanks":          {`{"hctl":"<or>9:0:0:0<or>1:0:0:0"}`, 0, "/dev/sdb"},
		"negation without a blank":       {`{"tran":"s!=sata"}`, 0, "/dev/sdc"},
		"size without a blank":           {`{"size":">=500"}`, 0, "/dev/nvme0n1"},
		"one of several without blanks":  {`{"size":"<or>1788<or>9999"}`, 0, "/dev/nvme0n1"},
		"any case":                       {`{"serial":"s45pna0m"}`, 0, "/dev/sdb"},
		"a serial as udev tells it":      {`{"serial":"SAMSUNG_MZ7LH480_S45PNA0M"}`, 0, "/dev/sdb"},
		"a wwn with its extension":       {`{"wwn":"0x5002538e0aa"}`, 0, "/dev/sdb"},
		"a SCSI serial as udev tells it": {`{"serial":"35002538e0aa"}`, 0, "/dev/sdb"},
		"quoted for a URL":               {`{"model":"Internal%20SD-CARD"}`, 0, "/dev/sdc"},
		"substring":                      {`{"model":"<in> dell"}`, 0, "/dev/nvme0n1"},
		"all substrings":                 {`{"model":"<all-in> dell nvme"}`, 0, "/dev/nvme0n1"},
		"one of":                         {`{"hctl":"<or> 9:0:0:0 <or> 1:0:0:0"}`, 0, "/dev/sdb"},
		"all must match":                 {`{"model":"<in> samsung","wwn":"0x5002538e0"}`, 0, "/dev/sdb"},
		"size":                           {`{"size":1788}`, 0, "/dev/nvme0n1"},
		"size text":                      {`{"size":"1788","tran":"nvme"}`, 0, "/dev/nvme0n1"},
		"size at least":                  {`{"size":">= 500"}`, 0, "/dev/nvme0n1"},
		"size at least, of old":          {`{"size":"= 500"}`, 0, "/dev/nvme0n1"},
		"size at most":                   {`{"size":"<= 2"}`, 0, "/dev/sdc"},
		"size below":                     {`{"size":"< 3"}`, 0, "/dev/sdc"},
		"size above":                     {`{"size":"> 480"}`, 0, "/dev/nvme0n1"},
		"size is":                        {`{"size":"== 2"}`, 0, "/dev/sdc"},
		"size is not":                    {`{"size":"!= 480"}`, 0, "/dev/sdc"},
		"one of several sizes":           {`{"size":"<or> 1788 <or> 9999"}`, 0, "/dev/nvme0n1"},
		"text after":                     {`{"serial":"s> s45z"}`, 0, "/dev/nvme0n1"},
		"text from":                      {`{"serial":"s>= s6cxna"}`, 0, "/dev/nvme0n1"},
		"text before":                    {`{"name":"s< /dev/o"}`, 0, "/dev/nvme0n1"},
		"text up to":                     {`{"name":"s<= /dev/nvme0n1"}`, 0, "/dev/nvme0n1"},
		"text that is not":               {`{"tran":"s!= sata"}`, 0, "/dev/sdc"},
		"a number in text":               {`{"wwn_vendor_extension":">= 7"}`, 0, "/dev/sdb"},
		"rotational":                     {`{"rotational":true}`, 0, "/dev/sdc"},
		"rotational text":                {`{"rotational":"False","tran":"nvme"}`, 0, "/dev/nvme0n1"},
		"rotational as Ironic reads it":  {`{"rotational":"yes"}`, 0, "/dev/sdc"},
		"by path":                        {`{"by_path":"/dev/disk/by-path/pci-0000:01:00.0-nvme-1"}`, 0, "/dev/nvme0n1"},
		"the smallest of several":        {`{"tran":"<or> nvme <or> usb"}`, 0, "/dev/sdc"},

		"no match, never a guess": {
			`{"serial":"other"}`, 0, "!none matches root_device {serial=other}; disks seen: /dev/sdc (",
		},
		"what was wanted and found":   {`{"serial":"other"}`, 0, `!serial "S6CXNA"): serial: wanted other, found S6CXNA`},
		"what was not found":          {`{"vendor":"x"}`, 0, "!vendor: wanted x, found nothing"},
		"says what was left out":      {`{"serial":"other"}`, 0, "!/dev/sdm: member of md127"},
		"a negation of nothing":       {`{"serial":"s!= x","name":"/dev/sdc"}`, 0, "!none matches"},
		"a negation is of every form": {`{"serial":"s!= s45pna0m","name":"/dev/sdb"}`, 0, "!none matches"},
		"two as good": {
			`{"model":"<in> samsung"}`, 0,
			"!several disks fit equally: root_device {model=<in> samsung} matches /dev/sda, /dev/sdb, all of 515396075520 " +
				"bytes; distinguish them by serial=S45PNA0L or serial=S45PNA0M",
		},
		"virtual media is no disk": {
			`{"name":"/dev/sdv"}`, 0, "!/dev/sdv (8.6 GB (8589934592 bytes), model \"Virtual HDISK0\"): virtual media",
		},
		"unknown hint":                    {`{"colour":"red"}`, 0, "!hint colour: not known"},
		"unknown operator":                {`{"size":"~ 5"}`, 0, `!operator "~"`},
		"unknown operator on text":        {`{"model":"<un> 5"}`, 0, `!operator "<un>"`},
		"text is no number":               {`{"model":">= dell"}`, 0, `!compares numbers`},
		"an operator alone":               {`{"model":"<in> "}`, 0, `!nothing to compare with`},
		"alternatives that are none":      {`{"model":"<or> <or>"}`, 0, `!nothing to compare with`},
		"sizes that are none":             {`{"size":"<or>"}`, 0, `!nothing to compare with`},
		"one of several sizes is no size": {`{"size":"<or> 5 <or> big"}`, 0, `!not a number of GiB`},
		"nothing":                         {`{"model":""}`, 0, `!nothing to compare with`},
		"size is no number":               {`{"size":"big"}`, 0, "!not a number of GiB"},
		"size is negative":                {`{"size":-3}`, 0, "!not a number of GiB"},
		"size is an object":               {`{"size":{}}`, 0, "!not a number of GiB"},
		"size is infinite":                {`{"size":">= -inf"}`, 0, "!not a number of GiB"},
		"rotational is no boolean":        {`{"rotational":"fast"}`, 0, "!neither true nor false"},
		"a name is no number":             {`{"name":5}`, 0, "!expected a string"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			var hints Hints
			if tc.hints != "" {
				if err := json.Unmarshal([]byte(tc.hints), &hints); err != nil {
					t.Fatal(err)
				}
			}
			got, verdicts, err := Choose(someDisks(), skipped, Wish{Hints: hints, Need: tc.need})
			for _, v := range verdicts {
				if v.Why == "" || v.Taken != (err == nil && v.Disk.Name == got.Name) {
					t.Errorf("verdict %+v, taken is %q", v, got.Name)
				}
			}
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

func TestChooseInALab(t *testing.T) {
	small := []agentapi.Disk{{Name: "/dev/vdb", Size: oneGiB}, {Name: "/dev/vda", Size: 2 * oneGiB}}
	for need, want := range map[int64]string{0: "/dev/vdb", oneGiB: "/dev/vdb", oneGiB + 1: "/dev/vda"} {
		if d, _, err := Choose(small, nil, Wish{Need: need}); err != nil || d.Name != want {
			t.Errorf("need %d: %s, %v", need, d.Name, err)
		}
	}
	if _, _, err := Choose(nil, nil, Wish{}); !errors.Is(err, ErrNoDisk) ||
		!strings.Contains(err.Error(), "there are no disks") {
		t.Errorf("no disks: %v", err)
	}
	// A machine with real disks does not fall back to its SD card.
	if d, _, err := Choose(someDisks(), nil, Wish{Need: 1788*oneGiB + 1}); err == nil {
		t.Errorf("chose %s", d.Name)
	}
}

func TestFrom(t *testing.T) {
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
			got, err := From(tc.instance, tc.properties)
			if diff := cmp.Diff(tc.want, got); diff != "" || (err != nil) != tc.fails {
				t.Errorf("error %v\n%s", err, diff)
			}
		})
	}
}

// TestVerdicts: every disk has a verdict, in the order in which they are looked at.
func TestVerdicts(t *testing.T) {
	disks := []agentapi.Disk{
		{Name: "/dev/sdd", Size: 9 * oneGiB}, {Name: "/dev/sda", Size: 8 * oneGiB}, {Name: "/dev/sdb", Size: 8 * oneGiB},
		{Name: "/dev/sdc", Size: oneGiB}, {Name: "/dev/sde", Size: 5 * oneGiB, Serial: "keep"},
	}
	left := []agentapi.SkippedDisk{
		{Name: "/dev/sr0", Reason: "optical drive"}, {Name: "/dev/loop3", Reason: "not hardware"},
	}
	for name, tc := range map[string]struct {
		wish Wish
		want []string
	}{
		"without hints": {Wish{Skip: []Hints{{"serial": "keep"}}}, []string{
			"/dev/sdc: too small: 1.1 GB (1073741824 bytes), expected at least 4.3 GB (4294967296 bytes)",
			"/dev/sde: in skip_block_devices, by {serial=keep}",
			"/dev/sda taken: the smallest disk that is large enough",
			"/dev/sdb: as large as /dev/sda, whose name comes first",
			"/dev/sdd: larger than /dev/sda",
			"/dev/sr0: optical drive",
		}},
		"with hints": {Wish{Hints: Hints{"size": ">= 5", "name": "s> /dev/sdc"}}, []string{
			"/dev/sdc: name: wanted s> /dev/sdc, found /dev/sdc; size: wanted >= 5, found 1 GiB",
			"/dev/sde taken: the smallest disk that matches all hints",
			"/dev/sda: name: wanted s> /dev/sdc, found /dev/sda",
			"/dev/sdb: name: wanted s> /dev/sdc, found /dev/sdb",
			"/dev/sdd: larger than /dev/sde",
			"/dev/sr0: optical drive",
		}},
		"equals": {Wish{Hints: Hints{"size": 8}}, []string{
			"/dev/sdc: size: wanted 8, found 1 GiB",
			"/dev/sde: size: wanted 8, found 5 GiB",
			"/dev/sda: matches the hints as well as others do",
			"/dev/sdb: matches the hints as well as others do",
			"/dev/sdd: size: wanted 8, found 9 GiB",
			"/dev/sr0: optical drive",
		}},
	} {
		t.Run(name, func(t *testing.T) {
			_, verdicts, _ := Choose(disks, left, tc.wish)
			var got []string
			for _, v := range verdicts {
				got = append(got, v.Disk.Name+map[bool]string{true: " taken"}[v.Taken]+": "+v.Why)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestApart(t *testing.T) {
	for want, disks := range map[string][]agentapi.Disk{
		"wwn=1 or wwn=2": {{Name: "/dev/a", Serial: "same", WWN: "1"},
			{Name: "/dev/b", Serial: "SAME", WWN: "2"}},
		"hctl=0:0:0:0 or hctl=1:0:0:0": {{Name: "/dev/a", Serial: "x", HCTL: "0:0:0:0"},
			{Name: "/dev/b", HCTL: "1:0:0:0"}},
		"name=/dev/a or name=/dev/b":       {{Name: "/dev/a"}, {Name: "/dev/b"}},
		"serial=x or serial=y or serial=z": {{Serial: "x"}, {Serial: "y"}, {Serial: "z"}},
	} {
		if got := apart(disks); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}

func TestSkipFrom(t *testing.T) {
	for name, tc := range map[string]struct {
		given   any
		disks   []Hints
		volumes []string
		fails   bool
	}{
		"none": {nil, nil, nil, false},
		"a list": {[]any{map[string]any{"serial": "a"}, map[string]any{"volume_name": "v"}},
			[]Hints{{"serial": "a"}}, []string{"v"}, false},
		"not a list":         {"sda", nil, nil, true},
		"not objects":        {[]any{"sda"}, nil, nil, true},
		"one would hold all": {[]any{map[string]any{}}, nil, nil, true},
		"a volume's number":  {[]any{map[string]any{"volume_name": 5.0}}, nil, nil, true},
		"a nameless volume":  {[]any{map[string]any{"volume_name": ""}}, nil, nil, true},
		"a wrong hint":       {[]any{map[string]any{"colour": "red"}}, nil, nil, true},
	} {
		t.Run(name, func(t *testing.T) {
			disks, volumes, err := SkipFrom(map[string]any{"skip_block_devices": tc.given})
			if diff := cmp.Diff(tc.disks, disks) + cmp.Diff(tc.volumes, volumes); diff != "" || (err != nil) != tc.fails {
				t.Errorf("error %v\n%s", err, diff)
			}
		})
	}
}

// FuzzHint: with any hint a disk is taken only if it matches, and each disk has a verdict.
func FuzzHint(f *testing.F) {
	for _, seed := range [][2]string{
		{"size", ">= 10"}, {"size", "<or> 2 <or> 480"}, {"size", "1e300"}, {"model", "<or> a <or> b"},
		{"model", "<all-in> dell nvme"},
		{"name", "s== /dev/%zz"}, {"rotational", "yes"}, {"serial", "s!= x"}, {"wwn", ">= 7"}, {"vendor", "<in>"},
		{"tran", "<x> y"},
	} {
		f.Add(seed[0], seed[1])
	}
	f.Fuzz(func(t *testing.T, key, value string) {
		h := Hints{key: value}
		d, verdicts, err := Choose(someDisks(), nil, Wish{Hints: h})
		if bad := h.Validate(); bad != nil {
			if err == nil || verdicts != nil {
				t.Fatalf("%v, and yet a choice: %v", bad, d.Name)
			}
			return
		}
		if len(verdicts) != len(someDisks()) {
			t.Errorf("%d verdicts", len(verdicts))
		}
		if err != nil {
			return
		}
		if ok, err := h.Match(d); !ok || err != nil || d.Name == "" {
			t.Errorf("%q was taken: %v, %v", d.Name, ok, err)
		}
	})
}

// TestPathsAreOneDisk: two names of one disk are no two disks to choose from, and a hint that holds for one of the
// names holds for the disk.
func TestPathsAreOneDisk(t *testing.T) {
	disk := func(name, hctl, serial string) agentapi.Disk {
		return agentapi.Disk{Name: name, HCTL: hctl, Size: 480 * oneGiB, Model: "ST480", Serial: serial, WWN: "0x" + serial,
			WWNWithExtension: "0x" + serial, Transport: "sas"}
	}
	disks := []agentapi.Disk{disk("/dev/sda", "0:0:1:0", "A"), disk("/dev/sdb", "0:0:2:0", "A"),
		disk("/dev/sdc", "0:0:3:0", "C")}
	for name, c := range map[string]struct {
		hints, skip Hints
		want        string // "" for none
	}{
		"by serial number":              {Hints{"serial": "A"}, nil, "/dev/sda"},
		"by its second name":            {Hints{"name": "/dev/sdb"}, nil, "/dev/sda"},
		"by where its second path is":   {Hints{"hctl": "0:0:2:0"}, nil, "/dev/sda"},
		"by no name of its own":         {Hints{"name": "s!= /dev/sdb", "serial": "A"}, nil, ""},
		"kept by its second name":       {nil, Hints{"name": "/dev/sdb"}, "/dev/sdc"},
		"all kept, the first by a path": {Hints{"serial": "A"}, Hints{"hctl": "0:0:2:0"}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			w := Wish{Hints: c.hints}
			if c.skip != nil {
				w.Skip = []Hints{c.skip}
			}
			got, verdicts, err := Choose(disks, nil, w)
			if got.Name != c.want || (err == nil) != (c.want != "") {
				t.Errorf("expected %q, found %q: %v", c.want, got.Name, err)
			}
			if last := verdicts[len(verdicts)-1]; len(verdicts) != 3 || last.Why != "another path to /dev/sda" {
				t.Errorf("%+v", verdicts)
			}
		})
	}
}

// TestUnlikelyRoots: persistent memory is taken when it is named alone, a disk that takes no writes never.
func TestUnlikelyRoots(t *testing.T) {
	disks := []agentapi.Disk{{Name: "/dev/pmem0", Size: 8 * oneGiB}, {Name: "/dev/sda", Size: 9 * oneGiB, ReadOnly: true},
		{Name: "/dev/sdb", Size: 10 * oneGiB}}
	for _, c := range []struct {
		hints Hints
		want  string
	}{
		{nil, "/dev/sdb"}, {Hints{"size": ">= 4"}, "/dev/sdb"}, {Hints{"name": "/dev/pmem0"}, "/dev/pmem0"},
		{Hints{"name": "/dev/sda"}, ""},
	} {
		if d, verdicts, err := Choose(disks, nil, Wish{Hints: c.hints}); d.Name != c.want || (c.want == "") != (err != nil) {
			t.Errorf("%v: %q, %v, %+v", c.hints, d.Name, err, verdicts)
		}
	}
}
