package main

import (
	"context"
	"errors"
	"os"

	"cambrian/endpoint"
	"cambrian/endpoint/pages"
	"github.com/quic-go/quic-go"
	"github.com/quic-go/quic-go/http3"
	"github.com/quic-go/quic-go/qlogwriter"
)

// server sends bodies until it is told to stop.
type server struct {
	options serverOptions
	emit    *endpoint.Emitter
	log     *endpoint.TransportLog // nil without --transport-log
	answers endpoint.Answers
	site    *pages.Site // what h3 serves
	failed  chan error
}

// recorderKey finds a connection's recorder in its context.
type recorderKey struct{}

func runServer(arguments []string, emit *endpoint.Emitter, stop <-chan os.Signal) error {
	options, err := parseServerOptions(arguments)
	if err != nil {
		return err
	}
	if err := endpoint.CheckRelease(stackModule, stackVersion); err != nil {
		return err
	}
	tlsConfig, err := endpoint.ServerTLS(options.ServerOptions)
	if err != nil {
		return err
	}
	s := &server{options: options, emit: emit, failed: make(chan error, 1)}
	if s.site, err = pages.NewSite(options.WWW); err != nil {
		return err
	}
	config := options.transport.quicConfig()
	if options.TransportLog != "" {
		if s.log, err = endpoint.CreateTransportLog(options.TransportLog); err != nil {
			return err
		}
	}
	config.Tracer = func(ctx context.Context, _ bool, _ quic.ConnectionID) qlogwriter.Trace {
		return ctx.Value(recorderKey{}).(*recorder)
	}
	socket, err := endpoint.ListenUDP(options.Listen)
	if err != nil {
		return err
	}
	transport := &quic.Transport{Conn: waiting(socket), ConnContext: s.connContext}
	// ListenEarly: a connection is handed over before its first ACK, which is when the CCA can be chosen.
	listener, err := transport.ListenEarly(tlsConfig, config)
	if err != nil {
		return err
	}
	emit.Ready(options.Listen.Port())

	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	conns := make(chan *quic.Conn)
	go s.accept(ctx, listener, conns)
	var last *quic.Conn
	for {
		select {
		case last = <-conns:
		case err = <-s.failed:
			return s.finish(last, err)
		case <-stop:
			return s.finish(last, nil)
		}
	}
}

func (s *server) connContext(ctx context.Context, _ *quic.ClientInfo) (context.Context, error) {
	return context.WithValue(ctx, recorderKey{}, &recorder{log: s.log}), nil
}

func (s *server) accept(ctx context.Context, listener *quic.EarlyListener, conns chan<- *quic.Conn) {
	for {
		conn, err := listener.Accept(ctx)
		if err != nil {
			return // cancelled: the server is finishing
		}
		controller, err := choose(conn, s.options.CCA, nil)
		if err != nil {
			s.fail(err)
			return
		}
		recorder := conn.Context().Value(recorderKey{}).(*recorder)
		recorder.controller = controller
		recorder.findAgain = func() bool { return s.findAgain(conn, recorder) }
		conns <- conn
		go s.serve(conn, controller)
	}
}

// findAgain follows quic-go to the controller that it has made for a new path of conn's. The connection's own
// goroutine calls it, before that controller has seen a packet.
func (s *server) findAgain(conn *quic.Conn, recorder *recorder) bool {
	found, err := choose(conn, s.options.CCA, recorder.controller)
	if err != nil {
		s.fail(err)
	}
	if err != nil || found == recorder.controller {
		return false
	}
	recorder.controller = found
	s.emit.CCA(s.options.CCA, found.name(), "quic-go's own field cubicSender.reno, read on a new path")
	return true
}

// fail ends the server with its first error.
func (s *server) fail(err error) {
	select {
	case s.failed <- err:
	default:
	}
}

func (s *server) serve(conn *quic.Conn, controller *controller) {
	ctx := conn.Context()
	select {
	case <-conn.HandshakeComplete():
	case <-ctx.Done():
		return
	}
	s.emit.Connected()
	s.emit.CCA(s.options.CCA, controller.name(), "quic-go's own field cubicSender.reno, read after the handshake")
	if s.options.ALPN == endpoint.ALPNH3 {
		// An error here means that the client has gone, which is how a load ends.
		_ = (&http3.Server{Handler: s.site}).ServeQUICConn(conn)
		return
	}
	for {
		stream, err := conn.AcceptStream(ctx)
		if err != nil {
			return // the connection has ended
		}
		go s.answers.Answer(hqStream{stream})
	}
}

// finish writes the last lines; the process ends with it, and with that its sockets and connections.
func (s *server) finish(conn *quic.Conn, failure error) error {
	if s.log != nil {
		failure = errors.Join(failure, s.log.Close())
	}
	if conn != nil {
		s.stats(conn)
		_ = conn.CloseWithError(0, "")
	}
	if s.options.ALPN == endpoint.ALPNH3 {
		s.site.Done(s.emit, failure)
	} else {
		s.answers.Done(s.emit, failure)
	}
	return failure
}

func (s *server) stats(conn *quic.Conn) {
	stats := conn.ConnectionStats()
	recorder := conn.Context().Value(recorderKey{}).(*recorder)
	fields := endpoint.Event{
		"packets_sent":     stats.PacketsSent,
		"packets_received": stats.PacketsReceived,
		"bytes_sent":       stats.BytesSent,
		"bytes_lost":       stats.BytesLost,
		"min_rtt_us":       stats.MinRTT.Microseconds(),
		"srtt_us":          stats.SmoothedRTT.Microseconds(),
		// ConnectionStats has it since v0.64
		"cwnd_bytes": *recorder.controller.cwnd,

		"packets_lost":          recorder.counts.lost,
		"packets_lost_spurious": recorder.counts.spurious,
		"ptos":                  recorder.counts.ptos,
	}
	s.emit.Emit("stats", fields)
}
