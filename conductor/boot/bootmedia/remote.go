package bootmedia

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/ferrite-metal/ferrite/images/iso"
)

// Bounds of files at URLs.
const (
	remoteBlock   = 1 << 20          // bytes that are read at a time
	remoteBlocks  = 64               // blocks that are kept of all files together: readers may be as many as machines
	remoteFiles   = 16               // files of which the size is kept
	remoteFresh   = 5 * time.Minute  // how long a file's size holds
	remoteFailed  = 5 * time.Second  // how long a failure does
	remoteTimeout = 30 * time.Second // for one request
)

// remotes reads kernels and ramdisks at http(s) URLs, in blocks as they are needed. Nothing is stored
// on disk.
type remotes struct {
	client *http.Client
	mutex  sync.Mutex
	files  map[string]*lookup
	asked  []string // URLs of files, the latest last
	blocks []block  // the latest first
}

// lookup is how a file at a URL was found. One at a time looks: a server that does not answer keeps no other file back.
type lookup struct {
	turn  chan struct{} // holds one token
	file  *remote       // nil: not yet
	asked time.Time
	err   error // of the last look, at asked
}

// remote is a file at a URL.
type remote struct {
	of   *remotes
	url  string
	size int64

	fetching sync.Mutex
	failed   time.Time // when the last fetch did, with err
	err      error
}

type block struct {
	file *remote
	off  int64
	data []byte
}

// content finds a file and its size.
func (r *remotes) content(ctx context.Context, url string) (iso.Content, error) {
	l := r.lookup(url)
	select {
	case <-l.turn:
		defer func() { l.turn <- struct{}{} }()
	case <-ctx.Done():
		return iso.Content{}, context.Cause(ctx)
	}
	if l.err != nil && time.Since(l.asked) < remoteFailed { // a waiter of that look starts no other
		return iso.Content{}, l.err
	}
	if l.file == nil || l.err != nil || time.Since(l.asked) > remoteFresh {
		size, err := sizeOf(ctx, r.client, url)
		if ctx.Err() == nil {
			l.asked, l.err = time.Now(), err
		}
		if err != nil {
			return iso.Content{}, err
		}
		if l.file == nil || l.file.size != size {
			l.file = &remote{of: r, url: url, size: size}
		}
	}
	return iso.Content{At: l.file, Size: l.file.size}, nil
}

// lookup returns the look-up of a URL. A new one replaces the least recently used.
func (r *remotes) lookup(url string) *lookup {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	if l := r.files[url]; l != nil {
		i := slices.Index(r.asked, url)
		r.asked = append(slices.Delete(r.asked, i, i+1), url)
		return l
	}
	if r.files == nil {
		r.files = map[string]*lookup{}
	}
	if len(r.files) >= remoteFiles {
		delete(r.files, r.asked[0])
		r.asked = r.asked[1:]
	}
	l := &lookup{turn: make(chan struct{}, 1)}
	l.turn <- struct{}{}
	r.files[url] = l
	r.asked = append(r.asked, url)
	return l
}

// sizeOf asks a server for a file's length, and whether it answers ranges.
func sizeOf(ctx context.Context, client *http.Client, url string) (int64, error) {
	ctx, cancel := context.WithTimeout(ctx, remoteTimeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodHead, url, nil)
	if err != nil {
		return 0, err
	}
	answer, err := client.Do(req)
	if err != nil {
		return 0, err
	}
	if err := answer.Body.Close(); err != nil {
		return 0, err
	}
	switch {
	case answer.StatusCode != http.StatusOK:
		return 0, fmt.Errorf("the server answers %s to HEAD", answer.Status)
	case answer.ContentLength <= 0:
		return 0, errors.New("the server does not say how long the file is: expected a Content-Length")
	}
	return answer.ContentLength, nil
}

// ReadAt reads through blocks.
func (r *remote) ReadAt(b []byte, off int64) (int, error) {
	n := 0
	for n < len(b) && off+int64(n) < r.size {
		at := off + int64(n)
		data, err := r.block(at - at%remoteBlock)
		if err != nil {
			return n, err
		}
		n += copy(b[n:], data[at%remoteBlock:])
	}
	if n < len(b) {
		return n, io.EOF
	}
	return n, nil
}

// block returns the bytes of a block, as many as the file has.
func (r *remote) block(off int64) ([]byte, error) {
	if data := r.of.kept(r, off); data != nil {
		return data, nil
	}
	came := time.Now()
	r.fetching.Lock()
	defer r.fetching.Unlock()
	if data := r.of.kept(r, off); data != nil { // another reader has fetched it
		return data, nil
	}
	if r.failed.After(came) { // a caller that waited for another reader's failed fetch does not start one more
		return nil, r.err
	}
	data, err := r.fetch(off, min(remoteBlock, r.size-off))
	if err != nil {
		r.failed, r.err = time.Now(), fmt.Errorf("read the file that the medium is made of: %w", err)
		return nil, r.err
	}
	r.of.keep(block{r, off, data})
	return data, nil
}

// kept returns a block that is kept, for longest from now on; nil for none.
func (r *remotes) kept(file *remote, off int64) []byte {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	i := slices.IndexFunc(r.blocks, func(b block) bool { return b.file == file && b.off == off })
	if i < 0 {
		return nil
	}
	b := r.blocks[i]
	copy(r.blocks[1:i+1], r.blocks[:i])
	r.blocks[0] = b
	return b.data
}

func (r *remotes) keep(b block) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	r.blocks = slices.Insert(r.blocks[:min(len(r.blocks), remoteBlocks-1)], 0, b)
}

func (r *remote) fetch(off, n int64) ([]byte, error) {
	ctx, cancel := context.WithTimeout(context.Background(), remoteTimeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, r.url, nil)
	if err != nil {
		return nil, err
	}
	req.Header.Set("Range", fmt.Sprintf("bytes=%d-%d", off, off+n-1))
	answer, err := r.of.client.Do(req)
	if err != nil {
		return nil, err
	}
	defer answer.Body.Close()
	want := fmt.Sprintf("bytes %d-%d/%d", off, off+n-1, r.size)
	if got := answer.Header.Get("Content-Range"); answer.StatusCode != http.StatusPartialContent || got != want {
		return nil, fmt.Errorf("expected an answer 206 with Content-Range %q, found %s with %q: the server must "+
			"answer ranges, and the file must not change", want, answer.Status, got)
	}
	data := make([]byte, n)
	_, err = io.ReadFull(answer.Body, data)
	return data, err
}
