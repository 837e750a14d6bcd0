// Package interop takes a node through its life with an agent like ironic-python-agent, behind the lab's Redfish
// service. The agent answers as recorded from the original (proto/agentapi/testdata), and refuses all that its protocol
// does not know. The package has tests alone.
package interop
