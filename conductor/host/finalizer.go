package host

import (
	"slices"

	"github.com/ferrite-metal/ferrite/proto/hostapi"
)

// finalizes: the document stays until we let it go.
func (d *decision) finalizes() bool { return finalizes(d.h) }

func finalizes(h hostapi.Host) bool { return slices.Contains(h.Finalizers, hostapi.Finalizer) }

// hold sees to it that the host cannot vanish while something is done for it:
// first that is saved, then anything else is begun.
func (d *decision) hold() bool {
	if d.finalizes() {
		return true
	}
	d.h.Finalizers = append(d.h.Finalizers, hostapi.Finalizer)
	d.soon()
	return false
}

// release lets the host go.
func (d *decision) release() {
	d.h.Finalizers = slices.DeleteFunc(d.h.Finalizers, func(f string) bool { return f == hostapi.Finalizer })
}
