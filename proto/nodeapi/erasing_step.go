package nodeapi

import "strings"

// erasingSteps are the steps beside erase_* that destroy data on disks, as INTERFACE.STEP.
var erasingSteps = map[string]bool{
	"deploy.write_image":        true,
	"raid.create_configuration": true,
	"raid.delete_configuration": true,
	"raid.apply_configuration":  true,
}

// Erases reports whether a step destroys data on the disks of a machine. A step that is unknown does not.
func Erases(s Step) bool {
	return strings.HasPrefix(s.Step, "erase_") || erasingSteps[s.Interface+"."+s.Step]
}
