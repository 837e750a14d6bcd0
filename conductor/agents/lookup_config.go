package agents

import (
	"github.com/ferrite-metal/ferrite/proto/agentapi"
)

// lookupReply is agentapi.LookupReply with more fields, which only ironic-python-agent reads.
type lookupReply struct {
	Node   agentapi.LookupNode `json:"node"`
	Config lookupConfig        `json:"config"`
}

// lookupConfig has the keys of Ironic 2026.2 (ironic/api/controllers/v1/ramdisk.py).
type lookupConfig struct {
	agentapi.LookupConfig
	AgentToken    *string    `json:"agent_token"` // null when the client is too old for it
	Metrics       metrics    `json:"metrics"`
	MetricsStatsd statsd     `json:"metrics_statsd"`
	Containers    Containers `json:"agent_containers"`
	TLSMinVersion string     `json:"tls_min_version"`
	TLSCiphers    *string    `json:"tls_cipher_suites"` // null for the agent's own
}

// metrics switches the agent's metrics off. The keys must be there.
type metrics struct {
	Backend            string  `json:"backend"`
	PrependHost        bool    `json:"prepend_host"`
	PrependUUID        bool    `json:"prepend_uuid"`
	PrependHostReverse bool    `json:"prepend_host_reverse"`
	GlobalPrefix       *string `json:"global_prefix"`
}

type statsd struct {
	Host string `json:"statsd_host"`
	Port int    `json:"statsd_port"`
}

// Containers are the rules for containers that steps of ironic-python-agent run in the ramdisk. Ferrite's agent runs
// none.
type Containers struct {
	AllowArbitrary bool     `json:"allow_arbitrary_containers"` // any image that a step names
	Allowed        []string `json:"allowed_containers"`         // images that a step may name otherwise
	StepsFile      string   `json:"container_steps_file"`       // in the ramdisk, with steps of its own
	Runner         string   `json:"runner"`                     // podman or docker
	PullOptions    []string `json:"pull_options"`
	RunOptions     []string `json:"run_options"`
}

// config is the configuration of an agent of the node with that name. token is nil when the client is too old for it.
func (s *Server) config(name string, token *string) lookupConfig {
	c := lookupConfig{
		LookupConfig: agentapi.LookupConfig{
			HeartbeatTimeout:      int(s.heartbeat.Seconds()),
			AgentTokenRequired:    true,
			PermittedImageFormats: s.imageFormats,
			AgentSkipBMCDetect:    false,

			EnableBIOSBootloaderInstall: s.biosBootloader,

			FerriteProgress: true,
			FerriteLog:      s.logs != nil,
			FerriteName:     name,
		},
		AgentToken:    token,
		Metrics:       metrics{Backend: "noop", PrependHostReverse: true},
		MetricsStatsd: statsd{Host: "localhost", Port: 8125},
		Containers:    s.containers,
		TLSMinVersion: s.tls.MinimumWord(),
	}
	if list := s.tls.OpenSSLList(); list != "" { // Python's ssl knows no other names
		c.TLSCiphers = &list
	}
	for _, list := range []*[]string{&c.Containers.Allowed, &c.Containers.PullOptions, &c.Containers.RunOptions} {
		if *list == nil {
			*list = []string{} // never null: the agent iterates over it
		}
	}
	return c
}
