package endpoint

import (
	"crypto/tls"
	"fmt"
	"net"
	"net/netip"
)

// socketBufferBytes is asked of the kernel for either direction; the kernel may give less.
const socketBufferBytes = 32 << 20

// ListenUDP binds a socket with large buffers.
func ListenUDP(address netip.AddrPort) (*net.UDPConn, error) {
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

// AnyPort is the unspecified address of the peer's family, for a client's socket.
func AnyPort(peer netip.AddrPort) netip.AddrPort {
	if peer.Addr().Is6() {
		return netip.AddrPortFrom(netip.IPv6Unspecified(), 0)
	}
	return netip.AddrPortFrom(netip.IPv4Unspecified(), 0)
}

// ServerTLS shows the options' certificate and speaks their ALPN.
func ServerTLS(options ServerOptions) (*tls.Config, error) {
	certificate, err := tls.LoadX509KeyPair(options.CertificateFile, options.KeyFile)
	if err != nil {
		return nil, fmt.Errorf("certificate: %w", err)
	}
	return &tls.Config{
		Certificates: []tls.Certificate{certificate},
		NextProtos:   []string{options.ALPN},
		MinVersion:   tls.VersionTLS13,
	}, nil
}

// ClientTLS trusts any certificate: the laboratory's network has no adversary. The secrets go to the
// file that SSLKEYLOGFILE names, if there is one.
func ClientTLS(options ClientOptions) *tls.Config {
	return &tls.Config{
		KeyLogWriter:       openKeyLog(),
		InsecureSkipVerify: true,
		ServerName:         options.ServerName,
		NextProtos:         []string{options.ALPN},
		MinVersion:         tls.VersionTLS13,
	}
}
