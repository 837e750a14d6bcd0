// Package param reads the agent's settings on the kernel's command line. The names are ironic-python-agent's, and a
// few of Ferrite's own.
//
// It must not read files or act on anything: a line in, a value out.
package param

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// Params is the command line understood. Zero values mean "not given".
type Params struct {
	APIURLs        []string // of the conductor, best first, without trailing slash
	InspectionURLs []string // full URLs that take inspection data; none: no inspection
	Collectors     []string // of inspection
	CollectLLDP    bool     // the older way to ask for the collector lldp
	BootIF         string   // the interface booted from, as it was given
	BootMAC        string   // the same as aa:bb:cc:dd:ee:ff; empty when it is not a MAC
	VirtualMedia   bool     // booted from virtual media, which may hold network data and more parameters
	Token          string   // agent token given before the boot (virtual media)
	Debug          bool
	Insecure       bool     // do not verify the conductor's certificate
	APIPins        [][]byte // SHA-256 of the conductor's certificate (DER), or of the authority that signed it
	RequestID      string   // sent with every request as X-OpenStack-Request-ID
	AdvertiseHost  string   // address the conductor is to call; empty: found by route
	Shell          Shell    // when the consoles give a shell

	LookupTimeout  time.Duration
	LookupInterval time.Duration // of the first retry
	DHCPWait       time.Duration // for the boot interface's address before inspection
	DHCPWaitAll    bool          // wait for all interfaces with carrier
	LLDPTimeout    time.Duration // for the switches' frames, every 30 s by default
	DiskAttempts   int           // of waiting for a disk to install onto
	DiskDelay      time.Duration // between two of them
	Download       Download

	InjectFilesPriority int // of the deploy step; 0: it runs only when asked for

	ModuleOptions map[string]string // module (with _) -> "a=1 b=2", from module.a=1
	Blacklist     []string          // modules never to load, from modprobe.blacklist=
}

// Shell says when the machine's consoles give a root shell. It needs no password.
type Shell int

// The answers.
const (
	ShellByImage Shell = iota // as the ramdisk was built: the kernel line says nothing
	ShellOnEnter              // after Enter
	ShellAtOnce               // without Enter
	ShellNever                // never
)

// Download is how patient image downloads are.
type Download struct {
	ConnectTimeout time.Duration
	Retries        int // after the first attempt
	RetryInterval  time.Duration
	MaxDuration    time.Duration // 0: no limit
}

// defaults are ironic-python-agent's.
func defaults() Params {
	return Params{
		Collectors:     []string{"default", "logs"},
		LookupTimeout:  600 * time.Second,
		LookupInterval: time.Second,
		DHCPWait:       60 * time.Second,
		LLDPTimeout:    30 * time.Second,
		DiskAttempts:   10,
		DiskDelay:      3 * time.Second,
		Download:       Download{ConnectTimeout: 60 * time.Second, Retries: 9, RetryInterval: 10 * time.Second},
		ModuleOptions:  map[string]string{},
	}
}

