package node

// Indicator is a light on a machine that people find it by.
type Indicator struct {
	Component string // chassis, system or disk
	Name      string // unique within the component
	ReadOnly  bool
	States    []string // the states it can show
}

// The states of an indicator. Unknown is read alone, never set.
const (
	IndicatorOn       = "on"
	IndicatorOff      = "off"
	IndicatorBlinking = "blinking"
	IndicatorUnknown  = "unknown"
)

// VendorMethod is an ability of a driver without a call of its own in Ironic's API.
type VendorMethod struct {
	Name        string
	HTTPMethods []string
	Async       bool // answered before it is done
	Shared      bool // may be called while the node is reserved
	Description string
}

// Unsupported is Ironic's error for an interface, or a part of one, that a driver lacks or that is switched off.
func Unsupported(n Node, extension string) error {
	return Refuse(Invalid, "Driver %s does not support %s (disabled or not implemented).", n.Driver, extension)
}
