package rootdevice

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/ferrite-metal/ferrite/proto/agentapi"
)

// The reasons for which no disk is taken. With ErrNoDisk another one may still
// turn up; with ErrAmbiguous only better hints help.
var (
	ErrNoDisk    = errors.New("no suitable disk")
	ErrAmbiguous = errors.New("several disks fit equally")
)

// smallestRoot is the size from which a disk is taken for one to install an
// operating system on (4 GiB, as ironic-python-agent has it).
const smallestRoot = 4 << 30

// Wish describes the wanted root disk.
type Wish struct {
	Hints Hints   // all must match; none: the smallest disk that is large enough
	Skip  []Hints // disks that are kept for something else
	Need  int64   // bytes it has to hold, where no hints say which disk it is
}

// Verdict is the decision about one disk, with its reason. For a device that the agent has left out (virtual media,
// members of arrays) only the name is known.
type Verdict struct {
	Disk  agentapi.Disk
	Taken bool
	Why   string
}

// Choose takes a disk. With hints it is the smallest that all of them match, and none when two are as small. Without
// hints it is the smallest of at least 4 GiB and at least w.Need bytes, the first by name of equals. Only when no disk
// reaches 4 GiB is the smallest taken that has w.Need bytes. Verdicts come by size and name, and those for left
// (devices that the agent does not list as disks) last. They also come with an error, unless hints are wrong in
// themselves.
func Choose(disks []agentapi.Disk, left []agentapi.SkippedDisk, w Wish) (agentapi.Disk, []Verdict, error) {
	tests, err := w.Hints.parse()
	if err != nil {
		return agentapi.Disk{}, nil, err
	}
	sorted, further := agentapi.MergePaths(disks) // an agent other than ours may list each path
	slices.SortStableFunc(sorted, func(a, b agentapi.Disk) int {
		return cmp.Or(cmp.Compare(a.Size, b.Size), cmp.Compare(a.Name, b.Name))
	})
	verdicts := make([]Verdict, len(sorted))
	for i, d := range sorted {
		verdicts[i].Disk = d
		if verdicts[i].Why, err = unfit(d, tests, w); err != nil {
			return agentapi.Disk{}, nil, err
		}
	}
	if len(tests) == 0 {
		checkSizes(verdicts, w.Need)
	}
	taken, err := takeFirst(verdicts, w.Hints)
	for _, s := range slices.Concat(left, further) {
		if s.Reason == agentapi.NotHardware {
			continue
		}
		verdicts = append(verdicts, Verdict{Disk: agentapi.Disk{Name: s.Name}, Why: s.Reason})
	}
	if errors.Is(err, ErrNoDisk) {
		err = fmt.Errorf("%w%s; %s", ErrNoDisk, lack(w), seen(verdicts))
	}
	return taken, verdicts, err
}

// unfit says why a disk cannot be meant; "" when it can.
func unfit(d agentapi.Disk, tests []test, w Wish) (string, error) {
	if strings.Contains(strings.ToLower(d.Model), "virtual") && d.Transport == "usb" {
		return "virtual media", nil // which ironic-python-agent lists among the disks
	}
	if d.ReadOnly {
		return "read-only", nil
	}
	if _, named := w.Hints["name"]; !named && strings.HasPrefix(d.Name, "/dev/pmem") { // its only name in Linux
		return "persistent memory, which is taken only when root_device names it", nil
	}
	by, err := KeptBy(w.Skip, d)
	if err != nil {
		return "", err
	}
	if by != nil {
		return "in skip_block_devices, by " + by.String(), nil
	}
	return strings.Join(failures(tests, d), "; "), nil
}

// checkSizes is the verdict on disks that are too small.
func checkSizes(verdicts []Verdict, need int64) {
	least := need
	if slices.ContainsFunc(verdicts, func(v Verdict) bool { return v.Why == "" && v.Disk.Size >= smallestRoot }) {
		least = max(need, smallestRoot)
	}
	for i, v := range verdicts {
		if v.Why == "" && v.Disk.Size < least {
			verdicts[i].Why = fmt.Sprintf("too small: %s, expected at least %s", gigabytes(v.Disk.Size),
				gigabytes(least))
		}
	}
}

