package sharing

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"github.com/ferrite-metal/ferrite/conductor/cluster"
	"github.com/ferrite-metal/ferrite/conductor/seal/keys"
)

// The certificate of the API belongs to the cluster: agents identify every leader by it. Each conductor has a copy in
// its data folder, which the server reads again after a change.
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
	By   string `json:"by,omitempty"` // the conductor that has given it
}

// Certificate keeps this conductor's copy of the certificate current, and shares a newer one of its files.
type Certificate struct {
	Host      string // this conductor
	Dir       string // the data folder
	Cert, Key string // files of the operator; "" for none
	Shared    *cluster.Shared
	Log       *slog.Logger
	number    int64  // of the copy in the data folder
	unused    string // why the certificate of the files is not the cluster's, as it was logged last
}

// keep compares the certificate of the files with the cluster's, and shares the better one. It reports whether the
// cluster has one.
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
	if better, err := s.better(own, stored, time.Now()); err != nil {
		return false, err
	} else if better {
		own.By = s.Host
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
		if leaf, err := stored.leaf(); err == nil {
			s.Log.Info("the cluster's certificate", "from", leaf.NotBefore, "until", leaf.NotAfter, "host", stored.By)
		}
	}
	return true, nil
}

// better reports whether a certificate of files replaces the cluster's. It does if it is valid now, and the cluster's
// is invalid or begins earlier. A reason against it is logged once.
func (s *Certificate) better(own, stored pair, now time.Time) (bool, error) {
	if len(own.Cert) == 0 || bytes.Equal(own.Cert, stored.Cert) {
		return false, nil
	}
	mine, err := own.leaf()
	if err != nil {
		return false, fmt.Errorf("TLS certificate and key: %w", err)
	}
	if len(stored.Cert) == 0 {
		return true, nil
	}
	theirs, err := stored.leaf()
	if err != nil {
		return false, fmt.Errorf("the cluster's certificate: %w", err)
	}
	valid := func(c *x509.Certificate) bool { return !now.Before(c.NotBefore) && !now.After(c.NotAfter) }
	why := ""
	switch {
	case !valid(mine):
		why = "it is not valid now"
	case valid(theirs) && !mine.NotBefore.After(theirs.NotBefore):
		why = "the cluster's is as new"
	}
	if said := why + mine.SerialNumber.String(); why != "" && said != s.unused {
		s.unused = said
		s.Log.Warn("the certificate of the file is not used: the cluster keeps its own", "file", s.Cert, "why", why,
			"from", mine.NotBefore, "until", mine.NotAfter)
	}
	return why == "", nil
}

// leaf is the pair's own certificate, without the chain.
func (p pair) leaf() (*x509.Certificate, error) {
	c, err := tls.X509KeyPair(p.Cert, p.Key)
	return c.Leaf, err
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
func (s *Certificate) Renew(ctx context.Context) {
	tick := time.NewTicker(certificateEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		if _, err := s.keep(ctx); err != nil && ctx.Err() == nil {
			s.Log.Warn("the cluster's certificate was not checked; tried again", "after", certificateEvery, "err", err)
		}
	}
}
