package hostapi

// Secret is core/v1's: credentials, user data, network data. Its data is kept encrypted, and
// shown only to callers that may read secrets.
type Secret struct {
	TypeMeta
	ObjectMeta `json:"metadata" doc:"Metadata that all documents share."`

	Type       string            `json:"type,omitempty" doc:"The purpose of the secret; Opaque when left out. It never changes."`
	Data       map[string][]byte `json:"data,omitempty" rule:"form=keys" doc:"The secret's values in base64, by key. Kept encrypted."`
	StringData map[string]string `json:"stringData,omitempty" rule:"form=keys" doc:"Values in clear, taken into data and never shown."`
	Immutable  *bool             `json:"immutable,omitempty" doc:"Whether data can no longer be changed."`
}

// SecretOpaque is the type of secrets that have no other.
const SecretOpaque = "Opaque"

// SetDefaults takes stringData, which is only ever written, into data.
func (s *Secret) SetDefaults() {
	if s.Type == "" {
		s.Type = SecretOpaque
	}
	for k, v := range s.StringData {
		if s.Data == nil {
			s.Data = map[string][]byte{}
		}
		s.Data[k] = []byte(v)
	}
	s.StringData = nil
}