// setters is every parameter by name.
func setters() map[string]func(*Params, string) error {
	return map[string]func(*Params, string) error{
		"ipa-api-url":                 func(p *Params, v string) error { return urls(&p.APIURLs, v) },
		"ipa-inspection-callback-url": func(p *Params, v string) error { return urls(&p.InspectionURLs, v) },
		"ipa-inspection-collectors": func(p *Params,
			v string) error {
			p.Collectors = list(v)
			return nil
		},
		"ipa-inspection-dhcp-wait-timeout":   func(p *Params, v string) error { return seconds(&p.DHCPWait, v) },
		"ipa-inspection-dhcp-all-interfaces": func(p *Params, v string) error { return boolean(&p.DHCPWaitAll, v) },
		"BOOTIF":                             bootIF,
		"ferrite.media":                      media,
		"boot_method":                        func(p *Params, v string) error { p.VirtualMedia = v == "vmedia"; return nil },
		"ipa-agent-token":                    func(p *Params, v string) error { p.Token = v; return nil },
		"ipa-debug":                          func(p *Params, v string) error { return boolean(&p.Debug, v) },
		"ipa-insecure":                       func(p *Params, v string) error { return boolean(&p.Insecure, v) },
		"ipa-global-request-id":              func(p *Params, v string) error { p.RequestID = v; return nil },
		"ipa-advertise-host":                 func(p *Params, v string) error { p.AdvertiseHost = v; return nil },
		"ipa-lookup-timeout": func(p *Params,
			v string) error {
			return seconds(&p.LookupTimeout, v)
		},
		"ipa-lookup-interval": func(p *Params,
			v string) error {
			return seconds(&p.LookupInterval, v)
		},
		"ipa-collect-lldp": func(p *Params, v string) error { return boolean(&p.CollectLLDP, v) },
		"ipa-lldp-timeout": func(p *Params,
			v string) error {
			return fraction(&p.LLDPTimeout, v)
		},
		"ipa-disk-wait-attempts": func(p *Params, v string) error { return count(&p.DiskAttempts, v) },
		"ipa-disk-wait-delay":    func(p *Params, v string) error { return seconds(&p.DiskDelay, v) },
		"ipa-image-download-connection-timeout": func(p *Params,
			v string) error {
			return seconds(&p.Download.ConnectTimeout, v)
		},
		"ipa-image-download-connection-retries": func(p *Params,
			v string) error {
			return count(&p.Download.Retries, v)
		},
		"ipa-image-download-connection-retry-interval": func(p *Params,
			v string) error {
			return seconds(&p.Download.RetryInterval, v)
		},
		"ipa-image-download-max-duration": func(p *Params,
			v string) error {
			return seconds(&p.Download.MaxDuration, v)
		},
		"ipa-inject-files-priority": func(p *Params,
			v string) error {
			return count(&p.InjectFilesPriority, v)
		},
		"ferrite-api-sha256": apiPins,
		"ferrite.shell":      shell,
		"modprobe.blacklist": func(p *Params,
			v string) error {
			p.Blacklist = append(p.Blacklist, list(v)...)
			return nil
		},
	}
}

// Parse reads a kernel command line. A value that cannot be read stays at its default
// and is returned as a problem to be logged. The error is for values that must not be
// guessed: with a wrong pin or address the agent could talk to an attacker.
func Parse(cmdline string) (p Params, problems []error, err error) {
	p = defaults()
	set := setters()
	for word := range strings.FieldsSeq(cmdline) {
		key, value, ok := strings.Cut(word, "=")
		if !ok {
			continue
		}
		if f := set[key]; f != nil {
			if bad := f(&p, value); bad != nil {
				bad = fmt.Errorf("kernel parameter %s: %w", key, bad)
				if !fatal(key) {
					problems = append(problems, bad)
				} else if err == nil {
					err = bad // and on, for the shell's setting
				}
			}
			continue
		}
		if module, option, ok := strings.Cut(key, "."); ok && module != "" && option != "" {
			addModuleOption(p.ModuleOptions, module, option+"="+value)
		}
	}
	if err != nil {
		return p, problems, err
	}
	if len(p.InspectionURLs) == 0 && collectorsGiven(cmdline) && len(p.APIURLs) > 0 {
		for _, u := range p.APIURLs {
			p.InspectionURLs = append(p.InspectionURLs, u+"/v1/continue_inspection")
		}
	}
	return p, problems, nil
}

// fatal reports whether a bad value of a parameter stops the agent.
func fatal(key string) bool {
	return key == "ipa-api-url" || key == "ipa-inspection-callback-url" || key == "ferrite-api-sha256"
}

// collectorsGiven reports whether inspection was asked for only by naming
// collectors.
func collectorsGiven(cmdline string) bool {
	for word := range strings.FieldsSeq(cmdline) {
		if strings.HasPrefix(word, "ipa-inspection-collectors=") {
			return true
		}
	}
	return false
}

