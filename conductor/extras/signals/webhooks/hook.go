package webhooks

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strings"

	"sigs.k8s.io/yaml"

	"github.com/ferrite-metal/ferrite/conductor/server/reload"
	"github.com/ferrite-metal/ferrite/proto/onedocument"
)

// Hook is one receiver.
type Hook struct {
	Name       string   `json:"name"`                  // its place is kept under this name
	URL        string   `json:"url"`                   // http or https
	Format     string   `json:"format,omitempty"`      // cloudevents (the default) or ironic
	Types      []string `json:"types,omitempty"`       // "node" stands for all that begin with "node."; empty for all
	SecretFile string   `json:"secret_file,omitempty"` // signs requests; without it they are not signed
	From       string   `json:"from,omitempty"`        // oldest or now (the default): where a new receiver begins

	secret []byte
}

// maxHooks bounds the receivers of one file.
const maxHooks = 50

var hookName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$`)

// Read reads a file of receivers: a list in YAML.
func Read(path string) ([]Hook, error) {
	raw, err := reload.Read(path)
	if err == nil {
		err = onedocument.Check(raw)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	var hooks []Hook
	if err := yaml.UnmarshalStrict(raw, &hooks); err != nil {
		return nil, fmt.Errorf("%s: expected a list of receivers with name and url: %w", path, err)
	}
	if len(hooks) > maxHooks {
		return nil, fmt.Errorf("%s: %d receivers, of which there may be %d", path, len(hooks), maxHooks)
	}
	names := map[string]bool{}
	for i := range hooks {
		h := &hooks[i]
		if err := h.check(); err != nil {
			return nil, fmt.Errorf("%s: receiver %q: %w", path, h.Name, err)
		}
		if names[h.Name] {
			return nil, fmt.Errorf("%s: two receivers are named %q", path, h.Name)
		}
		names[h.Name] = true
	}
	return hooks, nil
}

func (h *Hook) check() error {
	if !hookName.MatchString(h.Name) {
		return errors.New("name: expected letters, digits, dot, underscore and dash, 64 at most")
	}
	u, err := url.Parse(h.URL)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return errors.New("url: expected http://host/path or https://host/path")
	}
	if h.Format == "" {
		h.Format = cloudEvents
	}
	if formats[h.Format] == nil {
		return fmt.Errorf("format %q: expected cloudevents or ironic", h.Format)
	}
	if h.From != "" && h.From != "now" && h.From != "oldest" {
		return fmt.Errorf("from %q: expected now or oldest", h.From)
	}
	if h.SecretFile == "" {
		return nil
	}
	secret, err := reload.Read(h.SecretFile)
	if err != nil {
		return fmt.Errorf("secret_file: %w", err)
	}
	h.secret, err = readSecret(secret)
	return err
}

// minSecret is the least number of bytes of a secret.
const minSecret = 16

// readSecret reads a secret as Standard Webhooks writes it (whsec_ and base64), or as it is.
func readSecret(raw []byte) ([]byte, error) {
	raw = bytes.TrimSpace(raw)
	if text, is := strings.CutPrefix(string(raw), "whsec_"); is {
		var err error
		if raw, err = base64.StdEncoding.DecodeString(text); err != nil {
			return nil, errors.New("secret_file: expected base64 after whsec_")
		}
	}
	if len(raw) < minSecret {
		return nil, fmt.Errorf("secret_file: expected %d bytes or more, found %d", minSecret, len(raw))
	}
	return raw, nil
}

// wants reports whether a receiver asked for a type of event.
func (h *Hook) wants(kind string) bool {
	if len(h.Types) == 0 {
		return true
	}
	for _, t := range h.Types {
		if kind == t || strings.HasPrefix(kind, t+".") {
			return true
		}
	}
	return false
}

// stay refuses to follow a redirect: events and their signature are for the receiver that was named.
func stay(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
