package sharing

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"github.com/ferrite-metal/ferrite/conductor/cluster"
	"github.com/ferrite-metal/ferrite/conductor/keys"
)

// The certificate of the API belongs to the cluster: agents know the conductor by it, whoever leads. Each conductor
// has it in its data folder, where the server reads it again when it has changed.
const (
	certificateName  = "api certificate"
	certificateFile  = "cluster-tls.crt"
	certificateKey   = "cluster-tls.key"
	certificateEvery = time.Minute
)

// pair is a certificate with its private key, in PEM.
type pair struct {
	Cert []byte `json:"cert"`
	Key  []byte `json:"key"`
}

// begins is when a certificate begins to be valid, and whether it is at a time.
func (p pair) begins(now time.Time) (begin time.Time, valid bool, err error) {
	c, err := tls.X509KeyPair(p.Cert, p.Key)
	if err != nil {
		return begin, false, err
	}
	return c.Leaf.NotBefore, !now.Before(c.Leaf.NotBefore) && !now.After(c.Leaf.NotAfter), nil
}

// Certificate keeps this conductor's copy of the certificate current, and shares a newer one of its files.
type Certificate struct {
	Dir       string // the data folder
	Cert, Key string // files of the operator; "" for none
	Shared    *cluster.Shared
	number    int64 // of the copy in the data folder
}

// keep compares the certificate of the files with that of the cluster. Of those that are valid the one that
// begins later is everybody's. It reports whether there is one.
func (s *Certificate) keep(ctx context.Context) (bool, error) {
	var stored, own pair
	text, number, err := s.Shared.Get(ctx, certificateName)
	if err == nil && number > 0 {
		err = json.Unmarshal(text, &stored)
	}
	if err == nil && s.Cert != "" {
		own, err = readPair(s.Cert, s.Key)
	}
	if err != nil {
		return false, err
	}
	if newer, err := own.newerThan(stored, time.Now()); err != nil {
		return false, err
	} else if newer {
		if text, err = json.Marshal(own); err != nil {
			return false, err
		}
		if ok, err := s.Shared.Put(ctx, certificateName, number+1, text); err != nil || !ok {
			return ok, errors.Join(err, ctx.Err())
		}
		stored, number = own, number+1
	}
	if number == 0 {
		return false, nil
	}
	if number != s.number {
		if err := stored.write(s.Dir); err != nil {
			return false, err
		}
		s.number = number
	}
	return true, nil
}

// newerThan reports whether a certificate takes the place of another one: it is valid now, and begins later or the other
// one is not valid. A first one is taken as it is.
func (p pair) newerThan(stored pair, now time.Time) (bool, error) {
	if len(p.Cert) == 0 || bytes.Equal(p.Cert, stored.Cert) {
		return false, nil
	}
	own, valid, err := p.begins(now)
	if err != nil {
		return false, fmt.Errorf("TLS certificate and key: %w", err)
	}
	if len(stored.Cert) == 0 {
		return true, nil
	}
	theirs, still, err := stored.begins(now)
	if err != nil {
		return false, fmt.Errorf("the cluster's certificate: %w", err)
	}
	return valid && (!still || own.After(theirs)), nil
}

func readPair(cert, key string) (p pair, err error) {
	if p.Cert, err = os.ReadFile(cert); err != nil { //nolint:gosec // the operator's own
		return p, fmt.Errorf("TLS certificate and key: %w", err)
	}
	if p.Key, err = os.ReadFile(key); err != nil { //nolint:gosec // the operator's own
		return p, fmt.Errorf("TLS certificate and key: %w", err)
	}
	return p, nil
}

func (p pair) write(dir string) error {
	err := errors.Join(keys.WriteFile(filepath.Join(dir, certificateKey), p.Key),
		keys.WriteFile(filepath.Join(dir, certificateFile), p.Cert))
	if err != nil {
		return fmt.Errorf("--data-dir %s: %w", dir, err)
	}
	return nil
}

// Open makes the files of the cluster's certificate, and names them; "" where there is none.
func (s *Certificate) Open(ctx context.Context) (cert, key string, err error) {
	for range 2 { // another conductor may be faster once
		found, err := s.keep(ctx)
		if err != nil {
			return "", "", err
		}
		if found {
			return filepath.Join(s.Dir, certificateFile), filepath.Join(s.Dir, certificateKey), nil
		}
	}
	return "", "", nil
}

// Renew looks for a newer certificate, of the files or of the cluster, until ctx ends.
func (s *Certificate) Renew(ctx context.Context, log *slog.Logger) {
	tick := time.NewTicker(certificateEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		before := s.number
		if _, err := s.keep(ctx); err != nil && ctx.Err() == nil {
			log.Warn("the cluster's certificate was not looked at; tried again", "after", certificateEvery, "err", err)
		} else if s.number != before {
			log.Info("the cluster's certificate is another one now")
		}
	}
}
