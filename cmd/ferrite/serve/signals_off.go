//go:build nosignals

package serve

func newSignals() extra { return &plain{} }
