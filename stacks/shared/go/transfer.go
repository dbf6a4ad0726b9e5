package endpoint

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"sync/atomic"
	"time"
)

const (
	readBufferBytes  = 64 << 10
	progressInterval = time.Second
)

// Transfer is a client's work: it counts what arrives.
type Transfer struct {
	Bytes    int64 // wanted in all; 0 means endless
	Emit     *Emitter
	received atomic.Int64
	whole    atomic.Bool
}

// Run lets fetch work until it ends or a signal comes, reports progress, calls hangUp so
// that the server knows, and writes the last line. It returns fetch's error.
func (t *Transfer) Run(stop <-chan os.Signal, fetch func(context.Context) error, hangUp func()) error {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	finished := make(chan error, 1)
	go func() { finished <- fetch(ctx) }()

	progress := time.NewTicker(progressInterval)
	defer progress.Stop()
	for {
		select {
		case err := <-finished:
			return t.finish(hangUp, err)
		case <-stop:
			return t.finish(hangUp, nil)
		case now := <-progress.C:
			t.Emit.Emit("progress", Event{"time_ns": now.UnixNano(), "bytes": t.received.Load()})
		}
	}
}

func (t *Transfer) finish(hangUp func(), failure error) error {
	hangUp()
	t.Emit.Done(t.received.Load(), failure == nil && (t.Enough() || t.whole.Load()), failure)
	return failure
}

// Enough says whether all bytes that were wanted have arrived; never so for an endless transfer.
func (t *Transfer) Enough() bool {
	return t.Bytes > 0 && t.received.Load() >= t.Bytes
}

// Total is what to ask for: what is wanted, or more than any trial can carry.
func (t *Transfer) Total() int64 {
	if t.Bytes == 0 {
		return EndlessBytes
	}
	return t.Bytes
}

// Whole says that a transfer without a number of bytes, such as a page, is complete.
func (t *Transfer) Whole() { t.whole.Store(true) }

// Discard reads to the end, counting.
func (t *Transfer) Discard(stream io.Reader) (bytes int64, err error) {
	buffer := make([]byte, readBufferBytes)
	for {
		n, err := stream.Read(buffer)
		bytes += int64(n)
		t.received.Add(int64(n))
		if err == io.EOF {
			return bytes, nil
		}
		if err != nil {
			return bytes, err
		}
	}
}

// HQRequestStream is a bidirectional stream of a client's own; CloseWrite ends the request.
type HQRequestStream interface {
	Read([]byte) (int, error)
	Write([]byte) (int, error)
	CloseWrite() error
}

// FetchHQ asks for the bytes on several streams at once and waits for all of them.
func (t *Transfer) FetchHQ(streams int, open func() (HQRequestStream, error)) error {
	total := t.Total()
	results := make(chan error, streams)
	for index := range streams {
		bytes := Share(total, streams, index)
		stream, err := open()
		if err != nil {
			return err
		}
		go func() { results <- t.fetchStream(stream, bytes) }()
	}
	var failures []error
	for range streams {
		failures = append(failures, <-results)
	}
	return errors.Join(failures...)
}

func (t *Transfer) fetchStream(stream HQRequestStream, bytes int64) error {
	if _, err := stream.Write(HQRequest(bytes)); err != nil {
		return err
	}
	if err := stream.CloseWrite(); err != nil {
		return err
	}
	got, err := t.Discard(stream)
	if err == nil && got != bytes {
		err = fmt.Errorf("asked for %d bytes, got %d", bytes, got)
	}
	return err
}
