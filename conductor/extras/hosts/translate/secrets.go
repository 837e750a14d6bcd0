package translate

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/ferrite-metal/ferrite/conductor/extras/hosts/yamljson"
	"github.com/ferrite-metal/ferrite/proto/hostapi"
)

// SecretNames lists the secrets of its own namespace that a host names. No other is ever read.
func SecretNames(h hostapi.Host) []string {
	names := []string{h.Spec.BMC.CredentialsName, h.Spec.PreprovisioningNetworkDataName}
	for _, ref := range []*hostapi.SecretReference{h.Spec.UserData, h.Spec.NetworkData, h.Spec.MetaData} {
		if ref != nil && !ref.Foreign(h.Namespace) {
			names = append(names, ref.Name)
		}
	}
	if h.Spec.Image != nil && h.Spec.Image.OCIAuthSecret != nil {
		names = append(names, *h.Spec.Image.OCIAuthSecret)
	}
	slices.Sort(names)
	return slices.DeleteFunc(slices.Compact(names), func(n string) bool { return n == "" })
}

// Login is the user name and password for a BMC.
type Login struct{ user, password string }

// Credentials reads the secret of the host's BMC. Surrounding spaces are cut off, since `echo secret | base64` leaves
// them.
func (s Source) Credentials() (l Login, err error) {
	bmc := s.Host.Spec.BMC
	if bmc.Address == "" {
		return l,
			fmt.Errorf("spec.bmc.address is missing: say how the BMC is reached, such as " +
				"redfish://10.0.0.1/redfish/v1/Systems/1")
	}
	if bmc.CredentialsName == "" {
		return l, fmt.Errorf("spec.bmc.credentialsName is missing: name a secret with username and password")
	}
	secret, ok := s.Secrets[bmc.CredentialsName]
	if !ok {
		return l,
			fmt.Errorf("the secret %s/%s of spec.bmc.credentialsName does not exist: create it with username and password",
				s.Host.Namespace, bmc.CredentialsName)
	}
	for key, to := range map[string]*string{"username": &l.user, "password": &l.password} {
		if *to = strings.TrimSpace(string(secret.Data[key])); *to == "" {
			return l, fmt.Errorf("the secret %s/%s of spec.bmc.credentialsName has no %s", s.Host.Namespace,
				bmc.CredentialsName, key)
		}
	}
	return l, nil
}

// text reads a secret's value under a key or, as Metal3 does, under "value"; "" for no reference. With lax, a secret
// without either is empty, not wrong.
func (s Source) text(field string, ref *hostapi.SecretReference, key string, lax bool) (string, error) {
	if ref == nil || ref.Name == "" {
		return "", nil
	}
	if ref.Foreign(s.Host.Namespace) {
		return "", fmt.Errorf("%s names a secret of namespace %s: only secrets of the host's own, %s, may be used", field,
			ref.Namespace, s.Host.Namespace)
	}
	secret, ok := s.Secrets[ref.Name]
	if !ok {
		return "", fmt.Errorf("the secret %s/%s of %s does not exist", s.Host.Namespace, ref.Name, field)
	}
	for _, k := range []string{key, "value"} {
		if v, ok := secret.Data[k]; ok {
			return string(v), nil
		}
	}
	if lax {
		return "", nil
	}
	return "", fmt.Errorf("the secret %s/%s of %s has neither %s nor value", s.Host.Namespace, ref.Name, field, key)
}

// maxObject bounds a secret's text in YAML, with its aliases written out, in bytes.
const maxObject = 1 << 20

// object reads text that is an object in YAML or JSON; nil for empty text. Errors
// give the line alone, since a parser's message quotes the secret.
func object(field, text string) (map[string]any, error) {
	if strings.TrimSpace(text) == "" {
		return nil, nil
	}
	var out map[string]any
	plain, err := yamljson.From([]byte(text), maxObject)
	if err == nil {
		err = json.Unmarshal(plain, &out)
	}
	if err != nil {
		line, where := 0, ""
		if n, _ := fmt.Sscanf(err.Error(), "yaml: line %d:", &line); n == 1 {
			where = fmt.Sprintf(": see line %d", line)
		}
		return nil, fmt.Errorf("the value that %s names is no object in YAML or JSON%s", field, where)
	}
	return out, nil
}

// PullSecret is the login for a container registry: base64 of user:password. It comes from a secret of Kubernetes's own
// type for it (.dockerconfigjson), or from a secret with username and password. It is "" for a registry that needs no
// login. tokens are the other hosts that have the same login in the .dockerconfigjson, separated by commas: the
// registry's token service may be on one of them.
func (s Source) PullSecret(registry string) (login, tokens string, err error) {
	if registry == "" || s.Host.Spec.Image.OCIAuthSecret == nil || *s.Host.Spec.Image.OCIAuthSecret == "" {
		return "", "", nil
	}
	name := s.Host.Spec.Image.OCIAuthSecret
	secret, ok := s.Secrets[*name]
	if !ok {
		return "", "", fmt.Errorf("the secret %s/%s of spec.image.ociAuthSecretName does not exist", s.Host.Namespace, *name)
	}
	if user, password := secret.Data["username"], secret.Data["password"]; len(user) > 0 && len(password) > 0 {
		return basicLogin(string(user), string(password)), "", nil
	}
	var config struct {
		Auths map[string]registryLogin `json:"auths"`
	}
	if err := json.Unmarshal(secret.Data[".dockerconfigjson"], &config); err != nil {
		return "", "", fmt.Errorf("the secret %s/%s of spec.image.ociAuthSecretName has neither username and password nor "+
			"a readable .dockerconfigjson",
			s.Host.Namespace, *name)
	}
	auth, ok := config.Auths[registry]
	if !ok {
		return "", "", fmt.Errorf("the secret %s/%s of spec.image.ociAuthSecretName knows nothing of the registry %s",
			s.Host.Namespace, *name, registry)
	}
	var hosts []string
	for host, other := range config.Auths {
		if host != registry && other.text() == auth.text() {
			hosts = append(hosts, host)
		}
	}
	slices.Sort(hosts)
	return auth.text(), strings.Join(hosts, ","), nil
}

// registryLogin is an entry of a .dockerconfigjson.
type registryLogin struct{ Auth, Username, Password string }

func (l registryLogin) text() string {
	if l.Auth != "" {
		return l.Auth
	}
	return basicLogin(l.Username, l.Password)
}

func basicLogin(user, password string) string {
	return base64.StdEncoding.EncodeToString([]byte(user + ":" + password))
}
