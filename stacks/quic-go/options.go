package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"net/netip"
	"slices"
	"strconv"
	"strings"
)

const (
	alpnHQ            = "hq-interop"
	alpnH3            = "h3"
	defaultServerName = "cambrian.test"
	// endlessBytes is what a client asks for when it shall run until SIGTERM.
	endlessBytes = 1_000_000_000_000
)

// transportOptions are the --set knobs that either side takes.
type transportOptions struct {
	// initialPacketBytes is the UDP payload that path-MTU discovery starts from; 0 is quic-go's choice (1280).
	initialPacketBytes uint16
	pathMTUDiscovery   bool
}

type serverOptions struct {
	listen          netip.AddrPort
	cca             string
	certificateFile string
	keyFile         string
	transportLog    string
	transport       transportOptions
}

type clientOptions struct {
	connect    netip.AddrPort
	serverName string
	alpn       string
	path       string
	// bytes is the sum over all streams; 0 means endless.
	bytes   int64
	streams int
	// outstanding is how many h3 requests are under way at once.
	outstanding int
	transport   transportOptions
}

// setFlags collects --set KEY=VALUE and knows which keys there are.
type setFlags map[string]func(value string) error

func (s setFlags) set(assignment string) error {
	key, value, found := strings.Cut(assignment, "=")
	if !found {
		return fmt.Errorf("%q is not KEY=VALUE", assignment)
	}
	apply, known := s[key]
	if !known {
		return fmt.Errorf("unknown key %q; known: %s", key, strings.Join(slices.Sorted(maps.Keys(s)), ", "))
	}
	return apply(value)
}

func (t *transportOptions) knobs() setFlags {
	t.pathMTUDiscovery = true
	return setFlags{
		"initial_packet_bytes": func(value string) error {
			size, err := strconv.ParseUint(value, 10, 16)
			if err != nil || size < 1200 || size > 1452 {
				return fmt.Errorf("initial_packet_bytes=%s: want 1200 to 1452", value)
			}
			t.initialPacketBytes = uint16(size)
			return nil
		},
		"path_mtu_discovery": func(value string) (err error) {
			t.pathMTUDiscovery, err = strconv.ParseBool(value)
			return err
		},
	}
}

// newFlagSet leaves the reporting of errors to main.
func newFlagSet(name string) *flag.FlagSet {
	flags := flag.NewFlagSet(name, flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	return flags
}

func parse(flags *flag.FlagSet, arguments []string, required ...string) error {
	if err := flags.Parse(arguments); err != nil {
		return usageError{fmt.Sprintf("%s: %v", flags.Name(), err)}
	}
	if flags.NArg() > 0 {
		return usageError{fmt.Sprintf("%s: unexpected argument %q", flags.Name(), flags.Arg(0))}
	}
	for _, name := range required {
		if flags.Lookup(name).Value.String() == "" {
			return usageError{fmt.Sprintf("%s: --%s is missing", flags.Name(), name)}
		}
	}
	return nil
}

func parseServerOptions(arguments []string) (serverOptions, error) {
	var options serverOptions
	flags := newFlagSet("server")
	listen := flags.String("listen", "", "ADDR:PORT")
	alpn := flags.String("alpn", alpnHQ, "application protocol")
	flags.StringVar(&options.cca, "cca", "", "congestion controller")
	flags.StringVar(&options.certificateFile, "cert", "", "PEM certificate")
	flags.StringVar(&options.keyFile, "key", "", "PEM key")
	flags.StringVar(&options.transportLog, "transport-log", "", "CSV file")
	flags.Func("set", "KEY=VALUE", options.transport.knobs().set)
	if err := parse(flags, arguments, "listen", "cca", "cert", "key"); err != nil {
		return options, err
	}
	if !slices.Contains(ccas, options.cca) {
		return options, unsupportedError{fmt.Sprintf("cca %q: this stack has %s", options.cca, strings.Join(ccas, ", "))}
	}
	if *alpn != alpnHQ {
		return options, unsupportedError{fmt.Sprintf("alpn %q: this server speaks %s", *alpn, alpnHQ)}
	}
	var err error
	if options.listen, err = netip.ParseAddrPort(*listen); err != nil {
		return options, usageError{fmt.Sprintf("server: --listen: %v", err)}
	}
	return options, nil
}

func parseClientOptions(arguments []string) (clientOptions, error) {
	var options clientOptions
	flags := newFlagSet("client")
	connect := flags.String("connect", "", "ADDR:PORT")
	flags.StringVar(&options.serverName, "server-name", defaultServerName, "name for SNI and :authority")
	flags.StringVar(&options.alpn, "alpn", alpnHQ, "application protocol")
	flags.StringVar(&options.path, "path", "", "h3: the path to fetch over and over")
	flags.Int64Var(&options.bytes, "bytes", 0, "bytes in all; 0 = endless")
	flags.IntVar(&options.streams, "streams", 1, "hq-interop: streams to spread the bytes over")
	knobs := options.transport.knobs()
	options.outstanding = defaultOutstanding
	knobs["outstanding"] = func(value string) (err error) {
		options.outstanding, err = strconv.Atoi(value)
		if err == nil && (options.outstanding < 1 || options.outstanding > maxOutstanding) {
			err = fmt.Errorf("outstanding=%s: want 1 to %d", value, maxOutstanding)
		}
		return err
	}
	flags.Func("set", "KEY=VALUE", knobs.set)
	if err := parse(flags, arguments, "connect"); err != nil {
		return options, err
	}
	var err error
	if options.connect, err = netip.ParseAddrPort(*connect); err != nil {
		return options, usageError{fmt.Sprintf("client: --connect: %v", err)}
	}
	return options, options.check()
}

func (o *clientOptions) check() error {
	var problems []error
	switch o.alpn {
	case alpnHQ:
		if o.path != "" {
			problems = append(problems, errors.New("--path goes with --alpn h3; hq-interop asks for a number of bytes"))
		}
	case alpnH3:
		if o.path == "" {
			o.path = "/"
		}
		if !strings.HasPrefix(o.path, "/") {
			problems = append(problems, fmt.Errorf("--path %q: must begin with /", o.path))
		}
		if o.streams != 1 {
			problems = append(problems, errors.New("--streams goes with hq-interop; for h3 say --set outstanding=N"))
		}
	default:
		return unsupportedError{fmt.Sprintf("alpn %q: this client speaks %s, %s", o.alpn, alpnHQ, alpnH3)}
	}
	if o.bytes < 0 {
		problems = append(problems, fmt.Errorf("--bytes %d: must not be negative", o.bytes))
	}
	if o.streams < 1 || o.streams > maxStreams {
		problems = append(problems, fmt.Errorf("--streams %d: want 1 to %d", o.streams, maxStreams))
	}
	if len(problems) > 0 {
		return usageError{"client: " + errors.Join(problems...).Error()}
	}
	return nil
}
