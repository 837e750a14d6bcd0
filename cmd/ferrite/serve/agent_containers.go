package serve

import (
	"path/filepath"
	"strings"
)

// containerFlags are Ironic's [agent_containers].
func (c *Config) containerFlags(s *settings) {
	isImage := func(image string) bool { return image != "" && !strings.ContainsAny(image, " \t\n") }
	isOption := func(o string) bool { return strings.HasPrefix(o, "-") }
	const sayOptions = ": expected options that begin with -, as --rm,--network=host"
	s.eachVar(&c.Containers.Allowed, "agent-containers-allowed", nil,
		"`images` of containers that steps may name, for ironic-python-agent; Ferrite's own agent runs no containers",
		isImage, ": expected images as REGISTRY/NAME:TAG")
	s.BoolVar(&c.Containers.AllowArbitrary, "agent-containers-allow-arbitrary", false,
		"let steps of ironic-python-agent run any container that they name")
	s.wordVar(func(w string) { c.Containers.Runner = w }, "agent-containers-runner", "podman",
		"program that runs containers in the ramdisk of ironic-python-agent: podman or docker", "podman", "docker")
	s.textVar(&c.Containers.StepsFile, "agent-containers-steps-file", "/etc/ironic-python-agent.d/mysteps.yaml",
		"`file` in the ramdisk of ironic-python-agent with steps that run containers", bound[string]{filepath.IsAbs,
			": expected an absolute path"})
	s.eachVar(&c.Containers.PullOptions, "agent-containers-pull-options", nil,
		"`options` of the pull of a container's image by ironic-python-agent", isOption, sayOptions)
	s.eachVar(&c.Containers.RunOptions, "agent-containers-run-options", []string{"--rm", "--network=host"},
		"`options` of the start of a container by ironic-python-agent", isOption, sayOptions)
}
