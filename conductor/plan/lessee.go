package plan

import (
	"fmt"
)

// The sources of the lessee of a deployed node, in Ironic's words ([conductor]automatic_lessee_source).
const (
	NoLessee       = "none"
	InstanceLessee = "instance" // project_id in instance_info, as Nova writes it
	RequestLessee  = "request"  // the project of the requesting user
)

// automaticLessee is the key in driver_internal_info of a node that got its lessee from a deploy.
const automaticLessee = "automatic_lessee"

// maxProject bounds the length of a lessee, in bytes.
const maxProject = 255

// setLessee makes a project the lessee of a node that is deployed for it. A lessee that is there stays.
func (d *decision) setLessee(r Request) {
	project := ""
	switch d.f.Settings.LesseeSource {
	case InstanceLessee:
		project = text(d.n.InstanceInfo, "project_id")
	case RequestLessee:
		project = r.Project
	}
	switch {
	case project == "" || d.n.Lessee == project:
		return
	case d.n.Lessee != "":
		d.note("WARNING", fmt.Sprintf("project %s does not become the lessee: project %s is", Clip(project), d.n.Lessee))
		return
	case len(project) > maxProject:
		d.note("WARNING", fmt.Sprintf("project %.40q does not become the lessee: it has %d bytes, at most %d are taken",
			project, len(project), maxProject))
		return
	}
	d.n.Lessee = project
	d.setInternal(automaticLessee, true)
}

// unsetLessee ends, with an instance, that its project is the lessee.
func (d *decision) unsetLessee() {
	if d.n.DriverInternalInfo[automaticLessee] == true {
		d.n.Lessee = ""
		delete(d.n.DriverInternalInfo, automaticLessee)
	}
}
