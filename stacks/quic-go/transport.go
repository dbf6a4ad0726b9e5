package main

import (
	"time"

	"cambrian/endpoint"
	"github.com/quic-go/quic-go"
)

const (
	// receiveWindowBytes is the flow-control credit for a stream and for a connection, from the start:
	// above any bandwidth-delay product with its queue, so that the receiver never limits a flow.
	receiveWindowBytes = 128 << 20
	idleTimeout        = time.Hour
)

// quicConfig; the socket's buffers are not in it: quic-go leaves those alone that are larger than its own wish (7 MB).
func (t transportOptions) quicConfig() *quic.Config {
	return &quic.Config{
		MaxIdleTimeout:                 idleTimeout,
		HandshakeIdleTimeout:           time.Minute,
		InitialStreamReceiveWindow:     receiveWindowBytes,
		MaxStreamReceiveWindow:         receiveWindowBytes,
		InitialConnectionReceiveWindow: receiveWindowBytes,
		MaxConnectionReceiveWindow:     receiveWindowBytes,
		MaxIncomingStreams:             endpoint.MaxStreams,
		InitialPacketSize:              t.initialUDPPayloadBytes,
		DisablePathMTUDiscovery:        !t.pathMTUDiscovery,
	}
}
