package erase

import (
	"fmt"
	"math"
)

// Options are the operator's settings.
type Options struct {
	Continue     bool // after a failed erase by the drive's firmware, try the next method
	NVMe, ATA    bool // secure erase of these kinds of drives is switched on
	SkipReadOnly bool // leave read-only disks alone rather than fail
	Passes       int  // of random data by overwriting
	Zeroes       bool // a last pass of zeroes by overwriting
	Concurrency  int  // disks erased at a time
	Shared       bool // erase file systems that machines share as well
}

// maxPasses and maxConcurrency are far more than makes sense: a number beyond
// is a mistake.
const (
	maxPasses      = 100
	maxConcurrency = 1024
)

// OptionsFrom reads the keys of driver_internal_info that Ironic's conductor sets.
// Missing ones have ironic-python-agent's defaults, but disks are erased four at a
// time, which is Ironic's default.
func OptionsFrom(info map[string]any) (Options, error) {
	o := Options{NVMe: true, ATA: true, Passes: 1, Zeroes: true, Concurrency: 4}
	guard, err := Guards(info)
	if err != nil {
		return o, err
	}
	o.Shared = !guard
	if _, given := info["agent_continue_if_secure_erase_failed"]; !given { // the name in older conductors
		info = withDefault(info, "agent_continue_if_secure_erase_failed", info["agent_continue_if_ata_erase_failed"])
	}
	for key, to := range map[string]*bool{
		"agent_continue_if_secure_erase_failed": &o.Continue,
		"agent_enable_nvme_secure_erase":        &o.NVMe,
		"agent_enable_ata_secure_erase":         &o.ATA,
		"agent_erase_skip_read_only":            &o.SkipReadOnly,
		"agent_erase_devices_zeroize":           &o.Zeroes,
	} {
		if *to, err = boolOption(info, key, *to); err != nil {
			return o, err
		}
	}
	for key, to := range map[string]struct {
		n        *int
		from, to int
	}{
		"agent_erase_devices_iterations": {&o.Passes, 0, maxPasses},
		"disk_erasure_concurrency":       {&o.Concurrency, 1, maxConcurrency},
	} {
		v, ok := info[key].(float64) // a JSON number
		switch {
		case info[key] == nil:
		case !ok || v != math.Trunc(v) || v < float64(to.from) || v > float64(to.to):
			return o, fmt.Errorf("driver_internal_info.%s: expected a number from %d to %d, found %v", key, to.from,
				to.to, info[key])
		default:
			*to.n = int(v)
		}
	}
	if o.Passes == 0 && !o.Zeroes {
		return o, fmt.Errorf("driver_internal_info: agent_erase_devices_iterations 0 without agent_erase_devices_zeroize " +
			"overwrites nothing")
	}
	return o, nil
}

// Guards reports whether file systems that machines share are refused, which is the
// default. Ironic's key says the opposite of its name: true, the default, keeps them
// from being wiped.
func Guards(info map[string]any) (bool, error) {
	return boolOption(info, "wipe_special_filesystems", true)
}

// boolOption is the value of a key, or its default.
func boolOption(info map[string]any, key string, otherwise bool) (bool, error) {
	v, ok := info[key].(bool)
	if info[key] != nil && !ok {
		return otherwise, fmt.Errorf("driver_internal_info.%s: expected true or false, found %v", key, info[key])
	}
	return v || !ok && otherwise, nil
}

// withDefault is info with one more key.
func withDefault(info map[string]any, key string, value any) map[string]any {
	out := map[string]any{key: value}
	for k, v := range info {
		out[k] = v
	}
	return out
}
