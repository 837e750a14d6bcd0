package host

import (
	"slices"

	"github.com/ferrite-metal/ferrite/proto/hostapi"
)

// hasFinalizer: the document stays until we let it go.
func (d *decision) hasFinalizer() bool { return hasFinalizer(d.h) }

func hasFinalizer(h hostapi.Host) bool { return slices.Contains(h.Finalizers, hostapi.Finalizer) }

// addFinalizer sees to it that the host cannot vanish while something is done for it:
// first that is saved, then anything else is begun.
func (d *decision) addFinalizer() bool {
	if d.hasFinalizer() {
		return true
	}
	d.h.Finalizers = append(d.h.Finalizers, hostapi.Finalizer)
	d.requeueNow()
	return false
}

// removeFinalizer lets the host go.
func (d *decision) removeFinalizer() {
	d.h.Finalizers = hostapi.WithoutFinalizer(d.h.Finalizers, hostapi.Finalizer)
}
