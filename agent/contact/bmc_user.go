package contact

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"strings"

	"github.com/ferrite-metal/ferrite/agent/sys"
	"github.com/ferrite-metal/ferrite/proto/agentapi"
)

// CheckBMCUser refuses to send a password to any URL of inspection data, unless over TLS to a conductor with a checked
// certificate.
func (c *Conductor) CheckBMCUser(inspectionURLs []string) error {
	if c.insecure {
		return errors.New("the conductor's certificate is not checked (ipa-insecure), so no password is sent to it")
	}
	for _, full := range inspectionURLs {
		u, err := url.Parse(full)
		if err != nil || u.Scheme != "https" {
			return errors.New("the conductor is not called by https, so no password is sent to it: give it --tls-cert")
		}
	}
	return nil
}

// HandInBMCUser hands a user of the BMC, or the reason why there is none, to the conductor that took the inspection
// data. A refusal (4xx but 409) is final; anything else is tried again, as with inspection data.
func (c *Conductor) HandInBMCUser(
	ctx context.Context, inspectionURLs []string, nodeUUID string, u agentapi.BMCUser, log *slog.Logger,
) error {
	payload, err := json.Marshal(u)
	if err != nil {
		return errors.New("BMC user: not to be encoded") // the error might quote it
	}
	pause := inspectionFirstPause
	for attempt := 1; ; attempt++ {
		var last error
		for _, full := range inspectionURLs {
			target, err := bmcUserURL(full, nodeUUID)
			if err == nil {
				err = c.send(ctx, http.MethodPost, target, http.Header{}, payload, nil)
			}
			if err == nil {
				return nil
			}
			if s := Status(err); s/100 == 4 && s != http.StatusConflict {
				return err
			}
			last = err
		}
		if attempt == inspectionAttempts {
			return fmt.Errorf("BMC user not taken in %d attempts: %w", attempt, last)
		}
		log.Warn("BMC user not taken", "err", last, "again_in", pause)
		if !sys.Sleep(ctx, pause) {
			return ctx.Err()
		}
		pause = min(2*pause, inspectionLastPause)
	}
}

// bmcUserURL is where a conductor takes BMC users, by where it takes inspection data.
func bmcUserURL(inspection, nodeUUID string) (string, error) {
	u, err := url.Parse(inspection)
	if err != nil {
		return "", errors.New("the URL for inspection data is none")
	}
	base, ok := strings.CutSuffix(strings.TrimSuffix(u.Path, "/"), agentapi.ContinueInspectionPath)
	if !ok {
		return "", fmt.Errorf("the URL for inspection data has the path %q, expected %s at its end: no place for a BMC user",
			u.Path, agentapi.ContinueInspectionPath)
	}
	u.Path, u.RawPath, u.RawQuery = base+agentapi.AgentsPath+url.PathEscape(nodeUUID)+agentapi.BMCUserSuffix, "", ""
	return u.String(), nil
}
