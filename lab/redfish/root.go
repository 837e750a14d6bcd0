package redfish

import (
	"net/http"

	"github.com/google/uuid"
)

// redfishVersion is the protocol version served (DSP0266).
const redfishVersion = "1.15.0"

// getVersions lists the protocol's major versions (DSP0266, 6.2).
func (s *Server) getVersions(*http.Request) (reply, error) {
	return ok(struct {
		V1 string `json:"v1"`
	}{rootPath + "/"})
}

// serviceRoot is ServiceRoot.v1_14_0.
type serviceRoot struct {
	common
	RedfishVersion            string
	UUID                      string
	Vendor                    string `json:",omitempty"`
	Product                   string `json:",omitempty"`
	ProtocolFeaturesSupported protocolFeatures
	Systems                   link
	Managers                  link
	Chassis                   link
	SessionService            link
	AccountService            link
	Tasks                     link
	UpdateService             link
	EventService              link
	Registries                link
	Links                     rootLinks
}

// protocolFeatures says no to all that is optional.
type protocolFeatures struct {
	ExcerptQuery    bool
	FilterQuery     bool
	OnlyMemberQuery bool
	SelectQuery     bool
}

type rootLinks struct {
	Sessions link
}

func (s *Server) getRoot(*http.Request) (reply, error) {
	root := serviceRoot{
		common:         head(rootPath, "ServiceRoot.v1_14_0.ServiceRoot", "Root Service"),
		RedfishVersion: s.personality.RedfishVersion,
		UUID:           s.controllerUUID(),
		Vendor:         s.personality.Vendor,
		Product:        s.personality.Product,
		Systems:        link{rootPath + "/Systems"},
		Managers:       link{rootPath + "/Managers"},
		Chassis:        link{rootPath + "/Chassis"},
		SessionService: link{servicePath},
		AccountService: link{accountsPath},
		Tasks:          link{tasksPath},
		UpdateService:  link{updatePath},
		EventService:   link{eventsPath},
		Registries:     link{registryPath},
		Links:          rootLinks{Sessions: link{sessionsPath}},
	}
	root.ID = "RootService"
	return ok(root)
}

// chassisUUID is the enclosure's own, not its machine's.
func (s *Server) chassisUUID() string {
	return uuid.NewSHA1(uuid.NameSpaceOID, []byte("chassis "+s.machine.Spec().UUID)).String()
}

// controllerUUID is the controller's own, not its machine's.
func (s *Server) controllerUUID() string {
	return uuid.NewSHA1(uuid.NameSpaceOID, []byte("bmc "+s.machine.Spec().UUID)).String()
}
