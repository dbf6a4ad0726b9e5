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

// Loader fetches a document and at once all of its images over one connection.
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
	base := &url.URL{Path: path}
	sources := images(document.Bytes())
	objects := make([]object, len(sources))
	failures := make(chan error, len(sources))
	for index, source := range sources {
		at, err := base.Parse(source)
		if err != nil {
			return fmt.Errorf("image %q: %w", source, err)
		}
		go func() {
			var err error
			objects[index], err = l.fetch(ctx, at.Path, "image", l.Read)
			failures <- err
		}()
	}
	var problems []error
	for range sources {
		problems = append(problems, <-failures)
	}
	if err := errors.Join(problems...); err != nil {
		return err
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
