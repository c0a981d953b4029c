package transport_test

import (
	"fmt"
	"path/filepath"
	"sync"
	"testing"

	"github.com/situationd/situationd/mqengine/transport"
)

// BenchmarkRoundTrip is a request of 1 KiB and a short answer, over a Unix
// socket, with so many clients that have one request outstanding each.
func BenchmarkRoundTrip(b *testing.B) {
	for _, clients := range []int{1, 16} {
		b.Run(fmt.Sprint(clients), func(b *testing.B) {
			net := transport.Unix(options)
			l, err := net.Listen(filepath.Join(b.TempDir(), "s"))
			if err != nil {
				b.Fatal(err)
			}
			defer l.Close()
			go func() {
				for {
					link, err := l.Accept()
					if err != nil {
						return
					}
					go func() {
						defer link.Close()
						for {
							if _, err := link.Receive(); err != nil {
								return
							}
							_ = link.Offer([]byte("ok"))
						}
					}()
				}
			}()
			var wg sync.WaitGroup
			b.ResetTimer()
			for c := range clients {
				wg.Go(func() {
					link, err := net.Dial(b.Context(), l.Addr())
					if err != nil {
						b.Error(err)
						return
					}
					defer link.Close()
					request := make([]byte, 1024)
					for i := c; i < b.N; i += clients {
						if err := link.Send(request); err != nil {
							b.Error(err)
						}
						if _, err := link.Receive(); err != nil {
							b.Error(err)
						}
					}
				})
			}
			wg.Wait()
		})
	}
}
