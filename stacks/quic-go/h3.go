package main

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"cambrian/endpoint"
	"cambrian/endpoint/pages"
	"github.com/quic-go/quic-go"
	"github.com/quic-go/quic-go/http3"
)

// outstanding requests are under way at once, so that a sender always has the next body.
const outstanding = 16

// loadPage loads the document and its images; begun is when the connection was begun.
func (c *client) loadPage(ctx context.Context, conn *quic.Conn, begun time.Time) error {
	loader := pages.Loader{
		Emit:     c.Emit,
		HTTP:     (&http3.Transport{DisableCompression: true}).NewClientConn(conn),
		Protocol: endpoint.ALPNH3,
		Host:     net.JoinHostPort(c.options.ServerName, strconv.Itoa(int(c.options.Connect.Port()))),
		Read:     c.Discard,
	}
	if err := loader.Load(ctx, begun, c.options.Page); err != nil {
		return err
	}
	c.Whole()
	return nil
}

// fetchH3 asks for /N once, or for --path over and over until --bytes have arrived, or for ever.
func (c *client) fetchH3(ctx context.Context, conn *quic.Conn) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	h3 := (&http3.Transport{DisableCompression: true}).NewClientConn(conn)
	if c.options.Path == "" {
		return c.fetchOnce(ctx, h3, "/"+strconv.FormatInt(c.Total(), 10))
	}
	results := make(chan error, outstanding)
	for range outstanding {
		go func() { results <- c.fetchRepeatedly(ctx, h3) }()
	}
	for range outstanding {
		if err := <-results; err != nil {
			return err
		}
		if c.Enough() {
			return nil // what is still under way is not wanted
		}
	}
	return nil
}

func (c *client) fetchRepeatedly(ctx context.Context, h3 *http3.ClientConn) error {
	for !c.Enough() {
		if err := c.fetchOnce(ctx, h3, c.options.Path); err != nil {
			return err
		}
	}
	return nil
}

func (c *client) fetchOnce(ctx context.Context, h3 *http3.ClientConn, path string) error {
	request := &http.Request{
		Method: http.MethodGet,
		URL:    &url.URL{Scheme: "https", Host: c.options.ServerName, Path: path},
		Host:   c.options.ServerName,
		Header: http.Header{},
	}
	response, err := h3.RoundTrip(request.WithContext(ctx))
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("GET %s: status %d", path, response.StatusCode)
	}
	_, err = c.Discard(response.Body)
	return err
}
