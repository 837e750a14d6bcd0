package redfish

import (
	"cmp"
	"path"

	"github.com/ferrite-metal/ferrite/proto/agentapi"
)

// controllerDoc is a member of StorageControllers.
type controllerDoc struct {
	MemberID                     string `json:"MemberId"`
	Name                         string
	SpeedGbps                    float64
	SupportedRAIDTypes           []string
	SupportedControllerProtocols []string
	SupportedDeviceProtocols     []string
	Status                       resourceStatus
}

// takeController takes a storage subsystem, and remembers its drives, which are read later.
func (p *parts) takeController(at string, s storageDoc, owners map[string]int) {
	if len(p.out.Controllers) >= maxParts {
		return
	}
	c := agentapi.StorageController{ID: cmp.Or(tidy(s.ID), path.Base(at)), Name: tidy(s.Name),
		Parts: []agentapi.ControllerPart{}, Drives: []agentapi.ControllerDrive{}}
	for _, part := range s.StorageControllers[:min(len(s.StorageControllers), maxParts)] {
		c.Parts = append(c.Parts, agentapi.ControllerPart{MemberID: tidy(part.MemberID), Name: tidy(part.Name),
			SpeedGbps: part.SpeedGbps, RAIDTypes: tidyWords(part.SupportedRAIDTypes),
			ControllerProtocols: tidyWords(part.SupportedControllerProtocols),
			DeviceProtocols:     tidyWords(part.SupportedDeviceProtocols), Status: part.Status.shown()})
	}
	for _, drive := range paths(s.Drives) {
		owners[drive] = len(p.out.Controllers)
	}
	p.out.Controllers = append(p.out.Controllers, c)
}

// takeControllerDrive takes a drive for the subsystem that names it.
func (p *parts) takeControllerDrive(at string, d driveDoc, owners map[string]int) {
	i, owned := owners[at]
	if !owned || d.Status.absent() {
		return
	}
	p.out.Controllers[i].Drives = append(p.out.Controllers[i].Drives, agentapi.ControllerDrive{
		Name: cmp.Or(tidy(d.Name), tidy(d.ID), path.Base(at)), Size: d.bytes(), ID: tidy(d.ID),
		MediaType: tidy(d.MediaType), SerialNumber: tidy(d.SerialNumber), Manufacturer: tidy(d.Manufacturer),
		Model: tidy(d.Model), Revision: tidy(d.Revision), Protocol: tidy(d.Protocol), Status: d.Status.shown()})
}

// tidyWords are the words of a list; never nil.
func tidyWords(words []string) []string {
	all := []string{}
	for _, w := range words[:min(len(words), maxTexts)] {
		all = append(all, tidy(w))
	}
	return all
}

// shown is the status in the form of an inventory; nil for none.
func (s resourceStatus) shown() *agentapi.PartStatus {
	if s == (resourceStatus{}) {
		return nil
	}
	return &agentapi.PartStatus{Health: label(s.Health), State: label(s.State), HealthRollup: label(s.HealthRollup)}
}