// shell reads when consoles give a shell: a boolean, or "enter". A value that
// cannot be read refuses the shell, since it was meant to restrict access.
func shell(p *Params, v string) error {
	if strings.EqualFold(v, "enter") {
		p.Shell = ShellOnEnter
		return nil
	}
	var atOnce bool
	err := boolean(&atOnce, v)
	p.Shell = ShellNever
	if atOnce {
		p.Shell = ShellAtOnce
	}
	if err != nil {
		return fmt.Errorf("%w; no shell is given", err)
	}
	return nil
}

func addModuleOption(options map[string]string, module, option string) {
	module = strings.ReplaceAll(module, "-", "_")
	options[module] = strings.TrimSpace(options[module] + " " + option)
}

// media says whether virtual media hold anything for the agent. Ferrite's do not: their
// ramdisk has it all, and need not wait for a drive.
func media(p *Params, v string) error { return boolean(&p.VirtualMedia, v) }

func bootIF(p *Params, v string) error {
	p.BootIF = v
	mac := strings.ReplaceAll(v, "-", ":")
	if len(mac) == len("01:aa:bb:cc:dd:ee:ff") { // pxelinux puts the hardware type first
		mac = mac[3:]
	}
	hw, err := net.ParseMAC(mac)
	if err != nil || len(hw) != 6 {
		return fmt.Errorf("%q is not a MAC address", v)
	}
	p.BootMAC = hw.String()
	return nil
}

// apiPins reads one pin or several. An empty list is an error: it does not mean that
// any certificate is accepted.
func apiPins(p *Params, v string) error {
	p.APIPins = nil
	for text := range strings.SplitSeq(v, ",") {
		sum, err := hex.DecodeString(strings.ReplaceAll(text, ":", ""))
		if err != nil || len(sum) != sha256.Size {
			return fmt.Errorf("%q is not a SHA-256 in hexadecimal", text)
		}
		p.APIPins = append(p.APIPins, sum)
	}
	return nil
}

func urls(to *[]string, v string) error {
	*to = nil
	for _, s := range list(v) {
		if s == "mdns" {
			return fmt.Errorf("finding the conductor by mdns is not built; give its URL")
		}
		u, err := url.Parse(s)
		if err != nil || u.Host == "" || (u.Scheme != "http" && u.Scheme != "https") {
			return fmt.Errorf("%q is not an http(s) URL", s)
		}
		*to = append(*to, strings.TrimRight(s, "/"))
	}
	return nil
}

func list(v string) []string {
	var out []string
	for s := range strings.SplitSeq(v, ",") {
		if s = strings.TrimSpace(s); s != "" {
			out = append(out, s)
		}
	}
	return out
}

func boolean(to *bool, v string) error {
	switch strings.ToLower(v) {
	case "1", "true", "yes", "on":
		*to = true
	case "0", "false", "no", "off", "":
		*to = false
	default:
		return fmt.Errorf("%q is neither true nor false", v)
	}
	return nil
}

func seconds(to *time.Duration, v string) error {
	n, err := strconv.Atoi(v)
	if err != nil || n < 0 || n > 1<<30 {
		return fmt.Errorf("%q is not a number of seconds", v)
	}
	*to = time.Duration(n) * time.Second
	return nil
}

// fraction reads seconds that may have a part behind the point.
func fraction(to *time.Duration, v string) error {
	n, err := strconv.ParseFloat(v, 64)
	if err != nil || !(n >= 0 && n <= 1<<30) { // a comparison that NaN does not pass
		return fmt.Errorf("%q is not a number of seconds", v)
	}
	*to = time.Duration(n * float64(time.Second))
	return nil
}

func count(to *int, v string) error {
	n, err := strconv.Atoi(v)
	if err != nil || n < 0 {
		return fmt.Errorf("%q is not a count", v)
	}
	*to = n
	return nil
}
