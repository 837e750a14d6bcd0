package kube

import (
	"fmt"
	"net/http"
	"slices"

	"github.com/ferrite-metal/ferrite/conductor/api/auth"
	"github.com/ferrite-metal/ferrite/proto/hostapi"
)

// access has the least system roles that may read and write a kind. Hosts belong to no project, and projects see none
// of them.
type access struct {
	kind        string
	read, write auth.Role
}

// policy is all rows. Readers see all but secrets. Roles that write hosts read secrets: a
// host's BMC address and disableCertificateVerification can therefore be changed without
// naming the secret again, as in Metal3. A role that writes hosts and reads no secrets would
// learn passwords that way.
func policy() []access {
	return []access{
		{hostapi.KindHost, auth.Reader, auth.Operator},
		{hostapi.KindHardwareData, auth.Reader, auth.Operator},
		{hostapi.KindDataImage, auth.Reader, auth.Operator},
		{hostapi.KindFirmwareSettings, auth.Reader, auth.Operator},
		{hostapi.KindFirmwareSchema, auth.Reader, auth.Operator},
		{hostapi.KindFirmwareComponents, auth.Reader, auth.Operator},
		{hostapi.KindUpdatePolicy, auth.Reader, auth.Operator},
		{hostapi.KindClaim, auth.Reader, auth.Operator},
		{hostapi.KindDeployPolicy, auth.Reader, auth.Operator},
		{hostapi.KindSubscription, auth.Reader, auth.Operator},
		{hostapi.KindPreprovisioningImage, auth.Reader, auth.Operator},
		{hostapi.KindNetworkAttachment, auth.Reader, auth.Operator},
		{hostapi.KindSwitch, auth.Reader, auth.Operator},
		{hostapi.KindNamespace, auth.Reader, auth.Operator},
		{hostapi.KindSecret, auth.Operator, auth.Operator},
		{hostapi.KindEvent, auth.Reader, auth.Operator},
	}
}

// permit refuses callers without the role, in Kubernetes' words.
func permit(c *call, verb string) error {
	if c.caller == nil {
		return nil
	}
	rule := auth.Rule{System: auth.Admin}
	for _, row := range policy() {
		if row.kind != c.kind.Kind {
			continue
		}
		rule.System = row.write
		if slices.Contains([]string{"get", "list", "watch"}, verb) {
			rule.System = row.read
		}
	}
	if rule.Allows(c.caller, "", "") {
		return nil
	}
	where := " at the cluster scope"
	if c.namespace != "" {
		where = fmt.Sprintf(" in the namespace %q", c.namespace)
	}
	return failed(http.StatusForbidden, forbidden, "%s is forbidden: User %q cannot %s resource %q in API group %q%s",
		c.subject(), c.caller.User, verb, c.kind.Plural, c.kind.Group, where).of(c)
}

// subject names the document or kind that an error concerns: baremetalhosts.metal3.io "node-0".
func (c *call) subject() string {
	if c.name == "" {
		return c.resource()
	}
	return fmt.Sprintf("%s %q", c.resource(), c.name)
}
