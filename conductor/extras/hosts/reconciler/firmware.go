package reconciler

import (
	"context"
	"errors"
	"fmt"

	"github.com/ferrite-metal/ferrite/conductor/extras/hosts/firmware"
	"github.com/ferrite-metal/ferrite/conductor/extras/hosts/host"
	"github.com/ferrite-metal/ferrite/conductor/node/objects"
	"github.com/ferrite-metal/ferrite/proto/hostapi"
)

// gatherFirmware reads the machine's firmware as the BMC reported it, and the documents with the wishes.
func (r *Reconciler) gatherFirmware(ctx context.Context, facts *host.Facts) (err error) {
	if !firmware.KeepsFirmware(facts.FirmwareFacts()) {
		return nil
	}
	if facts.HardwareReport, err = r.engine.HardwareReport(ctx, facts.Node.UUID); err != nil {
		return fmt.Errorf("BIOS settings and firmware of node %s: %w", facts.Node.UUID, err)
	}
	f, namespace, name := &facts.Firmware, facts.Host.Namespace, facts.Host.Name
	if f.Settings, err = getIfAny[hostapi.HostFirmwareSettings](ctx, r.Documents, namespace, name); err != nil {
		return err
	}
	if err := r.gatherSchema(ctx, facts, firmware.SchemaName(facts.HardwareReport.BIOS)); err != nil {
		return err
	}
	if f.Components, err = getIfAny[hostapi.HostFirmwareComponents](ctx, r.Documents, namespace, name); err != nil {
		return err
	}
	f.Policy, err = getIfAny[hostapi.HostUpdatePolicy](ctx, r.Documents, namespace, name)
	return err
}

// gatherSchema reads the schema of the settings, unless that is spared.
func (r *Reconciler) gatherSchema(ctx context.Context, facts *host.Facts, name string) (err error) {
	f := &facts.Firmware
	if f.Settings != nil && f.Settings.Status.FirmwareSchema != nil && f.Settings.Status.FirmwareSchema.Name == name {
		f.Described, err = r.Documents.Has(ctx,
			objects.Key{Kind: hostapi.KindFirmwareSchema, Namespace: facts.Host.Namespace, Name: name})
	}
	if err == nil && !f.Described {
		f.Schema, err = getIfAny[hostapi.FirmwareSchema](ctx, r.Documents, facts.Host.Namespace, name)
	}
	return err
}

// saveFirmware brings the documents about firmware up to date. A new document is created first and completed in a
// second write, since the server gives it its generation and its UID.
func (r *Reconciler) saveFirmware(ctx context.Context, facts *host.Facts) error {
	was, f := facts.Firmware, &facts.Firmware
	err := errors.Join(
		upsert(ctx, r, facts, &f.Settings, firmware.Settings),
		upsert(ctx, r, facts, &f.Schema, firmware.Schema),
		upsert(ctx, r, facts, &f.Settings, firmware.Settings),
		upsert(ctx, r, facts, &f.Components, firmware.Components),
		upsert(ctx, r, facts, &f.Components, firmware.Components),
		upsert(ctx, r, facts, &f.Policy, firmware.Policy),
	)
	r.reportInvalid(keyOf(facts.Host), was, facts.Firmware) // of those that are saved: no event comes for them again
	return err
}

// upsert writes one document, if decide changes it.
func upsert[T any, P document[T]](ctx context.Context, r *Reconciler, facts *host.Facts, is **T,
	decide func(firmware.Facts) (T, bool)) error {
	next, changed := decide(facts.FirmwareFacts())
	if !changed {
		return nil
	}
	write := objects.Save[T, P]
	if *is == nil {
		write = objects.Create[T, P]
	}
	saved, err := write(ctx, r.Documents, next)
	if err == nil {
		*is = &saved
	}
	return err
}

// saveUpdates records the updates of firmware that are done. They are done even if the wishes have changed meanwhile,
// so the write ignores the version; a deleted document needs no record. c is nil for no change.
func (r *Reconciler) saveUpdates(ctx context.Context, c *hostapi.HostFirmwareComponents) error {
	if c == nil {
		return nil
	}
	kept := *c
	kept.ResourceVersion = ""
	_, err := objects.UpdateStatus(ctx, r.Documents, kept)
	if errors.Is(err, objects.ErrConflict) || errors.Is(err, objects.ErrNotFound) {
		return nil
	}
	return err
}

// reportInvalid reports wanted firmware settings that the machine cannot have, and makes
// lines in the log of it.
func (r *Reconciler) reportInvalid(k key, was, is firmware.Documents) {
	for _, e := range firmware.Events(was, is) {
		r.Log.Warn("the BMC does not support the firmware settings of a host; nothing is changed", "host", k, "kind",
			e.Of.About().Kind, "err", e.Event.Message)
		if r.RecordEvents != nil {
			r.RecordEvents(e.Of, []hostapi.Event{e.Event})
		}
	}
}
