package host

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"

	"github.com/ferrite-metal/ferrite/proto/hostapi"
)

// annotated reports whether an annotation is there, and its value.
func (d *decision) annotated(name string) (value string, ok bool) {
	value, ok = d.h.Annotations[name]
	return value, ok
}

// paused: nothing at all is done.
func (d *decision) paused() bool {
	_, ok := d.annotated(hostapi.AnnotationPaused)
	return ok
}

// restoreStatus takes over the status that a host brings from elsewhere; true
// when it has one. The annotation goes either way: it would only grow stale. An
// annotation that cannot be read is ignored.
func (d *decision) restoreStatus() (restored bool) {
	value, ok := d.annotated(hostapi.AnnotationStatus)
	if !ok {
		return false
	}
	delete(d.h.Annotations, hostapi.AnnotationStatus)
	brought := d.h
	brought.Status = hostapi.HostStatus{}
	if d.h.Status.LastUpdated != nil || json.Unmarshal([]byte(value), &brought.Status) != nil {
		return false
	}
	if slices.ContainsFunc(hostapi.Check(&brought), func(p hostapi.Problem) bool {
		return strings.HasPrefix(p.Path, "status.")
	}) {
		return false
	}
	d.h.Status = brought.Status
	if d.facts.Hardware != nil {
		d.h.Status.Hardware = d.facts.Hardware
	}
	return true
}

// takeHardwareDetails takes a user's description of the hardware, if no hardware is known or inspection is disabled.
// HardwareData takes precedence over the annotation, which is removed either way.
func (d *decision) takeHardwareDetails() {
	value, annotated := d.annotated(hostapi.AnnotationHardware)
	delete(d.h.Annotations, hostapi.AnnotationHardware)
	if d.h.Status.Hardware != nil && !d.inspectionDisabled() {
		return
	}
	details := d.facts.Hardware
	if details == nil && annotated {
		var brought hostapi.Hardware
		dec := json.NewDecoder(strings.NewReader(value))
		dec.DisallowUnknownFields()
		if dec.Decode(&brought) != nil {
			return
		}
		details = &brought
	}
	if details != nil && !reflect.DeepEqual(d.h.Status.Hardware, details) {
		d.h.Status.Hardware = details
	}
}

// inspectionDisabled reports whether the document disables inspection.
func (d *decision) inspectionDisabled() bool { return d.h.Uninspected() }

// inspectAsked reports whether an annotation asks for another inspection, and inspection is not disabled.
func (d *decision) inspectAsked() bool {
	_, ok := d.annotated(hostapi.AnnotationInspect)
	return ok && !d.inspectionDisabled()
}

// rebootAsked reports whether an annotation wants the machine down, or restarted; the mode is hard if any of them says
// so. An unreadable value is a soft reboot. With forced, only annotations count that may interrupt work under way.
func (d *decision) rebootAsked(forced bool) (mode hostapi.RebootMode, ok bool) {
	mode = hostapi.RebootSoft
	for name, value := range d.h.Annotations {
		if name != hostapi.AnnotationReboot && !strings.HasPrefix(name, hostapi.AnnotationReboot+"/") {
			continue
		}
		var r hostapi.Reboot
		if json.Unmarshal([]byte(value), &r) != nil {
			r = hostapi.Reboot{}
		}
		if forced && !r.Force {
			continue
		}
		ok = true
		if r.Mode == hostapi.RebootHard {
			mode = r.Mode
		}
	}
	return mode, ok
}

// clearReboot takes away the annotation for one reboot; false when there was none.
func (d *decision) clearReboot() bool {
	_, ok := d.annotated(hostapi.AnnotationReboot)
	delete(d.h.Annotations, hostapi.AnnotationReboot)
	return ok
}

// detachAsked reads the detached annotation: nil when it is not there. A value that
// makes no sense is the default.
func (d *decision) detachAsked() *hostapi.Detach {
	value, ok := d.annotated(hostapi.AnnotationDetached)
	if !ok {
		return nil
	}
	var asked hostapi.Detach
	if json.Unmarshal([]byte(value), &asked) != nil {
		return &hostapi.Detach{}
	}
	return &asked
}
