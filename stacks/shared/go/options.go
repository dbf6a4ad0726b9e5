package endpoint

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
	ALPNHQ            = "hq-interop"
	ALPNH3            = "h3"
	ALPNH2            = "h2"
	DefaultServerName = "cambrian.test"
	// EndlessBytes is what a client asks for when it shall run until SIGTERM.
	EndlessBytes = 1_000_000_000_000
	// MaxStreams is how many streams a client may open at once.
	MaxStreams = 4096
)

// Knobs are the keys of --set KEY=VALUE that a side takes, and what each does with its value.
type Knobs map[string]func(value string) error

func (k Knobs) set(assignment string) error {
	key, value, found := strings.Cut(assignment, "=")
	if !found {
		return fmt.Errorf("%q is not KEY=VALUE", assignment)
	}
	apply, known := k[key]
	switch {
	case !known && len(k) == 0:
		return fmt.Errorf("unknown key %q; this side has none", key)
	case !known:
		return fmt.Errorf("unknown key %q; known: %s", key, strings.Join(slices.Sorted(maps.Keys(k)), ", "))
	}
	return apply(value)
}

// Boolean is a knob that takes true or false.
func Boolean(to *bool) func(value string) error {
	return func(value string) error {
		if value != "true" && value != "false" {
			return errors.New("want true or false")
		}
		*to = value == "true"
		return nil
	}
}

// Whole is a knob that takes a whole number from least to most.
func Whole[T int | int64 | uint16](to *T, least, most T) func(value string) error {
	return func(value string) error {
		number, err := strconv.ParseInt(value, 10, 64)
		if err != nil || number < int64(least) || number > int64(most) {
			return fmt.Errorf("want a whole number from %d to %d", least, most)
		}
		*to = T(number)
		return nil
	}
}

// ServerOptions is the contract's command line for a server.
type ServerOptions struct {
	Listen          netip.AddrPort
	CCA             string // "" for a program that leaves the choice to the system
	ALPN            string
	CertificateFile string
	KeyFile         string
	TransportLog    string // "" for none
	WWW             string // the folder to serve; "" for generated bodies
}

// ParseServerOptions reads and checks a server's arguments; the knobs are applied as they are met.
func ParseServerOptions(arguments []string, support Support, knobs Knobs) (ServerOptions, error) {
	var options ServerOptions
	flags := newFlagSet("server")
	listen := flags.String("listen", "", "ADDR:PORT")
	flags.StringVar(&options.ALPN, "alpn", support.ServerALPNs[0], "application protocol")
	flags.StringVar(&options.CCA, "cca", "", "congestion controller")
	flags.StringVar(&options.CertificateFile, "cert", "", "PEM certificate")
	flags.StringVar(&options.KeyFile, "key", "", "PEM key")
	flags.StringVar(&options.TransportLog, "transport-log", "", "CSV file")
	flags.StringVar(&options.WWW, "www", "", "the folder to serve; not with hq-interop")
	flags.Func("set", "KEY=VALUE", knobs.set)
	required := []string{"listen", "cert", "key"}
	if len(support.CCAs) > 0 {
		required = append(required, "cca")
	}
	if err := parse(flags, arguments, required); err != nil {
		return options, err
	}
	if len(support.CCAs) > 0 && !slices.Contains(support.CCAs, options.CCA) {
		return options, UnsupportedError{fmt.Sprintf("cca %q: this stack has %s", options.CCA, strings.Join(support.CCAs, ", "))}
	}
	if !slices.Contains(support.ServerALPNs, options.ALPN) {
		return options, UnsupportedError{fmt.Sprintf("alpn %q: this server speaks %s", options.ALPN, strings.Join(support.ServerALPNs, ", "))}
	}
	if options.WWW != "" && options.ALPN == ALPNHQ {
		return options, UsageError{"server: --www goes with h3 or h2; hq-interop serves numbers of bytes"}
	}
	var err error
	if options.Listen, err = netip.ParseAddrPort(*listen); err != nil {
		return options, UsageError{fmt.Sprintf("server: --listen %s: %v", *listen, err)}
	}
	return options, nil
}

