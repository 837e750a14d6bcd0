package host

import "github.com/ferrite-metal/ferrite/proto/hostapi"

// source is a host's document, and those of the secrets it names that exist.
type source struct {
	Host    hostapi.Host
	Secrets map[string]hostapi.Secret // by name
}
