package main

import (
	"crypto/tls"
	"fmt"
	"net"
	"net/netip"
	"time"

	"github.com/quic-go/quic-go"
)

const (
	// receiveWindowBytes is the flow-control credit for a stream and for a connection, from the start:
	// above any bandwidth-delay product with its queue, so that the receiver never limits a flow.
	receiveWindowBytes = 128 << 20
	// socketBufferBytes is asked of the kernel for either direction; the kernel may give less.
	socketBufferBytes = 32 << 20
	idleTimeout       = time.Hour
	// maxStreams is how many streams a client may open at once.
	maxStreams = 4096
)

func (t transportOptions) quicConfig() *quic.Config {
	return &quic.Config{
		MaxIdleTimeout:                 idleTimeout,
		HandshakeIdleTimeout:           time.Minute,
		InitialStreamReceiveWindow:     receiveWindowBytes,
		MaxStreamReceiveWindow:         receiveWindowBytes,
		InitialConnectionReceiveWindow: receiveWindowBytes,
		MaxConnectionReceiveWindow:     receiveWindowBytes,
		MaxIncomingStreams:             maxStreams,
		InitialPacketSize:              t.initialPacketBytes,
		DisablePathMTUDiscovery:        !t.pathMTUDiscovery,
	}
}

// listenUDP binds a socket with large buffers; quic-go leaves buffers alone that are larger than its own wish (7 MB).
func listenUDP(address netip.AddrPort) (*net.UDPConn, error) {
	network := "udp4"
	if address.Addr().Is6() {
		network = "udp6"
	}
	socket, err := net.ListenUDP(network, net.UDPAddrFromAddrPort(address))
	if err != nil {
		return nil, err
	}
	// The kernel clamps to rmem_max and wmem_max without an error: nothing to check.
	_ = socket.SetReadBuffer(socketBufferBytes)
	_ = socket.SetWriteBuffer(socketBufferBytes)
	return socket, nil
}

func serverTLS(certificateFile, keyFile string) (*tls.Config, error) {
	certificate, err := tls.LoadX509KeyPair(certificateFile, keyFile)
	if err != nil {
		return nil, fmt.Errorf("certificate: %w", err)
	}
	return &tls.Config{Certificates: []tls.Certificate{certificate}, NextProtos: []string{alpnHQ}}, nil
}

// clientTLS trusts any certificate: the laboratory's network has no adversary.
func clientTLS(serverName, alpn string) *tls.Config {
	return &tls.Config{InsecureSkipVerify: true, ServerName: serverName, NextProtos: []string{alpn}}
}