// ClientOptions is the contract's command line for a client.
type ClientOptions struct {
	Connect    netip.AddrPort
	ServerName string
	ALPN       string
	Path       string // what to fetch over and over; "": /N, as with hq-interop
	Page       string // the document to load with all its images, once; "" for none
	Bytes      int64  // the sum over all streams; 0 means endless
	Streams    int
}

// ParseClientOptions reads and checks a client's arguments; the knobs are applied as they are met.
func ParseClientOptions(arguments []string, support Support, knobs Knobs) (ClientOptions, error) {
	var options ClientOptions
	flags := newFlagSet("client")
	connect := flags.String("connect", "", "ADDR:PORT")
	flags.StringVar(&options.ServerName, "server-name", DefaultServerName, "name for SNI and :authority")
	flags.StringVar(&options.ALPN, "alpn", support.ClientALPNs[0], "application protocol")
	flags.StringVar(&options.Path, "path", "", "the path to fetch over and over; not with hq-interop")
	flags.StringVar(&options.Page, "page", "", "a document to load with its images; not with hq-interop")
	flags.Int64Var(&options.Bytes, "bytes", 0, "bytes in all; 0 = endless")
	flags.IntVar(&options.Streams, "streams", 1, "hq-interop: streams to spread the bytes over")
	flags.Func("set", "KEY=VALUE", knobs.set)
	if err := parse(flags, arguments, []string{"connect"}); err != nil {
		return options, err
	}
	var err error
	if options.Connect, err = netip.ParseAddrPort(*connect); err != nil {
		return options, UsageError{fmt.Sprintf("client: --connect %s: %v", *connect, err)}
	}
	if !slices.Contains(support.ClientALPNs, options.ALPN) {
		return options, UnsupportedError{fmt.Sprintf("alpn %q: this client speaks %s", options.ALPN, strings.Join(support.ClientALPNs, ", "))}
	}
	return options, options.check()
}

func (o *ClientOptions) check() error {
	var problems []error
	if o.ALPN == ALPNHQ {
		if o.Path != "" {
			problems = append(problems, errors.New("--path does not go with hq-interop, which asks for a number of bytes"))
		}
		if o.Page != "" {
			problems = append(problems, errors.New("--page does not go with hq-interop"))
		}
	} else {
		if o.Path != "" && !strings.HasPrefix(o.Path, "/") {
			problems = append(problems, fmt.Errorf("--path %q: must begin with /", o.Path))
		}
		if o.Streams != 1 {
			problems = append(problems, errors.New("--streams goes with hq-interop only"))
		}
	}
	if o.Bytes < 0 {
		problems = append(problems, fmt.Errorf("--bytes %d: must not be negative", o.Bytes))
	}
	if o.Streams < 1 || o.Streams > MaxStreams {
		problems = append(problems, fmt.Errorf("--streams %d: want 1 to %d", o.Streams, MaxStreams))
	}
	if len(problems) > 0 {
		return UsageError{"client: " + errors.Join(problems...).Error()}
	}
	return nil
}

// newFlagSet leaves the reporting of errors to Main.
func newFlagSet(name string) *flag.FlagSet {
	flags := flag.NewFlagSet(name, flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	return flags
}

func parse(flags *flag.FlagSet, arguments []string, required []string) error {
	if err := flags.Parse(arguments); err != nil {
		return UsageError{fmt.Sprintf("%s: %v", flags.Name(), err)}
	}
	if flags.NArg() > 0 {
		return UsageError{fmt.Sprintf("%s: unexpected argument %q", flags.Name(), flags.Arg(0))}
	}
	for _, name := range required {
		if flags.Lookup(name).Value.String() == "" {
			return UsageError{fmt.Sprintf("%s: --%s is missing", flags.Name(), name)}
		}
	}
	return nil
}
