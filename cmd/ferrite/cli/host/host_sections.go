package host

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli/internal/output"
	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli/internal/wait"
	"github.com/ferrite-metal/ferrite/proto/hostapi"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// hostSections is all that is to be said of a host.
func hostSections(h hostapi.Host, node nodeapi.Status, image hostapi.DataImage) []section {
	return []section{
		hostTitle(h), hostWanted(h), hostFound(h), hostNode(h, node), hostErrors(h), hostDataImage(h, image),
		hostConditions(h.Status.Conditions), hostHardware(h.Status.Hardware), hostHistory(h.Status.OperationHistory),
	}
}

func hostTitle(h hostapi.Host) section {
	s := section{title: "Host " + h.Name}
	s.row("namespace", h.Namespace)
	s.row("description", h.Spec.Description)
	for _, key := range output.Sorted(h.Labels) {
		s.row("label", key+"="+h.Labels[key])
	}
	for _, key := range output.Sorted(h.Annotations) {
		if key != lastApplied {
			s.row("annotation", strings.TrimSuffix(key+"="+h.Annotations[key], "="))
		}
	}
	s.row("made", wait.Clock(h.CreationTimestamp.Time))
	if h.DeletionTimestamp != nil {
		s.row("deleted", wait.Clock(h.DeletionTimestamp.Time))
		s.row("held by", heldBy(h))
	}
	return s
}

// hostWanted shows the host's spec.
func hostWanted(h hostapi.Host) section {
	spec := h.Spec
	s := section{title: "Wanted"}
	s.row("BMC", spec.BMC.Address)
	s.row("credentials", secretText(spec.BMC.CredentialsName))
	if spec.BMC.DisableCertificateVerification {
		s.row("certificate", "of the BMC is not checked")
	}
	power := onOff(spec.Online)
	if !spec.Online && spec.Image != nil && h.Status.Provisioning.State != hostapi.StateProvisioned {
		power += ": the image is written once spec.online is true"
	}
	s.row("power", power)
	s.row("boots", strings.TrimSpace(string(spec.BootMode)+" "+spec.BootMACAddress))
	if spec.ExternallyProvisioned {
		s.row("provisioned", "by other means")
	}
	s.row("image", imageText(spec.Image))
	if spec.CustomDeploy != nil {
		s.row("deploy step", spec.CustomDeploy.Method)
	}
	s.row("root device", rootDeviceText(h))
	for _, r := range []struct {
		name string
		ref  *hostapi.SecretReference
	}{{"user data", spec.UserData}, {"network data", spec.NetworkData}, {"meta data", spec.MetaData}} {
		if r.ref != nil {
			s.row(r.name, secretText(r.ref.Name))
		}
	}
	s.row("cleaning", string(spec.AutomatedCleaningMode))
	s.row("inspection", string(spec.InspectionMode))
	if spec.ConsumerRef != nil {
		s.row("used by", strings.TrimSpace(spec.ConsumerRef.Kind+" "+spec.ConsumerRef.Name))
	}
	return s
}

// rootDeviceText is the disk that an image is written to: as the document says, or by default.
func rootDeviceText(h hostapi.Host) string {
	if h.Spec.RootDeviceHints != nil || h.Status.Provisioning.RootDeviceHints == nil {
		return hintsText(h.Spec.RootDeviceHints)
	}
	return hintsText(h.Status.Provisioning.RootDeviceHints) + ", by default; spec.rootDeviceHints names another"
}

// hostFound shows the host's status.
func hostFound(h hostapi.Host) section {
	st := h.Status
	s := section{title: "Found"}
	s.row("state", orNone(st.Provisioning.State))
	s.row("status", string(st.OperationalStatus))
	switch {
	case st.OperationalStatus == "":
	case st.GoodCredentials.Reference == nil:
		s.row("power", "not known: the BMC has not accepted the credentials yet")
	default:
		s.row("power", onOff(st.PoweredOn))
	}
	s.row("image", imageText(st.Provisioning.Image))
	if c := st.GoodCredentials.Reference; c != nil {
		s.row("logs in with", secretText(c.Name))
	}
	if !seen(h, h.Generation) && st.OperationalStatus != "" && !annotated(h, hostapi.AnnotationPaused) {
		s.row("document", "its newest version is still being acted on")
	}
	if st.LastUpdated != nil {
		s.row("written", wait.Clock(st.LastUpdated.Time))
	}
	return s
}

// hostNode shows the node behind a host, and the event that it waits for.
func hostNode(h hostapi.Host, st nodeapi.Status) section {
	s := section{title: "Node"}
	s.row("node", h.Status.Provisioning.ID)
	if st.Node == "" {
		return s
	}
	s.row("name", st.Name)
	s.row("state", st.State)
	s.row("on its way to", st.Target)
	if st.Step != "" {
		s.row("step", fmt.Sprintf("%s (%d of %d)", st.Step, st.Index+1, len(st.Steps)))
	}
	s.row("waits for", st.WaitingFor)
	s.row("waits since", wait.Clock(st.WaitingSince))
	s.row("until", wait.Clock(st.Until))
	if st.Progress != nil {
		s.row("progress", wait.ProgressText(*st.Progress))
	}
	if h.Status.ErrorType == "" { // else the host shows the error, with advice that acts on documents
		s.row("last error", st.LastError)
		s.row("try", st.Try)
	}
	return s
}

