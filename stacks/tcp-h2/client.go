package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"sync/atomic"
	"time"

	"cambrian/endpoint"
	"cambrian/endpoint/loop"
	"cambrian/endpoint/pages"
)

// outstanding requests share a bulk transfer: Go's window for one stream is 4 MiB, for the connection 1 GiB.
const outstanding = 16

// client is one connection that fetches.
type client struct {
	endpoint.Transfer
	options       endpoint.ClientOptions
	receiveBuffer int // bytes; 0 = the kernel's auto-tuning
	conn          atomic.Pointer[http.ClientConn]
}

func clientOf(support endpoint.Support) endpoint.Side {
	return func(arguments []string, emit *endpoint.Emitter, stop <-chan os.Signal) error {
		c := &client{}
		options, err := endpoint.ParseClientOptions(arguments, support, endpoint.Knobs{
			"receive_buffer_bytes": endpoint.Whole(&c.receiveBuffer, 0, math.MaxInt32),
		})
		if err != nil {
			return err
		}
		c.options = options
		c.Bytes, c.Emit = options.Bytes, emit
		return c.Run(stop, c.fetch, c.hangUp)
	}
}

func (c *client) hangUp() {
	if conn := c.conn.Load(); conn != nil {
		_ = conn.Close()
	}
}

func (c *client) fetch(ctx context.Context) error {
	begun := time.Now()
	dialer := net.Dialer{Control: onSocket(withReceiveBuffer(c.receiveBuffer))}
	dialer.SetMultipathTCP(false)
	transport := &http.Transport{
		DisableCompression: true,
		TLSClientConfig:    endpoint.ClientTLS(c.options),
		ForceAttemptHTTP2:  true,
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			conn, err := dialer.DialContext(ctx, "tcp", c.options.Connect.String())
			if err != nil {
				return nil, err
			}
			return waiting(conn), nil
		},
	}
	conn, err := transport.NewClientConn(ctx, "https", c.host())
	if err != nil {
		return fmt.Errorf("connect to %s: %w", c.options.Connect, err)
	}
	c.conn.Store(conn)
	c.Emit.Connected()
	if c.options.Page == "" {
		return c.fetchBytes(ctx, conn)
	}
	loader := pages.Loader{
		Emit: c.Emit, HTTP: conn, Protocol: endpoint.ALPNH2, Host: c.host(), Read: c.Discard,
	}
	if err := loader.Load(ctx, begun, c.options.Page); err != nil {
		return err
	}
	c.Whole()
	return nil
}

// waiting is the connection with one system call for each wait, or itself where that is not possible.
func waiting(conn net.Conn) net.Conn {
	if tcp, ok := conn.(*net.TCPConn); ok {
		if stream, err := loop.OpenStream(tcp); err == nil {
			return stream
		}
	}
	return conn
}

func (c *client) host() string {
	return net.JoinHostPort(c.options.ServerName, strconv.Itoa(int(c.options.Connect.Port())))
}

// fetchBytes spreads the bytes over requests that are under way at once.
func (c *client) fetchBytes(ctx context.Context, conn http.RoundTripper) error {
	total := c.Bytes
	if total == 0 {
		total = endpoint.EndlessBytes
	}
	results := make(chan error, outstanding)
	for index := range outstanding {
		go func() { results <- c.fetchPart(ctx, conn, endpoint.Share(total, outstanding, index)) }()
	}
	var failures []error
	for range outstanding {
		failures = append(failures, <-results)
	}
	return errors.Join(failures...)
}

func (c *client) fetchPart(ctx context.Context, conn http.RoundTripper, bytes int64) error {
	request := &http.Request{
		Method: http.MethodGet,
		URL:    &url.URL{Scheme: "https", Host: c.host(), Path: fmt.Sprintf("/%d", bytes)},
		Host:   c.host(),
		Header: http.Header{},
	}
	response, err := conn.RoundTrip(request.WithContext(ctx))
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("GET %s: status %d", request.URL.Path, response.StatusCode)
	}
	got, err := c.Discard(response.Body)
	if err == nil && got != bytes {
		err = fmt.Errorf("asked for %d bytes, got %d", bytes, got)
	}
	return err
}
