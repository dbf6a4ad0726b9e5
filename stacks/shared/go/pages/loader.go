package pages

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"time"

	"cambrian/endpoint"
)

// Loader fetches a document and its images over one connection: at once, but for those that say when.
type Loader struct {
	Emit *endpoint.Emitter
	// HTTP is the connection.
	HTTP http.RoundTripper
	// Protocol is what the objects are reported to have come by: h3 or h2.
	Protocol string
	Host     string
	// Read reads a body to its end and may count it.
	Read func(io.Reader) (int64, error)
}

// object is what became of one request.
type object struct {
	path, kind        string
	status            int
	bytes             int64
	start, first, end time.Time
}

// Load loads the page; begun is when its navigation began, before the connection did.
// It reports every object in the document's order, then the load.
func (l *Loader) Load(ctx context.Context, begun time.Time, path string) error {
	var document bytes.Buffer
	page, err := l.fetch(ctx, path, "document", func(body io.Reader) (int64, error) {
		return l.Read(io.TeeReader(body, &document))
	})
	if err != nil {
		return err
	}
	found, err := images(document.Bytes())
	if err != nil {
		return err
	}
	var objects []object
	for _, batch := range batches(found) {
		if err := pause(ctx, batch[0].after); err != nil {
			return err
		}
		got, err := l.fetchAll(ctx, path, batch)
		if err != nil {
			return err
		}
		objects = append(objects, got...)
	}
	last := page.end
	for _, one := range append([]object{page}, objects...) {
		l.report(one)
		if one.end.After(last) {
			last = one.end
		}
	}
	l.Emit.Emit("load", endpoint.Event{"navigation_start_ns": begun.UnixNano(), "load_ns": last.UnixNano()})
	return nil
}

// pause waits, if it is told for how long.
func pause(ctx context.Context, duration time.Duration) error {
	if duration < 0 {
		return nil
	}
	select {
	case <-time.After(duration):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// fetchAll asks for all of these images at once and waits for them.
func (l *Loader) fetchAll(ctx context.Context, document string, wanted []image) ([]object, error) {
	base := &url.URL{Path: document}
	objects := make([]object, len(wanted))
	failures := make(chan error, len(wanted))
	for index, one := range wanted {
		at, err := base.Parse(one.source)
		if err != nil {
			return nil, fmt.Errorf("image %q: %w", one.source, err)
		}
		go func() {
			var err error
			objects[index], err = l.fetch(ctx, at.Path, "image", l.Read)
			failures <- err
		}()
	}
	var problems []error
	for range wanted {
		problems = append(problems, <-failures)
	}
	return objects, errors.Join(problems...)
}

func (l *Loader) fetch(ctx context.Context, path, kind string, read func(io.Reader) (int64, error)) (object, error) {
	got := object{path: path, kind: kind, start: time.Now()}
	request := &http.Request{
		Method: http.MethodGet,
		URL:    &url.URL{Scheme: "https", Host: l.Host, Path: path},
		Host:   l.Host,
		Header: http.Header{},
	}
	response, err := l.HTTP.RoundTrip(request.WithContext(ctx))
	if err != nil {
		return got, fmt.Errorf("GET %s: %w", path, err)
	}
	defer response.Body.Close()
	got.status, got.first = response.StatusCode, time.Now()
	got.bytes, err = read(response.Body)
	got.end = time.Now()
	if err == nil && response.StatusCode != http.StatusOK {
		err = fmt.Errorf("status %d", response.StatusCode)
	}
	if err != nil {
		return got, fmt.Errorf("GET %s: %w", path, err)
	}
	return got, nil
}

func (l *Loader) report(one object) {
	l.Emit.Emit("object", endpoint.Event{
		"path": one.path, "kind": one.kind, "status": one.status, "protocol": l.Protocol, "bytes": one.bytes,
		"start_ns": one.start.UnixNano(), "request_ns": one.start.UnixNano(),
		"first_byte_ns": one.first.UnixNano(), "end_ns": one.end.UnixNano(),
	})
}
