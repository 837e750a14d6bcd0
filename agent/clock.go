package agent

import (
	"context"
	"time"
)

// timePatience is how long a conductor may take to answer the first request.
const timePatience = 10 * time.Second

// askTime asks a pinned conductor anything, for the date of its answer: inspection data
// and certificates of other servers need the right time. Later answers have it too, so
// that a conductor that does not answer now is no error.
func (a *Agent) askTime(ctx context.Context) {
	if a.Clock == nil || len(a.Params.APIURLs) == 0 || len(a.Params.APIPins) == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, timePatience)
	defer cancel()
	if _, err := a.conductor.Version(ctx); err != nil {
		a.Log.Info("the conductor does not say the time yet", "err", err)
	}
}