// takeFirst takes the first disk that nothing speaks against, and says why not
// the others.
func takeFirst(verdicts []Verdict, hints Hints) (agentapi.Disk, error) {
	var fit []*Verdict
	for i := range verdicts {
		if verdicts[i].Why == "" {
			fit = append(fit, &verdicts[i])
		}
	}
	if len(fit) == 0 {
		return agentapi.Disk{}, ErrNoDisk
	}
	first := fit[0].Disk
	var equals []agentapi.Disk
	for _, v := range fit {
		v.Why = "larger than " + first.Name
		if v.Disk.Size == first.Size {
			v.Why = "as large as " + first.Name + ", whose name comes first"
			equals = append(equals, v.Disk)
		}
	}
	if len(hints) > 0 && len(equals) > 1 {
		for _, v := range fit[:len(equals)] {
			v.Why = "matches the hints as well as others do"
		}
		return agentapi.Disk{}, ambiguous(equals, hints)
	}
	fit[0].Taken, fit[0].Why = true, "the smallest disk that is large enough"
	if len(hints) > 0 {
		fit[0].Why = "matches all hints"
		if len(fit) > 1 {
			fit[0].Why = "the smallest disk that matches all hints"
		}
	}
	return first, nil
}

// ambiguous names disks that fit equally, and a hint that distinguishes them.
func ambiguous(equals []agentapi.Disk, hints Hints) error {
	names := make([]string, len(equals))
	for i, d := range equals {
		names[i] = d.Name
	}
	return fmt.Errorf("%w: root_device %s matches %s, all of %d bytes; distinguish them by %s",
		ErrAmbiguous, hints, strings.Join(names, ", "), equals[0].Size, apart(equals))
}

// apart is hints of which each is true of one disk only. Hints that stay with a disk
// wherever it is plugged in come first.
func apart(disks []agentapi.Disk) string {
	for _, key := range []string{"serial", "wwn", "by_path", "hctl", "name"} {
		var words []string
		values := map[string]bool{}
		for _, d := range disks {
			if all := texts()[key](d); len(all) > 0 && !values[strings.ToLower(all[0])] {
				values[strings.ToLower(all[0])] = true
				words = append(words, key+"="+all[0])
			}
		}
		if len(words) == len(disks) {
			return strings.Join(words, " or ")
		}
	}
	return "size or model: these disks report nothing else"
}

// lack is the wish that no disk meets.
func lack(w Wish) string {
	if len(w.Hints) > 0 {
		return ": none matches root_device " + w.Hints.String()
	}
	return ": none has " + gigabytes(max(w.Need, 1))
}

// mostSeen bounds how many disks an error lists.
const mostSeen = 24

// seen lists the disks, each with the reason against it.
func seen(verdicts []Verdict) string {
	var parts []string
	for _, v := range verdicts {
		parts = append(parts, describe(v.Disk)+": "+v.Why)
	}
	if len(parts) == 0 {
		return "there are no disks (is the controller's driver in the ramdisk?)"
	}
	if more := len(parts) - mostSeen; more > 0 {
		parts = append(parts[:mostSeen], fmt.Sprintf("and %d more", more))
	}
	return "disks seen: " + strings.Join(parts, ", ")
}

// describe names a disk by the properties that people know.
func describe(d agentapi.Disk) string {
	var parts []string
	if d.Size > 0 {
		parts = append(parts, gigabytes(d.Size))
	}
	for _, f := range []struct{ name, value string }{{"model", d.Model}, {"serial", d.Serial}, {"wwn", d.WWN}} {
		if f.value != "" {
			parts = append(parts, fmt.Sprintf("%s %q", f.name, f.value))
		}
	}
	if len(parts) == 0 {
		return d.Name
	}
	return d.Name + " (" + strings.Join(parts, ", ") + ")"
}

// gigabytes is a size as makers of disks count, in bytes if it is not a round number.
func gigabytes(bytes int64) string {
	if bytes%1e8 == 0 && bytes > 0 {
		return fmt.Sprintf("%.1f GB", float64(bytes)/1e9)
	}
	return fmt.Sprintf("%.1f GB (%d bytes)", float64(bytes)/1e9, bytes)
}
