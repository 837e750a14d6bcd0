//go:build noopenstack

package serve

func newOpenStack() extra { return &plain{} }
