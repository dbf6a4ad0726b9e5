package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"os"
	"sync/atomic"
	"time"

	"github.com/quic-go/quic-go"
)

const (
	readBufferBytes  = 64 << 10
	progressInterval = time.Second
)

// client counts what arrives.
type client struct {
	options  clientOptions
	emit     *emitter
	received atomic.Int64
}

func runClient(options clientOptions, emit *emitter, stop <-chan os.Signal) error {
	c := &client{options: options, emit: emit}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	finished := make(chan error, 1)
	conns := make(chan *quic.Conn, 1)
	go func() { finished <- c.transfer(ctx, conns) }()

	progress := time.NewTicker(progressInterval)
	defer progress.Stop()
	for {
		select {
		case err := <-finished:
			return c.finish(conns, err)
		case <-stop:
			return c.finish(conns, nil)
		case now := <-progress.C:
			emit.emit("progress", event{"time_ns": now.UnixNano(), "bytes": c.received.Load()})
		}
	}
}

// finish closes the connection, if there is one, so that the server knows, and writes the last line.
func (c *client) finish(conns <-chan *quic.Conn, failure error) error {
	select {
	case conn := <-conns:
		_ = conn.CloseWithError(0, "")
	default:
	}
	received := c.received.Load()
	complete := failure == nil && c.options.bytes > 0 && received >= c.options.bytes
	c.emit.done(received, complete, failure)
	return failure
}

// transfer connects, fetches everything that was asked for, and says what went wrong.
func (c *client) transfer(ctx context.Context, conns chan<- *quic.Conn) error {
	any := netip.IPv4Unspecified()
	if c.options.connect.Addr().Is6() {
		any = netip.IPv6Unspecified()
	}
	socket, err := listenUDP(netip.AddrPortFrom(any, 0))
	if err != nil {
		return err
	}
	transport := &quic.Transport{Conn: socket}
	conn, err := transport.Dial(ctx, net.UDPAddrFromAddrPort(c.options.connect),
		clientTLS(c.options.serverName, c.options.alpn), c.options.transport.quicConfig())
	if err != nil {
		return fmt.Errorf("connect to %s: %w", c.options.connect, err)
	}
	conns <- conn
	c.emit.connected()
	if c.options.alpn == alpnH3 {
		return c.fetchH3(ctx, conn)
	}
	return c.fetchHQ(ctx, conn)
}

// fetchHQ asks for the bytes on --streams streams at once.
func (c *client) fetchHQ(ctx context.Context, conn *quic.Conn) error {
	total := c.options.bytes
	if total == 0 {
		total = endlessBytes
	}
	results := make(chan error, c.options.streams)
	for index := range c.options.streams {
		bytes := share(total, c.options.streams, index)
		stream, err := conn.OpenStreamSync(ctx)
		if err != nil {
			return err
		}
		go func() { results <- c.fetchStream(stream, bytes) }()
	}
	var failures []error
	for range c.options.streams {
		failures = append(failures, <-results)
	}
	return errors.Join(failures...)
}

func (c *client) fetchStream(stream *quic.Stream, bytes int64) error {
	if _, err := stream.Write(hqRequest(bytes)); err != nil {
		return err
	}
	if err := stream.Close(); err != nil {
		return err
	}
	got, err := c.discard(stream)
	if err == nil && got != bytes {
		err = fmt.Errorf("asked for %d bytes, got %d", bytes, got)
	}
	return err
}

// discard reads to the end, counting.
func (c *client) discard(stream io.Reader) (bytes int64, err error) {
	buffer := make([]byte, readBufferBytes)
	for {
		n, err := stream.Read(buffer)
		bytes += int64(n)
		c.received.Add(int64(n))
		if err == io.EOF {
			return bytes, nil
		}
		if err != nil {
			return bytes, err
		}
	}
}
