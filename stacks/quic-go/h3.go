package main

import (
	"context"
	"fmt"
	"net/http"
	"net/url"

	"github.com/quic-go/quic-go"
	"github.com/quic-go/quic-go/http3"
)

const (
	// defaultOutstanding requests are under way at once, so that a sender always has the next body.
	defaultOutstanding = 16
	maxOutstanding     = 1024
)

// fetchH3 asks for one path over and over until --bytes have arrived, or for ever.
func (c *client) fetchH3(ctx context.Context, conn *quic.Conn) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	h3 := (&http3.Transport{DisableCompression: true}).NewClientConn(conn)
	results := make(chan error, c.options.outstanding)
	for range c.options.outstanding {
		go func() { results <- c.fetchRepeatedly(ctx, h3) }()
	}
	for range c.options.outstanding {
		if err := <-results; err != nil {
			return err
		}
		if c.enough() {
			return nil // what is still under way is not wanted
		}
	}
	return nil
}

func (c *client) fetchRepeatedly(ctx context.Context, h3 *http3.ClientConn) error {
	for !c.enough() {
		if err := c.fetchOnce(ctx, h3); err != nil {
			return err
		}
	}
	return nil
}

func (c *client) enough() bool {
	return c.options.bytes > 0 && c.received.Load() >= c.options.bytes
}

func (c *client) fetchOnce(ctx context.Context, h3 *http3.ClientConn) error {
	request := &http.Request{
		Method: http.MethodGet,
		URL:    &url.URL{Scheme: "https", Host: c.options.serverName, Path: c.options.path},
		Host:   c.options.serverName,
		Header: http.Header{},
	}
	response, err := h3.RoundTrip(request.WithContext(ctx))
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("GET %s: status %d", c.options.path, response.StatusCode)
	}
	_, err = c.discard(response.Body)
	return err
}
