package httpapi

import (
	"context"
	"errors"
	"net"
	"net/http"
	"os"
	"os/user"
	"regexp"
	"strconv"
	"sync"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/prometheus/exporter-toolkit/web"
	"golang.org/x/sys/unix"
	"gopkg.in/yaml.v3"
)

// Limits of a server. A client that is slower or asks for more is cut off.
const (
	headerTimeout   = 5 * time.Second
	readTimeout     = 10 * time.Second
	writeTimeout    = 30 * time.Second
	idleTimeout     = time.Minute
	shutdownTimeout = 3 * time.Second
	maxHeader       = 16 << 10
)

type peerKey struct{}

func newServer(handler http.Handler, logger hclog.Logger) *http.Server {
	return &http.Server{
		Handler:           serving(handler),
		ConnContext:       withGuest,
		ReadHeaderTimeout: headerTimeout,
		ReadTimeout:       readTimeout,
		WriteTimeout:      writeTimeout,
		IdleTimeout:       idleTimeout,
		MaxHeaderBytes:    maxHeader,
		ErrorLog:          logger.StandardLogger(&hclog.StandardLoggerOptions{ForceLevel: hclog.Debug}),
	}
}

// ServeSocket serves local callers until ctx ends. Whoever may open the socket
// may change things; the socket's credentials say who it was.
func ServeSocket(ctx context.Context, l net.Listener, daemon Daemon, metrics http.Handler, logger hclog.Logger) error {
	server := newServer(NewHandler(daemon, metrics, socketCaller, logger), logger)
	server.ConnContext = func(ctx context.Context, c net.Conn) context.Context {
		return context.WithValue(withGuest(ctx, c), peerKey{}, peerOf(c))
	}
	return serve(ctx, server, func() error { return server.Serve(newCrowd(l)) })
}

// ServePort serves the daemon's port until ctx ends. webConfig is the path of an
// exporter-toolkit web configuration, "" for none.
func ServePort(ctx context.Context, l net.Listener, webConfig string, daemon Daemon, metrics http.Handler, logger hclog.Logger) error {
	server := newServer(NewHandler(daemon, metrics, portCaller(webConfig), logger), logger)
	addresses, socket := []string{l.Addr().String()}, false
	flags := &web.FlagConfig{WebListenAddresses: &addresses, WebSystemdSocket: &socket, WebConfigFile: &webConfig}
	return serve(ctx, server, func() error {
		return web.Serve(newCrowd(l), server, flags, bridge(logger))
	})
}

// goType is what the YAML library tells of the program's own types.
var goType = regexp.MustCompile(` (in|into) (type )?[a-z]+\.[A-Za-z]+`)

// CheckWebConfig says what is wrong with a web configuration.
func CheckWebConfig(path string) error {
	if path == "" {
		return nil
	}
	if err := web.Validate(path); err != nil {
		return errors.New(goType.ReplaceAllString(err.Error(), ""))
	}
	return nil
}

// serve runs until ctx ends or serving fails, and waits for the requests in work.
func serve(ctx context.Context, server *http.Server, run func() error) error {
	var wait sync.WaitGroup
	stopped := make(chan struct{})
	wait.Go(func() {
		select {
		case <-ctx.Done():
		case <-stopped:
			return
		}
		grace, cancel := context.WithTimeout(context.WithoutCancel(ctx), shutdownTimeout)
		defer cancel()
		if server.Shutdown(grace) != nil {
			_ = server.Close() // whoever is still connected is cut off
		}
	})
	err := run()
	close(stopped)
	wait.Wait()
	if errors.Is(err, http.ErrServerClosed) {
		return nil
	}
	return err
}

// portCaller lets those change things whom the web configuration has checked:
// a user with a password, or the holder of a client certificate.
func portCaller(webConfig string) caller {
	return func(r *http.Request) (string, bool) {
		if webConfig == "" {
			return "", false
		}
		if name, _, ok := r.BasicAuth(); ok && hasUsers(webConfig) {
			return name, true // the toolkit has checked the password before it called us
		}
		if r.TLS != nil && len(r.TLS.VerifiedChains) > 0 {
			return r.TLS.VerifiedChains[0][0].Subject.CommonName, true
		}
		return "", false
	}
}

// hasUsers tells whether passwords are checked at all. The toolkit reads the
// file for every request, so this does too.
func hasUsers(webConfig string) bool {
	text, err := os.ReadFile(webConfig)
	if err != nil {
		return false
	}
	var file struct {
		Users map[string]string `yaml:"basic_auth_users"`
	}
	return yaml.Unmarshal(text, &file) == nil && len(file.Users) > 0
}

func socketCaller(r *http.Request) (string, bool) {
	by, ok := r.Context().Value(peerKey{}).(string)
	return by, ok && by != ""
}

// peerOf names the user at the other end of a Unix socket.
func peerOf(c net.Conn) string {
	if g, ok := c.(*guest); ok {
		c = g.Conn
	}
	local, ok := c.(*net.UnixConn)
	if !ok {
		return ""
	}
	raw, err := local.SyscallConn()
	if err != nil {
		return ""
	}
	var cred *unix.Ucred
	var credErr error
	if err := raw.Control(func(fd uintptr) {
		cred, credErr = unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED)
	}); err != nil || credErr != nil {
		return ""
	}
	id := strconv.FormatUint(uint64(cred.Uid), 10)
	if u, err := user.LookupId(id); err == nil {
		return u.Username
	}
	return "uid " + id
}
