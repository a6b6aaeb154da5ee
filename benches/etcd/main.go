// The other side of the rows `etcd` and `recovery`: etcd's own Go client, as a writer or as a watcher.
//
//	etcd-go write ENDPOINT   reads lines "PREFIX KEYS COUNT WRITERS" and answers each with the milliseconds that the puts took
//	etcd-go watch ENDPOINT PREFIX ENDPOINTS   prints "ready", then the key of each event; it begins at the one and may go on at all
//
// A value is JSON with the time of its put in ms, and fills up to about half a kilobyte.
package main

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"
)

func must(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func open(endpoints string) *clientv3.Client {
	client, err := clientv3.New(clientv3.Config{
		Endpoints: strings.Split(endpoints, ","),
		Logger:    zap.NewNop(),
	})
	must(err)
	return client
}

func write(client *clientv3.Client, prefix string, keys, count, writers int64) time.Duration {
	began := time.Now()
	filler := strings.Repeat("filler ", 60)
	var next atomic.Int64
	var group sync.WaitGroup
	for range writers {
		group.Go(func() {
			for {
				n := next.Add(1) - 1
				if n >= count {
					return
				}
				value := fmt.Sprintf(`{"n":%d,"at":%.3f,"filler":"%s"}`, n, float64(time.Now().UnixMicro())/1000, filler)
				_, err := client.Put(context.Background(), fmt.Sprintf("%skey-%d", prefix, n%keys), value)
				must(err)
			}
		})
	}
	group.Wait()
	return time.Since(began)
}

func main() {
	client := open(os.Args[2])
	switch os.Args[1] {
	case "write":
		lines := bufio.NewScanner(os.Stdin)
		for lines.Scan() {
			var prefix string
			var keys, count, writers int64
			_, err := fmt.Sscan(lines.Text(), &prefix, &keys, &count, &writers)
			must(err)
			fmt.Println(float64(write(client, prefix, keys, count, writers).Microseconds()) / 1000)
		}
	case "watch":
		answers := client.Watch(context.Background(), os.Args[3], clientv3.WithPrefix(), clientv3.WithCreatedNotify(), clientv3.WithPrevKV())
		for answer := range answers {
			must(answer.Err())
			if answer.Created {
				// The client spreads its calls over all that it knows, so at first it knows only one.
				client.SetEndpoints(strings.Split(os.Args[4], ",")...)
				fmt.Println("ready")
			}
			for _, event := range answer.Events {
				fmt.Println(string(event.Kv.Key))
			}
		}
	default:
		must(fmt.Errorf("there is no %s: choose from write, watch", os.Args[1]))
	}
}
