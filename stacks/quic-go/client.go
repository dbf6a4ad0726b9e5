package main

import (
	"context"
	"fmt"
	"net"
	"os"
	"sync/atomic"
	"time"

	"cambrian/endpoint"
	"github.com/quic-go/quic-go"
)

// client is one connection that fetches.
type client struct {
	endpoint.Transfer
	options clientOptions
	conn    atomic.Pointer[quic.Conn]
}

func runClient(arguments []string, emit *endpoint.Emitter, stop <-chan os.Signal) error {
	options, err := parseClientOptions(arguments)
	if err != nil {
		return err
	}
	c := &client{Transfer: endpoint.Transfer{Bytes: options.Bytes, Emit: emit}, options: options}
	return c.Run(stop, c.fetch, c.hangUp)
}

// hangUp closes the connection, if there is one.
func (c *client) hangUp() {
	if conn := c.conn.Load(); conn != nil {
		_ = conn.CloseWithError(0, "")
	}
}

// fetch connects and fetches everything that was asked for.
func (c *client) fetch(ctx context.Context) error {
	begun := time.Now()
	socket, err := endpoint.ListenUDP(endpoint.AnyPort(c.options.Connect))
	if err != nil {
		return err
	}
	transport := &quic.Transport{Conn: waiting(socket)}
	conn, err := transport.Dial(ctx, net.UDPAddrFromAddrPort(c.options.Connect),
		endpoint.ClientTLS(c.options.ClientOptions), c.options.transport.quicConfig())
	if err != nil {
		return fmt.Errorf("connect to %s: %w", c.options.Connect, err)
	}
	c.conn.Store(conn)
	c.Emit.Connected()
	if c.options.Page != "" {
		return c.loadPage(ctx, conn, begun)
	}
	if c.options.ALPN == endpoint.ALPNH3 {
		return c.fetchH3(ctx, conn)
	}
	return c.FetchHQ(c.options.Streams, func() (endpoint.HQRequestStream, error) {
		stream, err := conn.OpenStreamSync(ctx)
		return hqStream{stream}, err
	})
}

// hqStream is quic-go's stream as the shared transfers use it.
type hqStream struct{ *quic.Stream }

func (s hqStream) CloseWrite() error { return s.Close() }

func (s hqStream) Refuse() {
	s.CancelRead(0)
	s.CancelWrite(0)
}
