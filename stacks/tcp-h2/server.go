package main

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"sync"

	"cambrian/endpoint"
	"cambrian/endpoint/pages"
)

// mostStreams is how many requests a client may have under way on a connection.
const mostStreams = 1024

// server answers HTTP/2 requests until it is told to stop.
type server struct {
	options endpoint.ServerOptions
	emit    *endpoint.Emitter
	mutex   sync.Mutex
	open    map[*connection]bool
}

func serverOf(support endpoint.Support) endpoint.Side {
	return func(arguments []string, emit *endpoint.Emitter, stop <-chan os.Signal) error {
		options, err := endpoint.ParseServerOptions(arguments, support, endpoint.Knobs{})
		if err != nil {
			return err
		}
		s := &server{options: options, emit: emit, open: map[*connection]bool{}}
		return s.run(stop)
	}
}

func (s *server) run(stop <-chan os.Signal) error {
	site, err := pages.NewSite(s.options.WWW)
	if err != nil {
		return err
	}
	tlsConfig, err := endpoint.ServerTLS(s.options)
	if err != nil {
		return err
	}
	config := net.ListenConfig{Control: onSocket(withCCA(s.options.CCA))}
	// Multipath TCP would be another protocol than the one that is measured.
	config.SetMultipathTCP(false)
	bound, err := config.Listen(context.Background(), "tcp", s.options.Listen.String())
	if err != nil {
		return err
	}
	http2 := &http.Server{
		Handler:   site,
		TLSConfig: tlsConfig,
		HTTP2:     &http.HTTP2Config{MaxConcurrentStreams: mostStreams},
		ConnState: s.onState,
		// a client that leaves in the middle is how an endless transfer ends
		ErrorLog: log.New(io.Discard, "", 0),
	}
	s.emit.Ready(s.options.Listen.Port())
	ended := make(chan error, 1)
	go func() { ended <- http2.ServeTLS(listener{bound, s}, "", "") }()
	select {
	case err = <-ended:
	case <-stop:
		_ = bound.Close()
	}
	s.countAll()
	site.Done(s.emit, err)
	return err
}

// onState reports a connection once its handshake is done.
func (s *server) onState(conn net.Conn, state http.ConnState) {
	secured, isTLS := conn.(*tls.Conn)
	if !isTLS || state != http.StateActive {
		return
	}
	accepted := secured.NetConn().(*connection)
	accepted.connected.Do(func() {
		s.emit.Connected()
		name, err := cca(accepted.TCPConn)
		if err != nil {
			s.emit.Emit("cca", endpoint.Event{"requested": s.options.CCA, "confirmed": nil, "how": err.Error()})
			return
		}
		s.emit.CCA(s.options.CCA, name, "getsockopt TCP_CONGESTION on the accepted socket")
	})
}

// countAll writes the counts of the connections that are still open.
func (s *server) countAll() {
	s.mutex.Lock()
	var open []*connection
	for conn := range s.open {
		open = append(open, conn)
	}
	s.mutex.Unlock()
	for _, conn := range open {
		conn.count()
	}
}

// listener remembers what it accepts.
type listener struct {
	net.Listener
	server *server
}

func (l listener) Accept() (net.Conn, error) {
	accepted, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	tcp, isTCP := accepted.(*net.TCPConn)
	if !isTCP {
		return nil, errors.New("not a TCP connection")
	}
	conn := &connection{TCPConn: tcp, server: l.server}
	l.server.mutex.Lock()
	l.server.open[conn] = true
	l.server.mutex.Unlock()
	return conn, nil
}

// connection writes its counts before it is closed, while its socket can still tell.
type connection struct {
	*net.TCPConn
	server    *server
	connected sync.Once
	counted   sync.Once
}

func (c *connection) Close() error {
	c.count()
	c.server.mutex.Lock()
	delete(c.server.open, c)
	c.server.mutex.Unlock()
	return c.TCPConn.Close()
}

func (c *connection) count() {
	c.counted.Do(func() {
		info, err := tcpInfo(c.TCPConn)
		if err != nil {
			return
		}
		c.server.emit.Emit("stats", endpoint.Event{
			"segments_sent":          info.Segs_out,
			"segments_received":      info.Segs_in,
			"segments_retransmitted": info.Total_retrans,
			"bytes_sent":             info.Bytes_sent,
			"bytes_retransmitted":    info.Bytes_retrans,
			"busy_us":                info.Busy_time,
			"rwnd_limited_us":        info.Rwnd_limited,
			"sndbuf_limited_us":      info.Sndbuf_limited,
			"srtt_us":                info.Rtt,
			"min_rtt_us":             info.Min_rtt,
			"reordering":             info.Reordering,
		})
	})
}
