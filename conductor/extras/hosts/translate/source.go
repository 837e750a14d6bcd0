package translate

import "github.com/ferrite-metal/ferrite/proto/hostapi"

// Source is a host's document, and the existing secrets that it names.
type Source struct {
	Host    hostapi.Host
	Secrets map[string]hostapi.Secret // by name
}