// hostErrors shows the host's error, and the conditions that hold it up.
func hostErrors(h hostapi.Host) section {
	s := section{title: "Trouble"}
	st := h.Status
	switch {
	case st.ErrorType != "":
		s.row(string(st.ErrorType), st.ErrorMessage)
		if st.ErrorCount > 1 {
			s.row("", fmt.Sprintf("%d times in a row", st.ErrorCount))
		}
		s.row("try", hostAdvice(h))
	case st.OperationalStatus == hostapi.StatusError:
		s.row("error", st.ErrorMessage)
	default:
		s.row("last try", st.ErrorMessage) // of a deletion, while the next is under way
	}
	if annotated(h, hostapi.AnnotationPaused) {
		s.row("paused", "nothing is done about it while it has the annotation "+hostapi.AnnotationPaused)
	}
	for _, key := range output.Sorted(h.Annotations) {
		if strings.HasPrefix(key, hostapi.AnnotationReboot+"/") && h.Spec.Online && !st.PoweredOn {
			s.row("kept off", "the machine is switched on when the annotation "+key+" is taken away")
		}
	}
	if inspectsLater(h) {
		s.row("not inspected",
			"the annotation "+hostapi.AnnotationInspect+
				" waits until the host is available: the workload of the machine is not interrupted")
	}
	if st.OperationalStatus == hostapi.StatusDetached {
		s.row("detached", "the machine is let alone while it has the annotation "+hostapi.AnnotationDetached)
	}
	if st.OperationalStatus == hostapi.StatusDelayed {
		s.row("delayed", "as many other hosts are at work as may be; its turn comes by itself")
	}
	return s
}

// inspectsLater reports whether an inspection is requested that must wait until the workload on the machine is gone.
func inspectsLater(h hostapi.Host) bool {
	value, asked := h.Annotations[hostapi.AnnotationInspect]
	busy := []hostapi.State{hostapi.StateProvisioned, hostapi.StateExternallyProvisioned}
	return asked && value != hostapi.InspectDisabled && slices.Contains(busy, h.Status.Provisioning.State)
}

func hostConditions(all []hostapi.Condition) section {
	s := section{title: "Conditions"}
	for _, c := range all {
		text := fmt.Sprintf("%-8s%s", c.Status, c.Reason)
		if c.Message != "" {
			text += ": " + c.Message
		}
		s.row(c.Type, fmt.Sprintf("%-32s since %s", text, wait.Clock(c.LastTransitionTime.Time)))
	}
	return s
}

func hostHardware(hw *hostapi.Hardware) section {
	s := section{title: "Hardware"}
	if hw == nil {
		return s
	}
	v, bios := hw.SystemVendor, hw.Firmware.BIOS
	s.row("system", words(v.Manufacturer, v.ProductName))
	s.row("serial number", v.SerialNumber)
	s.row("firmware", words(bios.Vendor, bios.Version, bios.Date))
	if c := hw.CPU; c.Count > 0 {
		s.row("CPU", words(fmt.Sprint(c.Count), "x", c.Model, c.Arch))
	}
	if hw.RAMMebibytes > 0 {
		s.row("memory", fmt.Sprintf("%d MiB", hw.RAMMebibytes))
	}
	for _, d := range hw.Storage {
		s.row("disk", words(d.Name, wait.SizeText(d.SizeBytes), d.Type, d.Vendor, d.Model, d.SerialNumber))
	}
	for _, n := range hw.NIC {
		pxe := ""
		if n.PXE {
			pxe = "(boots from it)"
		}
		s.row("network card", words(n.Name, n.MAC, n.IP, pxe))
	}
	return s
}

func hostHistory(o hostapi.OperationHistory) section {
	s := section{title: "History"}
	for _, p := range []struct {
		name string
		span hostapi.Span
	}{{"registered", o.Register}, {"inspected", o.Inspect}, {"provisioned", o.Provision},
		{"deprovisioned", o.Deprovision}} {
		switch from, to := p.span.Start, p.span.End; {
		case from.IsZero():
		case to.Before(from.Time):
			s.row(p.name, "since "+wait.Clock(from.Time))
		default:
			s.row(p.name, fmt.Sprintf("%s, in %s", wait.Clock(to.Time), to.Sub(from.Time).Round(time.Second)))
		}
	}
	return s
}

// words joins the texts that are not empty.
func words(texts ...string) string {
	return strings.Join(strings.Fields(strings.Join(texts, " ")), " ")
}

func onOff(on bool) string {
	if on {
		return "on"
	}
	return "off"
}

func secretText(name string) string {
	if name == "" {
		return ""
	}
	return "secret " + name
}

func imageText(i *hostapi.Image) string {
	if i == nil {
		return ""
	}
	text := i.URL
	if i.Format != nil {
		text += ", " + *i.Format
	}
	if i.Checksum != "" {
		text += "\n" + strings.TrimSpace(string(i.ChecksumType)+" "+i.Checksum)
	}
	return text
}

// hintsText lists hints by name.
func hintsText(h *hostapi.RootDeviceHints) string {
	text, err := json.Marshal(h)
	var all map[string]any
	if err != nil || json.Unmarshal(text, &all) != nil {
		return ""
	}
	var parts []string
	for _, key := range output.Sorted(all) {
		parts = append(parts, key+" "+output.Cell(all[key]))
	}
	return strings.Join(parts, ", ")
}
