package redfish

// Adaptation is a way around a BMC's departure from the standard that its answers show, so
// that no table of manufacturers is needed for it.
type Adaptation struct {
	Sign   string // the answer that shows it
	Way    string // the driver's way around
	Seen   string // on which BMCs
	Source string
}

// Adaptations lists them, for people: the code of each stands where the request is made.
func Adaptations() []Adaptation {
	return []Adaptation{
		{"412 although the resource did not change", "sends the ETag in other forms, then none",
			"Lenovo XCC, Gigabyte, AMI", "sushy connector.py; community.general 6434, 11261"},
		{"428", "reads the ETag and sends it, or *", "OpenBMC, AMI", "RFC 6585"},
		{"406 to a request without compression", "asks with gzip", "HPE Gen10 Plus", "sushy connector.py"},
		{"503 to a question", "asks again, twice", "any under load", "sushy connector.py"},
		{"Continuous is refused, or read back as Once",
			"sets Once, and again before each start of the machine", "HPE iLO 6, BMCs after Redfish 2021",
			"ironic redfish/management.py; metal-operator 606; libredfish 76"},
		{"the override is refused while it is set so already", "sends the device alone", "older BMCs",
			"ironic storyboard 2007355"},
		{"Cd is not offered, UsbCd is", "boots a virtual CD from UsbCd", "Supermicro", "sushy system.py"},
		{"UserName or Password of a medium are missed", "sends none for both", "NVIDIA DGX", "sushy virtual_media.py, " +
			"launchpad 2071945"},
		{"400 to Inserted and WriteProtected", "sends the image with TransferMethod and TransferProtocolType",
			"Supermicro X11 and X12", "sushy virtual_media.py"},
		{"the list of virtual drives is empty, and RMediaStatus is Disabled",
			"switches remote media on, and waits for drives",
			"AMI MegaRAC, NVIDIA DGX", "AMI's EnableRMediaActionInfo"},
		{"a drive is still ejecting", "waits, and asks again", "Dell iDRAC", "ironic redfish/boot.py, storyboard 2008504"},
		{"a drive takes no image", "takes the next one of its kind", "Cisco UCS, OpenBMC", "ironic redfish/boot.py"},
		{"400 or 409 to a reset, and the machine is as wanted", "takes it as done", "many", "ironic redfish/power.py"},
		{"a passing refusal (the machine in POST, the BMC not ready)", "tries again for minutes",
			"Dell iDRAC 9 and 10, HPE iLO", "ironic redfish/power.py, management.py; sushy connector.py"},
		{"a boot mode that is not read back", "starts the machine for it, and waits", "Dell iDRAC",
			"ironic redfish/management.py"},
		{"an ExpandQuery that is no object", "reads the service root without it", "not named", "DSP0268, ServiceRoot"},
		{"404 to a list that the BMC itself names: of virtual drives, of reset types",
			"looks for the drives of the manager; tries the resets of the standard in their order", "Dell, Supermicro GB300",
			"DSP0266, 9.7"},
		{"no session to be had", "sends the credentials with each request", "small BMCs", "DSP0266, 13.3"},
	}
}
