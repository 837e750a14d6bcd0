package jobs

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/conductor/plan"
)

// An effect that acts and then reads acts once. As soon as the peer has accepted an action, the effect's row says so;
// from then on only reading is repeated, by this conductor or the next. Reading has an end of its own: a BMC that
// restarts the machine may have no power state for minutes (dsx-ai-factory/infra-controller#5418).

// once asks for an action that no attempt of this effect has had accepted.
func (j *job) once(ctx context.Context, action string, act func(context.Context) error) error {
	if j.accepted(action) {
		return nil
	}
	if err := j.callBMC(ctx, act); err != nil {
		return err
	}
	return j.accept(ctx, action)
}

// callBMC does one call to the BMC, within the time one may take.
func (j *job) callBMC(ctx context.Context, call func(context.Context) error) error {
	within := j.Patience(j.n).Call
	if !j.until.IsZero() {
		within = min(within, max(j.until.Sub(j.Now()), time.Millisecond))
	}
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	return call(ctx)
}

func (j *job) accepted(action string) bool { return !j.effect.Accepted[action].IsZero() }

// accept keeps that an action was accepted, before anything else is done: not even the end of this conductor comes
// between. A store that fails is tried until it does not.
func (j *job) accept(ctx context.Context, action string) error {
	j.effect.Accepted[action], j.effect.Error = j.Now().UTC(), ""
	for {
		short, cancel := context.WithTimeout(context.WithoutCancel(ctx), 2*time.Second)
		err := j.Store.Note(short, j.effect)
		cancel()
		switch {
		case err == nil || errors.Is(err, node.ErrFenced):
			return err
		case ctx.Err() != nil:
			return ctx.Err()
		}
		j.Log.Warn("it cannot be kept that an action was accepted; tried again in a second", "node", j.n.UUID, "effect",
			j.effect.Name, "action", action, "err", err)
		if err := pauseFor(ctx, time.Second); err != nil {
			return err
		}
	}
}

// since is when an action was accepted, or when this conductor started where that is later: an action that no conductor
// has watched has its full time again.
func (j *job) since(action string) time.Time {
	at := j.effect.Accepted[action]
	if j.Started.After(at) {
		return j.Started
	}
	return at
}

// noteEvery bounds how often the row of an effect is written for its readings.
const noteEvery = 5 * time.Second

// pollUntil reads until it is as wanted, or end has come: once at least, ever less often the longer it may take. Where
// the last reading failed, it returns that error; no failure of a reading ends it sooner.
func (j *job) pollUntil(ctx context.Context, end time.Time, is func(context.Context) (bool, error)) (bool, error) {
	most, said := max(powerPollMost, end.Sub(j.Now())/powerPollPart), time.Time{}
	for wait := powerPollFirst; ; wait = min(2*wait, most) {
		there, err := j.look(ctx, is)
		switch {
		case ctx.Err() != nil:
			return false, ctx.Err()
		case there && err == nil:
			return true, nil
		case !j.Now().Before(end):
			return false, err
		case err != nil && j.Now().Sub(said).Abs() >= noteEvery:
			said = j.Now()
			if err := j.noteFailure(ctx, err); err != nil {
				return false, err
			}
		}
		if err := pauseFor(ctx, min(wait, max(end.Sub(j.Now()), time.Millisecond))); err != nil {
			return false, err
		}
	}
}

// noteFailure writes a failure that an effect meets on its way into the node's status. It returns an error only if the
// effect now belongs to another conductor.
func (j *job) noteFailure(ctx context.Context, failure error) error {
	if j.effect.Error == plan.Clip(failure.Error()) {
		return nil
	}
	j.effect.Error = plan.Clip(failure.Error())
	if err := j.Store.Note(ctx, j.effect); errors.Is(err, node.ErrFenced) {
		return err
	} else if err != nil {
		j.Log.Warn("the status does not say why an effect waits", "node", j.n.UUID, "effect", j.effect.Name, "err", err)
	}
	return nil
}

// look makes one reading, within the time limit of one.
func (j *job) look(ctx context.Context, is func(context.Context) (bool, error)) (there bool, err error) {
	err = j.callBMC(ctx, func(ctx context.Context) error {
		there, err = is(ctx)
		return err
	})
	return there && err == nil, err
}

// noState is a reading that names no state of the machine: it is asked for again.
type noState struct {
	said    string
	becomes node.PowerState // where it says that the machine is on its way to
}

func (e *noState) Error() string {
	if e.said == "" {
		return "the BMC reports no power state, expected on or off"
	}
	return fmt.Sprintf("the BMC reports the power state %.40q, expected on or off", e.said)
}

// powerIs is a reading of the power state.
func (j *job) powerIs(want node.PowerState) func(context.Context) (bool, error) {
	return func(ctx context.Context) (bool, error) {
		is, err := j.Vitals.ReadVitals(ctx, j.bmc, j.n)
		switch {
		case err != nil:
			return false, fmt.Errorf("read the power state: %w", err)
		case is.Power == "":
			return false, &noState{is.Said, is.Becomes}
		}
		return is.Power == want, nil
	}
}

// lateError ends a request at its limit. It is not tried again, and its cause still shows whether a BMC was silent.
type lateError struct {
	text  string
	cause error
}

func (e *lateError) Error() string   { return e.text }
func (e *lateError) Unwrap() error   { return e.cause }
func (e *lateError) Permanent() bool { return true }
