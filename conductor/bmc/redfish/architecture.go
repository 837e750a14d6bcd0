package redfish

import (
	"net/http"
	"strings"

	"github.com/stmcginnis/gofish/schemas"
)

// architectures are the kernel's names for Redfish's instruction sets.
var architectures = map[schemas.InstructionSet]string{
	schemas.X8664InstructionSet: "x86_64", schemas.X86InstructionSet: "i686",
	schemas.ARMA64InstructionSet: "aarch64", schemas.ARMA32InstructionSet: "armv7l",
}

// processorWords are words in the names of server processors, and in ProcessorArchitecture, with the architecture: the
// BMCs of NVIDIA's Grace (GH200, GB200) show no instruction set, but "Grace A02" and "ARMv9".
var processorWords = []struct{ word, architecture string }{
	{"armv8", "aarch64"}, {"armv9", "aarch64"}, {"grace", "aarch64"}, {"neoverse", "aarch64"}, {"ampere", "aarch64"},
	{"altra", "aarch64"}, {"kunpeng", "aarch64"}, {"bluefield", "aarch64"}, {"xeon", "x86_64"}, {"epyc", "x86_64"},
	{"intel", "x86_64"}, {"amd ", "x86_64"},
}

// architectureOf is the kernel's name for an instruction set, else the name found in the text about a processor; "" for
// neither.
func architectureOf(set schemas.InstructionSet, said string) string {
	if known := architectures[set]; known != "" {
		return known
	}
	said = strings.ToLower(said) + " "
	for _, p := range processorWords {
		if strings.Contains(said, p.word) {
			return p.architecture
		}
	}
	return ""
}

// biosVersion is the version that the system shows, or else the version of the UEFI or BIOS in the firmware inventory:
// NVIDIA's OpenBMC has it only there (GH200, GB200). "" where neither has one.
func (s *session) biosVersion(shown string) (string, error) {
	if shown != "" {
		return shown, nil
	}
	root, err := s.root()
	if err != nil || root.UpdateService.Path == "" {
		return "", err
	}
	var service struct{ FirmwareInventory reference }
	if _, err := s.get(root.UpdateService.Path, &service); err != nil {
		return "", s.optional("firmware inventory", err)
	}
	all, err := s.members(service.FirmwareInventory.Path)
	if err != nil {
		return "", s.optional("firmware inventory", err)
	}
	for _, path := range all {
		switch id := strings.ToLower(path[strings.LastIndex(path, "/")+1:]); id {
		case "uefi", "bios", "bios_active", "hgx_fw_uefi":
			var firmware struct{ Version string }
			if _, err := s.get(path, &firmware); err != nil && status(err) != http.StatusNotFound {
				return "", s.optional("firmware of the system", err)
			}
			if v := tidy(firmware.Version); v != "" {
				return v, nil
			}
		}
	}
	return "", nil
}
