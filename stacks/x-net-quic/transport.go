package main

import (
	"context"
	"crypto/tls"
	"fmt"
	"math"
	"reflect"
	"time"

	"cambrian/endpoint"
	"golang.org/x/net/quic"
)

const (
	// receiveWindowBytes is the flow-control credit for a stream and for a connection, from the start:
	// above any bandwidth-delay product with its queue, so that the receiver never limits a flow.
	receiveWindowBytes = 128 << 20
	// defaultSendBufferBytes bounds what a stream holds until it is acknowledged, and so
	// what is in flight; it is filled at once, and faulted in, so that it is not larger than need be.
	defaultSendBufferBytes = 8 << 20
	idleTimeout            = time.Hour
	// closePatience is how long a side waits to see its CONNECTION_CLOSE leave.
	closePatience = 10 * time.Millisecond
)

// transportOptions are the --set knobs that either side takes.
type transportOptions struct{ sendBufferBytes int64 }

func (t *transportOptions) knobs() endpoint.Knobs {
	t.sendBufferBytes = defaultSendBufferBytes
	return endpoint.Knobs{"send_buffer_bytes": endpoint.Whole(&t.sendBufferBytes, 1, math.MaxInt64)}
}

func (t transportOptions) quicConfig(tlsConfig *tls.Config) *quic.Config {
	return &quic.Config{
		TLSConfig:                tlsConfig,
		MaxBidiRemoteStreams:     endpoint.MaxStreams,
		MaxStreamReadBufferSize:  receiveWindowBytes,
		MaxConnReadBufferSize:    receiveWindowBytes,
		MaxStreamWriteBufferSize: t.sendBufferBytes,
		HandshakeTimeout:         time.Minute,
		MaxIdleTimeout:           idleTimeout,
	}
}

// hangUp closes the connections, so that the other side knows.
func hangUp(quicEndpoint *quic.Endpoint) {
	ctx, cancel := context.WithTimeout(context.Background(), closePatience)
	defer cancel()
	_ = quicEndpoint.Close(ctx)
}

// hqStream is the package's stream as the shared transfers use it.
type hqStream struct{ *quic.Stream }

func (s hqStream) CloseWrite() error { return s.Stream.CloseWrite() }

func (s hqStream) Refuse() {
	_ = s.CloseRead()
	_ = s.Reset(0)
}

// readCCA names the controller that a connection holds: Conn.loss.cc, of the only type that v0.62.0 has.
func readCCA(conn *quic.Conn) (string, error) {
	walker := endpoint.Walker{}
	loss := walker.Named(reflect.ValueOf(conn).Elem(), "loss")
	controller := walker.Behind(loss, "cc")
	if walker.Err != nil {
		return "", fmt.Errorf("the fields of %s are not those of %s: %w", stackModule, stackVersion, walker.Err)
	}
	if name := controller.Type().Name(); name != "ccReno" {
		return "", fmt.Errorf("the controller is a %s, not ccReno", name)
	}
	return ccaReno, nil
}
