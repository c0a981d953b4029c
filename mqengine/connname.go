package mqengine

import (
	"net"
	"os"
)

// connName is host(port) of a bound address, as CONNAME has it; blank for none.
// Others reach a listener on every address under the host's name.
func connName(addr string) string {
	host, port, err := net.SplitHostPort(addr)
	if err != nil || port == "" {
		return ""
	}
	if ip := net.ParseIP(host); host == "" || ip != nil && ip.IsUnspecified() {
		if host, err = os.Hostname(); err != nil {
			host = "localhost"
		}
	}
	return host + "(" + port + ")"
}
