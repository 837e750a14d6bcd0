package nodeapi

import "testing"

func TestClosest(t *testing.T) {
	known := []string{"bios.apply_configuration", "bios.factory_reset", "raid.apply_configuration", "reboot"}
	for word, want := range map[string]string{
		"bios.aply_configuration":   "bios.apply_configuration",
		"bios.apply_configuraiton":  "bios.apply_configuration",
		"BIOS.Factory_Reset":        "bios.factory_reset",
		"raid.apply_configurations": "raid.apply_configuration",
		"rebot":                     "reboot",
		"deploy.burnin_cpu":         "",
		"x":                         "",
		"":                          "",
	} {
		if got := Closest(word, known); got != want {
			t.Errorf("Closest(%q) is %q, expected %q", word, got, want)
		}
	}
}
