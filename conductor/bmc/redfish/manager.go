package redfish

// manager is Manager: the BMC itself. The job service is Dell's own (iDRAC 9).
type manager struct {
	path            string
	FirmwareVersion string
	Manufacturer    string
	Model           string
	LastResetTime   string // since Manager.v1_9_0

	DateTime            string // with an offset from UTC
	DateTimeLocalOffset string
	Links               struct {
		Oem struct {
			Dell struct{ DellJobService, Jobs reference }
		}
	}
	Actions struct {
		Reset struct {
			Target string   `json:"target"`
			OneOf  []string `json:"ResetType@Redfish.AllowableValues"`
		} `json:"#Manager.Reset"`
	}
}

// manager reads the BMC that manages the system.
func (s *session) manager() (m manager, err error) {
	l, err := s.systemLinks()
	if err != nil {
		return m, err
	}
	if len(l.Links.ManagedBy) == 0 {
		return m, broken("%s does not say which manager is its BMC: update the BMC's firmware, or leave the step out",
			*s.system)
	}
	_, err = s.get(l.Links.ManagedBy[0].Path, &m)
	m.path = l.Links.ManagedBy[0].Path
	return m, err
}
