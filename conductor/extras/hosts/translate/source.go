package translate

import "github.com/ferrite-metal/ferrite/proto/hostapi"

// Source is a host's document, and those of the secrets it names that exist.
type Source struct {
	Host    hostapi.Host
	Secrets map[string]hostapi.Secret // by name
}
