package agent

import (
	"context"
	"slices"

	"github.com/ferrite-metal/ferrite/agent/inventory"
)

// hear begins to listen to what the switches say, when the kernel line asks for
// that. The function it returns waits for the end, which ipa-lldp-timeout bounds,
// and is given nothing when nobody asked.
func (a *Agent) hear(ctx context.Context) (wait func() map[string][][]any) {
	if !a.Params.CollectLLDP && !slices.Contains(a.Params.Collectors, "lldp") {
		return func() map[string][][]any { return nil }
	}
	a.settle()
	wired := inventory.Wired(a.Root)
	ctx, cancel := context.WithTimeout(ctx, a.Params.LLDPTimeout)
	done := make(chan map[string][][]any, 1)
	go func() {
		defer cancel()
		done <- inventory.HearLLDP(ctx, a.Kernel, wired, a.Log)
	}()
	return func() map[string][][]any { return <-done }
}
