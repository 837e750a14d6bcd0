package serve

import (
	"errors"
	"strconv"
	"strings"
	"time"
)

// duration is a time as of a flag, which may begin with days: 7d12h. time.ParseDuration knows none.
type duration time.Duration

func (d *duration) String() string { return time.Duration(*d).String() }
func (d *duration) Type() string   { return "duration" }

// Set refuses times of more than 292 years, which a time.Duration cannot hold.
func (d *duration) Set(text string) error {
	days, rest, found := strings.Cut(text, "d")
	if !found {
		v, err := time.ParseDuration(text)
		*d = duration(v)
		return err
	}
	n, err := strconv.ParseUint(days, 10, 32)
	if err == nil {
		var v time.Duration
		v, err = time.ParseDuration(strconv.FormatUint(24*n, 10) + "h" + rest)
		*d = duration(v)
	}
	if err != nil {
		return errors.New("expected a time such as 7d, 7d12h, 30m or 90s")
	}
	return nil
}
