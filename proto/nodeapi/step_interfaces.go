package nodeapi

import (
	"slices"
	"strings"
)

// StepInterfaces are the interfaces that can have steps.
func StepInterfaces() []string {
	return []string{"bios", "deploy", "firmware", "management", "network", "power", "raid", "vendor"}
}

// IsStep reports whether a text is INTERFACE.STEP, with an interface that can have steps. A name of a step has no dot
// and no space.
func IsStep(text string) bool {
	iface, step, ok := strings.Cut(text, ".")
	return ok && step != "" && !strings.ContainsAny(step, ". ") && slices.Contains(StepInterfaces(), iface)
}
