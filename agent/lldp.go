package agent

import (
	"context"
	"slices"

	"github.com/ferrite-metal/ferrite/agent/inventory"
)

// listenLLDP begins to collect the LLDP data of the switches, if a kernel parameter
// asks for it. The function it returns waits for the result, at most
// ipa-lldp-timeout. The result is nil if no parameter asked.
func (a *Agent) listenLLDP(ctx context.Context) (wait func() map[string][][]any) {
	if !a.Params.CollectLLDP && !slices.Contains(a.Params.Collectors, "lldp") {
		return func() map[string][][]any { return nil }
	}
	a.settle()
	wired := inventory.Wired(a.Root)
	inventory.LetLLDPThrough(a.Root, a.Kernel, wired, a.Log)
	ctx, cancel := context.WithTimeout(ctx, a.Params.LLDPTimeout)
	done := make(chan map[string][][]any, 1)
	go func() {
		defer cancel()
		done <- inventory.ListenLLDP(ctx, a.Kernel, wired, a.Log)
	}()
	return func() map[string][][]any { return <-done }
}
